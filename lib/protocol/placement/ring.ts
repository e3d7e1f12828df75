/**
 * Regions around a ring, the durability invariant on it as the placer computes it (the checker has its own
 * way), and shares that are as even as capacities allow.
 *
 * A ring names the region at each position by index, UNPLACED where nothing stands yet, and UNRESOLVED where
 * the region is unknown. A window is one write set: Qw consecutive positions. Its load(j) is the number of
 * its bookies that lie in its j fullest regions or in no known one.
 *
 * RW1 A window is legal iff minRegions <= 1 or load(minRegions - 1) < Qa: then no ack quorum of it fits into
 *     fewer than minRegions regions.
 * RCT1 Shares add up to the total; each lies between its floor and its capacity.
 * RCT2 No share could gain one from a share that is more than one larger, save for floors and capacities
 *      (max-min fair). Hence, for every j, no other shares have a smaller sum of the j largest: if these
 *      shares concentrate too much in few regions, all do.
 * RCT3 Among equals the earlier one gets the odd one.
 * RSH1 At each step of a search every window, its open positions left out, keeps to its ceilings. Loads only
 *      grow while positions are filled, so a window over its ceiling never comes right again.
 */
import { assert } from "../assert.ts";
import type { Replication } from "../replication.ts";

export const UNRESOLVED = -1;
export const UNPLACED = -2;

export type Ring = readonly number[];

/** Bookies of each known region, by index and in order of preference, and bookies of no known region. */
export interface Counts {
  readonly known: number[];
  unresolved: number;
}

/** Counts of `length` positions from `start` on. */
export function countsOf(ring: Ring, start: number, length: number, regions: number): Counts {
  const counts: Counts = { known: new Array<number>(regions).fill(0), unresolved: 0 };
  for (let offset = 0; offset < length; offset++) {
    addToCounts(counts, ring[(start + offset) % ring.length] ?? UNPLACED, 1);
  }
  return counts;
}

export function addToCounts(counts: Counts, region: number, many: number): void {
  if (region >= 0) counts.known[region] = (counts.known[region] ?? 0) + many;
  else if (region === UNRESOLVED) counts.unresolved += many;
}

/** Bookies of known regions. */
export function sumOfKnown({ known }: Counts): number {
  return known.reduce((sum, many) => sum + many, 0);
}

export function loadOf(counts: Counts, fullest: number): number {
  return counts.unresolved + sumOfLargest(counts.known, fullest);
}

/** Whether load(j) is at most ceilings[j] for every j. Ceilings never fall with j, as loads do not. */
export function keepsCeilings(counts: Counts, ceilings: readonly number[]): boolean {
  const last = ceilings.length - 1;
  if (last < 0) return true;
  const load = loadOf(counts, last);
  if (load > (ceilings[last] ?? 0)) return false;
  return load <= (ceilings[0] ?? 0) || ceilings.every((ceiling, j) => loadOf(counts, j) <= ceiling);
}

/** The largest load(fullest) of any window. */
export function heaviestLoad(ring: Ring, writeQuorum: number, regions: number, fullest: number): number {
  const counts = countsOf(ring, 0, writeQuorum, regions);
  let heaviest = loadOf(counts, fullest);
  // When every entry goes to all bookies, all windows are the same set.
  if (writeQuorum === ring.length) return heaviest;
  for (let start = 1; start < ring.length; start++) {
    addToCounts(counts, ring[start - 1] ?? UNPLACED, -1);
    addToCounts(counts, ring[(start + writeQuorum - 1) % ring.length] ?? UNPLACED, 1);
    heaviest = Math.max(heaviest, loadOf(counts, fullest));
  }
  return heaviest;
}

/** RW1 for every window. */
export function isLegalRing(ring: Ring, replication: Replication, regions: number): boolean {
  const { minRegions, writeQuorum, ackQuorum } = replication;
  return minRegions <= 1 || heaviestLoad(ring, writeQuorum, regions, minRegions - 1) < ackQuorum;
}

/** Even shares of the total; undefined if it lies below the floors or above the capacities. */
export function waterFill(
  total: number,
  capacities: readonly number[],
  floors: readonly number[] = [],
): number[] | undefined {
  const shares = capacities.map((capacity, index) => {
    const floor = floors[index] ?? 0;
    assert(floor <= capacity, `RCT1: floor ${floor} is above capacity ${capacity}`);
    return floor;
  });
  let missing = total - shares.reduce((sum, share) => sum + share, 0);
  if (missing < 0) return undefined;
  for (; missing > 0; missing--) {
    const lowest = lowestWithRoom(shares, capacities);
    if (lowest < 0) return undefined;
    shares[lowest] = (shares[lowest] ?? 0) + 1;
  }
  return shares;
}

/** Even shares of the total over regions; bookies of no known region only where all others do not suffice. */
export function evenCounts(total: number, capacities: Counts, floors?: Counts): Counts | undefined {
  const unresolved = Math.max(floors?.unresolved ?? 0, total - sumOfKnown(capacities));
  if (unresolved > capacities.unresolved) return undefined;
  const known = waterFill(total - unresolved, capacities.known, floors?.known);
  return known === undefined ? undefined : { known, unresolved };
}

function lowestWithRoom(shares: readonly number[], capacities: readonly number[]): number {
  let lowest = -1;
  let level = Number.POSITIVE_INFINITY;
  for (const [index, share] of shares.entries()) {
    if (share >= (capacities[index] ?? 0) || share >= level) continue;
    lowest = index;
    level = share;
  }
  return lowest;
}

/** Sum of the `many` largest of values that are not negative. */
export function sumOfLargest(values: readonly number[], many: number): number {
  if (many <= 0) return 0;
  if (many > 2) {
    const sorted = [...values].sort((one, other) => other - one);
    return sorted.slice(0, many).reduce((sum, value) => sum + value, 0);
  }
  let [first, second] = [0, 0];
  for (const value of values) {
    if (value > first) [first, second] = [value, first];
    else if (value > second) second = value;
  }
  return many === 1 ? first : first + second;
}

/** Every choice of `many` of the items, those with the earliest items first. */
export function* combinations<T>(items: readonly T[], many: number): Generator<readonly T[], void> {
  if (many === 0) yield [];
  if (many < 1 || many > items.length) return;
  for (const [index, item] of items.entries()) {
    for (const rest of combinations(items.slice(index + 1), many - 1)) yield [item, ...rest];
  }
}

// ---------- The search for a ring

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

/**
 * Fills the open positions of a ring region by region, with a way back from dead ends. What it finds is
 * legal; it finds what there is unless the search grows beyond its bound.
 */
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
