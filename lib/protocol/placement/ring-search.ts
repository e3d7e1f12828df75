/**
 * Fills the open positions of a ring region by region, with a way back from dead ends. What it finds is
 * legal; it finds what there is unless the search grows beyond its bound.
 *
 * RSH1 At each step every window, its open positions left out, keeps to its ceilings. Loads only grow while
 *      positions are filled, so a window over its ceiling never comes right again.
 */
import type { Replication } from "../replication.ts";
import {
  addToCounts,
  type Counts,
  countsOf,
  keepsCeilings,
  type Ring,
  UNPLACED,
  UNRESOLVED,
} from "./ring.ts";

/** For each window, the greatest load(j) it may have, for j = 0 .. minRegions - 1. */
export type Ceilings = readonly (readonly number[])[];

export interface Effort {
  /** Steps that may still be taken; a search that has none left finds nothing more. */
  steps: number;
}

interface RingSearch {
  /** UNPLACED where a region is wanted. */
  readonly ring: Ring;
  readonly replication: Replication;
  /** Bookies that there are to give. */
  readonly spare: Counts;
  readonly ceilings: Ceilings;
  /** Orders the regions that come into question at a position, best first; `counts` are the ring's. */
  readonly rank: (regions: number[], position: number, counts: readonly number[]) => number[];
  readonly effort: Effort;
}

/** The ceilings of a ring that must be legal throughout (RW1). */
export function legalCeilings(replication: Replication): Ceilings {
  const { ensembleSize, minRegions, ackQuorum } = replication;
  const ceiling = minRegions <= 1 ? [] : new Array<number>(minRegions).fill(ackQuorum - 1);
  return new Array<readonly number[]>(ensembleSize).fill(ceiling);
}

export function searchRing({ replication, ceilings, rank, effort, ...from }: RingSearch): Ring | undefined {
  const { writeQuorum } = replication;
  const ring = [...from.ring];
  const spare: Counts = { known: [...from.spare.known], unresolved: from.spare.unresolved };
  const placed = countsOf(ring, 0, ring.length, spare.known.length);
  const open = [...ring.keys()].filter((position) => ring[position] === UNPLACED);
  const windows = ring.map((_, start) => ({
    counts: countsOf(ring, start, writeQuorum, spare.known.length),
    ceilings: ceilings[start] ?? [],
  }));
  // Those that start at the position or up to Qw - 1 before.
  const starts = [...new Array(writeQuorum).keys()];
  const windowsAt = ring.map((_, position) => starts.flatMap((back) => windows.at(position - back) ?? []));
  /** RSH1 */
  const areWithin = (some: typeof windows = []) =>
    some.every((window) => keepsCeilings(window.counts, window.ceilings));

  const put = (position: number, region: number, many: 1 | -1) => {
    ring[position] = many === 1 ? region : UNPLACED;
    addToCounts(spare, region, -many);
    addToCounts(placed, region, many);
    for (const { counts } of windowsAt[position] ?? []) addToCounts(counts, region, many);
  };
  /** Regions that have a bookie left. Of those that stand nowhere and have as many to give, one will do. */
  const optionsAt = (position: number): number[] => {
    const regions = [...spare.known.keys()].filter((region) => (spare.known[region] ?? 0) > 0);
    const untouched = new Set<number | undefined>();
    const ranked = rank(regions, position, placed.known).filter((region) => {
      const many = spare.known[region];
      return placed.known[region] !== 0 || (!untouched.has(many) && untouched.add(many));
    });
    return spare.unresolved > 0 ? [...ranked, UNRESOLVED] : ranked;
  };
  const fillFrom = (index: number): boolean => {
    const position = open[index];
    if (position === undefined) return true;
    for (const region of optionsAt(position)) {
      if (effort.steps <= 0) return false;
      effort.steps--;
      put(position, region, 1);
      if (areWithin(windowsAt[position]) && fillFrom(index + 1)) return true;
      put(position, region, -1);
    }
    return false;
  };
  return areWithin(windows) && fillFrom(0) ? ring : undefined;
}
