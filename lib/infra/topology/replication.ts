/** Quorum sizes of a topology's presets. */
import { presets } from "../../api/log-config.ts";
import type { Topology, TopologyPreset } from "./topology.ts";

type ReplicationSizes = Exclude<TopologyPreset, string>;

/** Two bookies of one region: it outlives a bookie and no region. For a first region alone. */
const singleRegion: ReplicationSizes = { ensembleSize: 2, writeQuorum: 2, ackQuorum: 2, minRegions: 1 };

export function replicationOf(preset: TopologyPreset): ReplicationSizes {
  if (typeof preset !== "string") return preset;
  return preset === "single-region" ? singleRegion : presets[preset];
}

/** What logs get whose creator chooses nothing. */
export function defaultReplication({ presets: [first] }: Topology): ReplicationSizes {
  if (first === undefined) throw new RangeError("a topology has a preset");
  return replicationOf(first);
}
