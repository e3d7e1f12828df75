/** How much of what Lambda lets a function be told a topology takes, which bounds how many bookies it has. */
import { regionVariables } from "../../environment.ts";
import { Names } from "../names.ts";
import { regionSettings } from "../region-settings.ts";
import { metadataRegions } from "./metadata-regions.ts";
import type { Topology } from "./topology.ts";

/** Lambda takes no more of a function's variables, names and values together. */
const ENVIRONMENT_BYTES_MAX = 4_096;

export interface EnvironmentSize {
  readonly bookies: number;
  readonly fits: boolean;
  readonly words: string;
}

/** Of the functions that are told most. Undefined: the topology has no region to begin with. */
export function environmentSize(topology: Topology): EnvironmentSize | undefined {
  const [region] = metadataRegions(topology);
  if (region === undefined) return undefined;
  const bytes = bytesOf(topology, region);
  const bookies = topology.regions.reduce((sum, one) => sum + one.bookies.length, 0);
  const none = { ...topology, regions: topology.regions.map((one) => ({ ...one, bookies: [] })) };
  const fixed = bytesOf(none, region);
  const fit = Math.floor((ENVIRONMENT_BYTES_MAX - fixed) / ((bytes - fixed) / bookies));
  return {
    bookies,
    fits: bytes <= ENVIRONMENT_BYTES_MAX,
    words:
      `${bookies} bookies take ${bytes} bytes of each function's environment, and Lambda allows ` +
      `${ENVIRONMENT_BYTES_MAX}; with names as long as these, some ${fit} fit`,
  };
}

function bytesOf(topology: Topology, region: string): number {
  const settings = regionSettings(topology, new Names(topology), region, "write");
  return Object.entries(regionVariables(settings)).reduce(
    (sum, [name, value]) => sum + name.length + value.length,
    0,
  );
}
