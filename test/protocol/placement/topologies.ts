/** Topologies in short words, and requests over them. */
import {
  bookieId,
  entryId,
  type LedgerId,
  ledgerId,
  type Region,
  region,
} from "../../../lib/protocol/ids.ts";
import type {
  EnsembleRequest,
  PlacementAnswer,
  ReplacementRequest,
} from "../../../lib/protocol/placement/placement.ts";
import type { BookieAddress, Fragment, Replication } from "../../../lib/protocol/replication.ts";

/** A region that no topology here has: the writer is at home in none of them. */
export const nowhere: Region = region("nowhere");

export function bookie(name: string, regionName: string, rack = "rack-1"): BookieAddress {
  return { id: bookieId(name), place: { region: region(regionName), rack } };
}

/** "a:3/2,b:2": three bookies of region a in two racks in turn, two of region b in one. */
export function topology(text: string): BookieAddress[] {
  return text.split(",").flatMap((part) => {
    const [name = "", sizes = ""] = part.split(":");
    const [bookies = 0, racks = 1] = sizes.split("/").map(Number);
    return Array.from({ length: bookies }, (_, index) =>
      bookie(`${name}.${index + 1}`, name, `rack-${(index % racks) + 1}`),
    );
  });
}

/** Regions r1, r2, ... with so many bookies each, every region's in `racks` racks. */
export function regionsOf(capacities: readonly number[], racks = 1): BookieAddress[] {
  return topology(capacities.map((many, index) => `r${index + 1}:${many}/${racks}`).join(","));
}

/** "15/15/9 m2" as replication. */
export function replication(text: string): Replication {
  const [ensembleSize = 0, writeQuorum = 0, ackQuorum = 0, minRegions = 1] = text.split(/[/ m]+/).map(Number);
  return { ensembleSize, writeQuorum, ackQuorum, minRegions };
}

export function request(
  candidates: readonly BookieAddress[],
  sizes: string | Replication,
  more: Partial<EnsembleRequest> = {},
): EnsembleRequest {
  return {
    ledgerId: ledgerId(1),
    replication: typeof sizes === "string" ? replication(sizes) : sizes,
    candidates,
    excluded: new Set(),
    home: nowhere,
    ...more,
  };
}

export function replacement(
  candidates: readonly BookieAddress[],
  sizes: string | Replication,
  ensemble: readonly BookieAddress[],
  positions: readonly number[],
  more: Partial<ReplacementRequest> = {},
): ReplacementRequest {
  return { ...request(candidates, sizes, more), fragment: fragment(ensemble), positions, ...more };
}

export function fragment(ensemble: readonly BookieAddress[]): Fragment {
  return { firstEntry: entryId(0), ensemble };
}

/** The ensemble, or a failed test that says why there is none. */
export function placed(answer: PlacementAnswer): readonly BookieAddress[] {
  if (answer.kind === "ensemble") return answer.ensemble;
  throw new Error(`refused: ${answer.reason}`);
}

export function refused(answer: PlacementAnswer): string {
  if (answer.kind === "refused") return answer.reason;
  throw new Error(`placed: ${answer.ensemble.map(({ id }) => id).join(" ")}`);
}

/** Regions by position. */
export function regionRing(ensemble: readonly BookieAddress[]): string[] {
  return ensemble.map(({ place }) => place.region);
}

export function tally(names: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const name of [...names].sort()) counts[name] = (counts[name] ?? 0) + 1;
  return counts;
}

export function ledgers(many: number, from = 1): LedgerId[] {
  return Array.from({ length: many }, (_, index) => ledgerId(from + index));
}

/** The candidates of these names, in this order. */
export function named(candidates: readonly BookieAddress[], ...names: readonly string[]): BookieAddress[] {
  return names.map((name) => {
    const found = candidates.find(({ id }) => id === name);
    if (found === undefined) throw new Error(`no candidate is called ${name}`);
    return found;
  });
}
