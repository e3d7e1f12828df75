/** How much of a Lambda function's environment a topology takes, which bounds how many bookies it has. */
import { type RegionSettings, regionVariables } from "../../environment.ts";
import { Names } from "../names.ts";
import { readSettings, regionSettings } from "../region-settings.ts";
import { metadataRegions } from "./metadata-regions.ts";
import type { Topology } from "./topology.ts";

/** Lambda takes no more of a function's variables, names and values together. */
const ENVIRONMENT_BYTES_MAX = 4_096;

interface EnvironmentSize {
  readonly bookies: number;
  readonly fits: boolean;
  readonly words: string;
}

/** Of the functions with the largest environment. Undefined: the topology has no region to begin with. */
export function environmentSize(topology: Topology): EnvironmentSize | undefined {
  const [region] = metadataRegions(topology);
  if (region === undefined) return undefined;
  const names = new Names(topology);
  const told = [regionSettings(topology, names, region, "write"), readSettings(topology, names, region)];
  const bytes = Math.max(...told.map(bytesOf));
  const rows = Math.max(...told.map(bookieBytesOf));
  const bookies = topology.regions.reduce((sum, one) => sum + one.bookies.length, 0);
  const fit = Math.floor((ENVIRONMENT_BYTES_MAX - (bytes - rows)) / (rows / bookies));
  return {
    bookies,
    fits: bytes <= ENVIRONMENT_BYTES_MAX,
    words:
      `${bookies} bookies take ${bytes} bytes of each function's environment, and Lambda allows ` +
      `${ENVIRONMENT_BYTES_MAX}; with names as long as these, some ${fit} fit`,
  };
}

function bytesOf(settings: RegionSettings): number {
  const variables = Object.entries(regionVariables(settings));
  return variables.reduce((sum, [name, value]) => sum + name.length + value.length, 0);
}

/** Of those, what grows with each bookie: its row, and a comma. */
function bookieBytesOf({ bookies }: RegionSettings): number {
  const rows = bookies.map((one) => [one.id, one.region, one.rack, one.functionName]);
  return rows.reduce((sum, row) => sum + JSON.stringify(row).length + 1, 0);
}
