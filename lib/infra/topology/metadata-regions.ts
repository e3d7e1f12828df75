/** Regions in which the metadata table can be read, the home or the first replica first. */
import type { Topology } from "./topology.ts";

export function metadataRegions({ metadata }: Pick<Topology, "metadata">): readonly string[] {
  return metadata.mode === "home" ? [metadata.home, ...metadata.replicas] : metadata.replicas;
}
