/**
 * The durability invariant on a ring of regions, as the placer computes it. The checker has its own way.
 *
 * A ring names the region at each position by index, UNPLACED where nothing stands yet, and UNRESOLVED where
 * the region is unknown. A window is one write set: Qw consecutive positions. Its load(j) is the number of
 * its bookies that lie in its j fullest regions or in no known one.
 *
 * RW1 A window is legal iff minRegions <= 1 or load(minRegions - 1) < Qa: then no ack quorum of it fits into
 *     fewer than minRegions regions.
 */
import type { Replication } from "../replication.ts";
import { sumOfLargest } from "./region-counts.ts";

export const UNRESOLVED = -1;
export const UNPLACED = -2;

export type Ring = readonly number[];

/** Counts of one window by region, and of its bookies in no known region. */
export interface WindowCounts {
  readonly known: number[];
  unresolved: number;
}

export function windowCounts(ring: Ring, start: number, writeQuorum: number, regions: number): WindowCounts {
  const counts: WindowCounts = { known: new Array<number>(regions).fill(0), unresolved: 0 };
  for (let offset = 0; offset < writeQuorum; offset++) {
    addToCounts(counts, ring[(start + offset) % ring.length] ?? UNPLACED, 1);
  }
  return counts;
}

export function addToCounts(counts: WindowCounts, region: number, many: number): void {
  if (region >= 0) counts.known[region] = (counts.known[region] ?? 0) + many;
  else if (region === UNRESOLVED) counts.unresolved += many;
}

export function loadOf(counts: WindowCounts, fullest: number): number {
  return counts.unresolved + sumOfLargest(counts.known, fullest);
}

/** Whether load(j) is at most ceilings[j] for every j. Ceilings never fall with j, as loads do not. */
export function keepsCeilings(counts: WindowCounts, ceilings: readonly number[]): boolean {
  const last = ceilings.length - 1;
  if (last < 0) return true;
  const load = loadOf(counts, last);
  if (load > (ceilings[last] ?? 0)) return false;
  return load <= (ceilings[0] ?? 0) || ceilings.every((ceiling, j) => loadOf(counts, j) <= ceiling);
}

/** RW1 for every window. */
export function isLegalRing(ring: Ring, replication: Replication, regions: number): boolean {
  return replication.minRegions <= 1 || heaviestLoad(ring, replication, regions) < replication.ackQuorum;
}

/** The largest load(fullest) of any window; `fullest` is minRegions - 1 unless given. */
export function heaviestLoad(
  ring: Ring,
  replication: Replication,
  regions: number,
  fullest: number = replication.minRegions - 1,
): number {
  const { writeQuorum } = replication;
  const counts = windowCounts(ring, 0, writeQuorum, regions);
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

export interface RegionReplacement {
  /** The region at each position, the failed ones' included. */
  readonly ring: Ring;
  readonly failed: readonly number[];
  readonly replication: Replication;
  /** Bookies that each known region has to give, in order of preference among equals. */
  readonly spare: readonly number[];
  readonly spareUnresolved: number;
  readonly othersMayLeave: boolean;
}

export interface ReplacedRegions {
  readonly ring: Ring;
  /** Positions that get another bookie: those that failed, and others if they may leave. */
  readonly positions: readonly number[];
}
