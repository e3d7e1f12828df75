/**
 * The invariant by exhaustion: every way to colour the positions of a ring with regions. Nothing here uses
 * the placer or the checker.
 */

/** The most copies that any window of Qw positions has in its `many` fullest regions. */
export function heaviest(ring: readonly number[], writeQuorum: number, many: number): number {
  let most = 0;
  for (let start = 0; start < ring.length; start++)
    most = Math.max(most, load(ring, start, writeQuorum, many));
  return most;
}

const coloursMax = 8;
const counts = new Int32Array(coloursMax);

function load(ring: readonly number[], start: number, writeQuorum: number, many: number): number {
  counts.fill(0);
  for (let offset = 0; offset < writeQuorum; offset++) {
    const region = ring[(start + offset) % ring.length] ?? 0;
    counts[region] = (counts[region] ?? 0) + 1;
  }
  let sum = 0;
  for (let taken = 0; taken < many; taken++) {
    let fullest = 0;
    for (let region = 1; region < coloursMax; region++) {
      if ((counts[region] ?? 0) > (counts[fullest] ?? 0)) fullest = region;
    }
    sum += counts[fullest] ?? 0;
    counts[fullest] = 0;
  }
  return sum;
}

/** Every sequence of `length` colours below `colours`; the array is reused. */
export function* colourings(length: number, colours: number): Generator<readonly number[]> {
  const ring = new Array<number>(length).fill(0);
  while (true) {
    yield ring;
    let position = length - 1;
    while (position >= 0 && ring[position] === colours - 1) ring[position--] = 0;
    if (position < 0) return;
    ring[position] = (ring[position] ?? 0) + 1;
  }
}

/** One sequence for each way to partition the positions into at most `colours` classes; reused. */
export function* partitions(length: number, colours: number): Generator<readonly number[]> {
  const ring = new Array<number>(length).fill(0);
  function* from(position: number, used: number): Generator<readonly number[]> {
    if (position === length) {
      yield ring;
      return;
    }
    for (let colour = 0; colour < Math.min(colours, used + 1); colour++) {
      ring[position] = colour;
      yield* from(position + 1, Math.max(used, colour + 1));
    }
  }
  yield* from(0, 0);
}

/**
 * The smallest Qa for which E bookies on exactly m regions can be arranged so that no Qa copies of a write
 * set lie in fewer than m regions; undefined if there is none up to Qw. One pass serves all Qw: index Qw.
 */
export function smallestAckQuorums(ensembleSize: number, minRegions: number): (number | undefined)[] {
  const least = new Array<number>(ensembleSize + 1).fill(Number.POSITIVE_INFINITY);
  for (const ring of partitions(ensembleSize, minRegions)) {
    for (let writeQuorum = 1; writeQuorum <= ensembleSize; writeQuorum++) {
      const needed = heaviest(ring, writeQuorum, minRegions - 1) + 1;
      least[writeQuorum] = Math.min(least[writeQuorum] ?? needed, needed);
    }
  }
  return least.map((needed, writeQuorum) => (needed <= writeQuorum ? needed : undefined));
}

/**
 * For rings of E positions over so many regions: how light the heaviest window can be made when each region
 * has a given number of positions. `lightest(capacities, Qw, many)` then knows whether bookies suffice.
 */
export class LightestRings {
  readonly #byCounts = new Map<string, { counts: readonly number[]; loads: number[][] }>();

  constructor(
    private readonly ensembleSize: number,
    regions: number,
    minRegionsMax: number,
  ) {
    for (const ring of colourings(ensembleSize, regions)) {
      const counts = new Array<number>(regions).fill(0);
      for (const region of ring) counts[region] = (counts[region] ?? 0) + 1;
      const key = counts.join(",");
      const entry = this.#byCounts.get(key) ?? { counts, loads: [] };
      this.#byCounts.set(key, entry);
      for (let writeQuorum = 1; writeQuorum <= ensembleSize; writeQuorum++) {
        const loads = entry.loads[writeQuorum] ?? [];
        entry.loads[writeQuorum] = loads;
        for (let many = 1; many < minRegionsMax; many++) {
          loads[many] = Math.min(loads[many] ?? ensembleSize, heaviest(ring, writeQuorum, many));
        }
      }
    }
  }

  /** Infinity if there are too few bookies for any ring. */
  lightest(capacities: readonly number[], writeQuorum: number, many: number): number {
    const total = capacities.reduce((sum, capacity) => sum + capacity, 0);
    if (total < this.ensembleSize) return Number.POSITIVE_INFINITY;
    if (many <= 0) return 0;
    let lightest = Number.POSITIVE_INFINITY;
    for (const { counts, loads } of this.#byCounts.values()) {
      if (counts.some((count, region) => count > (capacities[region] ?? 0))) continue;
      lightest = Math.min(lightest, loads[writeQuorum]?.[many] ?? Number.POSITIVE_INFINITY);
    }
    return lightest;
  }
}

/** Every non-increasing list of `length` capacities from 0 to `most`. */
export function* capacityLists(length: number, most: number): Generator<number[]> {
  if (length === 0) {
    yield [];
    return;
  }
  for (let first = 0; first <= most; first++) {
    for (const rest of capacityLists(length - 1, first)) yield [first, ...rest];
  }
}
