/**
 * The order in which regions follow each other around an ensemble.
 *
 * The ring is cut into q sectors of almost equal length, sector s from floor(s * E / q). The first `width`
 * slots of every sector are its base; read in order, all bases form a cycle of q * width slots.
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
import { waterFill } from "./region-counts.ts";
import { type Ring, UNPLACED, UNRESOLVED } from "./ring-windows.ts";

export interface RegionShares {
  /** Bookies of each known region, in order of preference. */
  readonly known: readonly number[];
  /** Bookies of no known region. */
  readonly unresolved: number;
}

/**
 * The most sectors for which the shares can fill bases of this width, 0 if there are none. Fewer sectors,
 * down to 1, can then be filled too.
 */
export function sectorsMax(shares: RegionShares, width: number): number {
  const size = ensembleSize(shares);
  for (let sectors = Math.floor(size / width); sectors > 0; sectors--) {
    const base = shares.known.reduce((sum, share) => sum + Math.min(share, sectors), 0);
    if (base >= sectors * width) return sectors;
  }
  return 0;
}

/** Requires 1 <= sectors <= sectorsMax(shares, width). */
export function sectorRing(shares: RegionShares, width: number, sectors: number): Ring {
  const size = ensembleSize(shares);
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
  const rest = shares.known.map((share, region) => share - (base[region] ?? 0));
  fillGaps(ring, rest, shares.unresolved);
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

function ensembleSize(shares: RegionShares): number {
  return shares.known.reduce((sum, share) => sum + share, shares.unresolved);
}
