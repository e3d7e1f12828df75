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
  keepsCeilings,
  loadOf,
  type Ring,
  UNPLACED,
  UNRESOLVED,
  type WindowCounts,
  windowCounts,
} from "./ring-windows.ts";

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
  /** Bookies that each known region has to give. */
  readonly spare: readonly number[];
  /** Bookies of no known region. */
  readonly spareUnresolved: number;
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

/** The loads of every window, in the form of ceilings. */
export function ringLoads(ring: Ring, replication: Replication, regions: number): Ceilings {
  const { minRegions, writeQuorum } = replication;
  return Array.from(ring, (_, start) => {
    const counts = windowCounts(ring, start, writeQuorum, regions);
    return minRegions <= 1 ? [] : Array.from({ length: minRegions }, (_, j) => loadOf(counts, j));
  });
}

export function searchRing(search: RingSearch): Ring | undefined {
  return new RingFiller(search).fill();
}

class RingFiller {
  readonly #ring: number[];
  readonly #open: readonly number[];
  readonly #spare: number[];
  #spareUnresolved: number;
  readonly #windows: readonly WindowCounts[];
  /** The windows that contain each position: those that start at it or up to Qw - 1 before. */
  readonly #windowsOf: readonly (readonly number[])[];
  readonly #counts: number[];

  constructor(private readonly search: RingSearch) {
    const { ring, spare, spareUnresolved, replication } = search;
    this.#ring = [...ring];
    this.#open = [...ring.keys()].filter((position) => ring[position] === UNPLACED);
    this.#spare = [...spare];
    this.#spareUnresolved = spareUnresolved;
    this.#windows = Array.from(ring, (_, start) =>
      windowCounts(ring, start, replication.writeQuorum, spare.length),
    );
    this.#windowsOf = Array.from(ring, (_, position) =>
      Array.from(
        { length: replication.writeQuorum },
        (_, back) => (position - back + ring.length) % ring.length,
      ),
    );
    this.#counts = windowCounts(ring, 0, ring.length, spare.length).known;
  }

  fill(): Ring | undefined {
    const isWithin = this.#windows.every((_, window) => this.#keepsCeilings(window));
    return isWithin && this.#fillFrom(0) ? this.#ring : undefined;
  }

  #fillFrom(index: number): boolean {
    const position = this.#open[index];
    if (position === undefined) return true;
    const windows = this.#windowsOf[position] ?? [];
    for (const region of this.#options(position)) {
      if (this.search.effort.steps <= 0) return false;
      this.search.effort.steps--;
      this.#put(position, region);
      if (windows.every((window) => this.#keepsCeilings(window))) {
        if (this.#fillFrom(index + 1)) return true;
      }
      this.#take(position, region);
    }
    return false;
  }

  /** Regions that have a bookie left. Of those that stand nowhere and have as many to give, one will do. */
  #options(position: number): number[] {
    const regions = [...this.#spare.keys()].filter((region) => (this.#spare[region] ?? 0) > 0);
    const untouched = new Set<number>();
    const ranked = this.search.rank(regions, position, this.#counts).filter((region) => {
      if (this.#counts[region] !== 0) return true;
      const spare = this.#spare[region] ?? 0;
      return !untouched.has(spare) && untouched.add(spare);
    });
    return this.#spareUnresolved > 0 ? [...ranked, UNRESOLVED] : ranked;
  }

  #put(position: number, region: number): void {
    this.#ring[position] = region;
    this.#move(position, region, 1);
  }

  #take(position: number, region: number): void {
    this.#ring[position] = UNPLACED;
    this.#move(position, region, -1);
  }

  #move(position: number, region: number, many: 1 | -1): void {
    if (region === UNRESOLVED) {
      this.#spareUnresolved -= many;
    } else {
      this.#spare[region] = (this.#spare[region] ?? 0) - many;
      this.#counts[region] = (this.#counts[region] ?? 0) + many;
    }
    for (const window of this.#windowsOf[position] ?? []) {
      const counts = this.#windows[window];
      if (counts !== undefined) addToCounts(counts, region, many);
    }
  }

  /** RSH1 */
  #keepsCeilings(window: number): boolean {
    const counts = this.#windows[window];
    return counts !== undefined && keepsCeilings(counts, this.search.ceilings[window] ?? []);
  }
}
