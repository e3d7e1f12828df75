/**
 * Which regions stand around a new ensemble's ring: how many bookies of each, and in which order.
 *
 * AR1 The counts are as even as the regions' bookies allow (RCT2). Bookies of no known region are used only
 *     where all others do not suffice: each makes every window heavier by one.
 * AR2 No ring is possible if the windows are too heavy on average: a bookie stands in Qw of E windows, and by
 *     RCT2 no other counts have lighter windows. With E = Qw there is one window, so then this decides.
 * AR3 Let k = Qw - Qa + 1 and q = ceil(k * E / Qw). If minRegions * q <= E, and the regions can give
 *     minRegions * q bookies when none gives more than q, the sector ring of width minRegions is legal (SR3).
 *     Such q exists for every admitted Qa as soon as minRegions regions have q bookies each.
 * AR4 What lies between AR2 and AR3 is searched; a search beyond its bound gives up.
 *
 * A sector ring is cut into q sectors of almost equal length, sector s from floor(s * E / q). The first
 * `width` slots of every sector are its base; read in order, all bases form a cycle of q * width slots.
 *
 * SR1 Any `width` consecutive slots of that cycle lie in different known regions.
 * SR2 Slots with the same offset in their sectors are spread evenly, so each window of Qw positions holds at
 *     least floor(Qw * q / E) slots of each offset. They follow each other in the cycle, so they contain that
 *     many disjoint runs of `width` slots, and by SR1 each run has at least one slot outside any width - 1
 *     regions.
 * SR3 So with width = minRegions every window holds floor(Qw * q / E) bookies outside any minRegions - 1
 *     regions, whatever fills the slots that are left.
 */
import { assert, present } from "../assert.ts";
import type { Replication } from "../replication.ts";
import {
  type Counts,
  evenCounts,
  isLegalRing,
  legalCeilings,
  loadOf,
  type Ring,
  searchRing,
  sumOfKnown,
  UNPLACED,
  UNRESOLVED,
  waterFill,
} from "./ring.ts";

/** Steps of one search: tens of ms at most, on a path that ordinary topologies never take. */
const searchStepsMax = 20_000;

export type Arrangement =
  | { readonly kind: "ring"; readonly ring: Ring }
  /** Fewer usable bookies than the ensemble has. */
  | { readonly kind: "too-few" }
  /** No ring is legal: by AR2 too many copies lie in minRegions - 1 regions. */
  | { readonly kind: "too-concentrated" }
  /** None was found (AR4). */
  | { readonly kind: "not-found" };

export function arrangeRegions(usable: Counts, replication: Replication): Arrangement {
  const { ensembleSize, writeQuorum, ackQuorum, minRegions } = replication;
  const shares = evenCounts(ensembleSize, usable);
  if (shares === undefined) return { kind: "too-few" };
  const heaviest = loadOf(shares, minRegions - 1);
  if (minRegions > 1 && writeQuorum * heaviest > ensembleSize * (ackQuorum - 1)) {
    return { kind: "too-concentrated" };
  }
  const ring = ringOfSectors(shares, replication) ?? ringBySearch(usable, shares, replication);
  return ring === undefined ? { kind: "not-found" } : { kind: "ring", ring };
}

/** Bases as wide as there are regions mix them best; the width of AR3 is the one that is sure to be legal. */
function ringOfSectors(shares: Counts, replication: Replication): Ring | undefined {
  const regions = shares.known.length;
  const used = shares.known.filter((share) => share > 0).length;
  if (used === 0) return new Array<number>(replication.ensembleSize).fill(UNRESOLVED);
  const narrowest = Math.min(replication.minRegions, used);
  for (let width = used; width >= narrowest; width--) {
    const most = sectorsMax(shares, width);
    const fewest = width === narrowest ? 1 : most;
    for (let sectors = most; sectors >= Math.max(1, fewest); sectors--) {
      const ring = sectorRing(shares, width, sectors);
      if (isLegalRing(ring, replication, regions)) return ring;
    }
  }
  return undefined;
}

