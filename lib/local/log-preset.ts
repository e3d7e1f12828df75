/** The configuration of logs whose creator chooses none: the first preset that these bookies can hold. */
import { presets } from "../api/log-config.ts";
import { ledgerId, type Region } from "../protocol/ids.ts";
import type { LogConfig } from "../protocol/items.ts";
import { limits } from "../protocol/limits.ts";
import type { Placement } from "../protocol/placement/placement.ts";
import type { BookieAddress, Replication } from "../protocol/replication.ts";

/** Two bookies of one region: it outlives a bookie's disk and no region. */
const singleRegion: Replication = { ensembleSize: 2, writeQuorum: 2, ackQuorum: 2, minRegions: 1 };

export interface DefaultConfig {
  readonly name: string;
  readonly config: LogConfig;
}

export function defaultConfig(
  placement: Placement,
  bookies: readonly BookieAddress[],
  home: Region,
): DefaultConfig {
  const candidates = [
    ["standard", presets.standard],
    ["economy", presets.economy],
    ["single region", singleRegion],
  ] as const;
  for (const [name, replication] of candidates) {
    const request = {
      ledgerId: ledgerId(0),
      replication,
      candidates: bookies,
      excluded: new Set<never>(),
      home,
    };
    if (placement.chooseEnsemble(request).kind !== "ensemble") continue;
    return { name, config: { replication, digest: "crc32", segmentBytesMax: limits.segmentBytesMaxDefault } };
  }
  throw new RangeError(`no preset fits ${bookies.length} bookies`);
}