/** Prefers the region that lags most behind its even share. */
function ringBySearch(usable: Counts, shares: Counts, replication: Replication): Ring | undefined {
  const { ensembleSize } = replication;
  const due = (region: number, position: number) =>
    ((shares.known[region] ?? 0) * (position + 1)) / ensembleSize;
  return searchRing({
    ring: new Array<number>(ensembleSize).fill(UNPLACED),
    replication,
    spare: usable,
    ceilings: legalCeilings(replication),
    rank: (found, position, counts) => {
      const lag = (region: number) => due(region, position) - (counts[region] ?? 0);
      return found.sort((one, other) => lag(other) - lag(one));
    },
    effort: { steps: searchStepsMax },
  });
}

/**
 * The most sectors for which the shares can fill bases of this width, 0 if there are none. Fewer sectors,
 * down to 1, can then be filled too.
 */
export function sectorsMax(shares: Counts, width: number): number {
  const size = sumOfKnown(shares) + shares.unresolved;
  for (let sectors = Math.floor(size / width); sectors > 0; sectors--) {
    const base = shares.known.reduce((sum, share) => sum + Math.min(share, sectors), 0);
    if (base >= sectors * width) return sectors;
  }
  return 0;
}

/** Requires 1 <= sectors <= sectorsMax(shares, width). */
export function sectorRing(shares: Counts, width: number, sectors: number): Ring {
  const size = sumOfKnown(shares) + shares.unresolved;
  const ring = new Array<number>(size).fill(UNPLACED);
  const base = waterFill(
    sectors * width,
    shares.known.map((share) => Math.min(share, sectors)),
  );
  assert(base !== undefined, `the shares fill no ${sectors} sectors of width ${width}`);
  // Column by column: all first slots, then all second slots. Regions that fill a whole column come first, so
  // one that starts in one column and goes on in the next never meets itself: its end lies sectors before.
  const regions = [...base.keys()].sort((one, other) => (base[other] ?? 0) - (base[one] ?? 0));
  const sequence = regions.flatMap((region) => new Array<number>(base[region] ?? 0).fill(region));
  sequence.forEach((region, index) => {
    const sector = index % sectors;
    ring[Math.floor((sector * size) / sectors) + Math.floor(index / sectors)] = region;
  });
  fillGaps(
    ring,
    shares.known.map((share, region) => share - (base[region] ?? 0)),
    shares.unresolved,
  );
  return ring;
}

/** Each slot that is left goes to the region whose next neighbour of its own is farthest away. */
function fillGaps(ring: number[], rest: number[], unresolved: number): void {
  const gaps = [...ring.keys()].filter((position) => ring[position] === UNPLACED);
  const known = rest.reduce((sum, many) => sum + many, 0);
  assert(gaps.length === known + unresolved, "the shares add up to the ensemble");
  gaps.forEach((position, index) => {
    // Bookies of unknown regions are taken at even intervals among the others.
    const due = (done: number) => Math.floor((done * unresolved) / gaps.length);
    ring[position] = due(index + 1) > due(index) ? UNRESOLVED : takeFarthest(ring, position, rest);
  });
}

function takeFarthest(ring: Ring, position: number, rest: number[]): number {
  let chosen: number | undefined;
  let farthest = -1;
  rest.forEach((many, region) => {
    if (many === 0) return;
    const distance = distanceToOwn(ring, position, region);
    const isBetter = distance > farthest || (distance === farthest && many > (rest[chosen ?? 0] ?? 0));
    if (!isBetter) return;
    chosen = region;
    farthest = distance;
  });
  const region = present(chosen, "a gap is left only while a share is left");
  rest[region] = (rest[region] ?? 0) - 1;
  return region;
}

function distanceToOwn(ring: Ring, position: number, region: number): number {
  const size = ring.length;
  for (let distance = 1; distance <= size / 2; distance++) {
    if (ring[(position + distance) % size] === region) return distance;
    if (ring[(position - distance + size) % size] === region) return distance;
  }
  return size;
}
