/**
 * Which sets of minRegions regions could carry a log alone, were all others lost.
 *
 * With exactly minRegions regions, each must give ceil((Qw - Qa + 1) * E / Qw) bookies, and all together E;
 * for a legal ack quorum that is enough (reference: the sector ring, SR3). With minRegions = 1 the region
 * needs E.
 */
import type { Region } from "../ids.ts";
import type { Replication } from "../replication.ts";
import type { RegionCount } from "./placement.ts";

export interface SurvivorSets {
  /** Sets of minRegions regions that there are. */
  readonly total: number;
  /** How many of them could not host the log. */
  readonly unfit: number;
  /** Some of those, the weakest first: all of them if they are few. */
  readonly examples: readonly (readonly Region[])[];
  /** What each region of a set must have, and all of them together. */
  readonly bookiesPerRegion: number;
  readonly bookiesTogether: number;
}

const examplesMax = 8;
/** Sets looked at for examples: there may be millions, and the weakest come first. */
const setsLookedAtMax = 5_000;

export function survivorSets(topology: readonly RegionCount[], replication: Replication): SurvivorSets {
  const { ensembleSize, minRegions } = replication;
  const bookiesPerRegion = copiesPerRegion(replication);
  const isFit = (set: readonly RegionCount[]) =>
    set.every(({ bookies }) => bookies >= bookiesPerRegion) &&
    set.reduce((sum, { bookies }) => sum + bookies, 0) >= ensembleSize;
  const eligible = topology.map(({ bookies }) => bookies).filter((bookies) => bookies >= bookiesPerRegion);
  const total = setsOf(
    topology.map(() => 0),
    minRegions,
    0,
  );
  const unfit = total - setsOf(eligible, minRegions, ensembleSize);
  // Weakest regions first, so that what is unfit comes early.
  const sorted = [...topology].sort((one, other) => one.bookies - other.bookies || byName(one, other));
  const examples: Region[][] = [];
  let lookedAt = 0;
  for (const set of setsInOrder(sorted, minRegions)) {
    if (examples.length >= Math.min(unfit, examplesMax) || lookedAt++ >= setsLookedAtMax) break;
    if (!isFit(set)) examples.push(set.map(({ region }) => region).sort());
  }
  return { total, unfit, examples, bookiesPerRegion, bookiesTogether: ensembleSize };
}

/** One sentence, or none if every set is fit. */
export function warnOfSurvivors(sets: SurvivorSets): readonly string[] {
  if (sets.unfit === 0) return [];
  const names = sets.examples.map((set) => set.join(" and ")).join("; ");
  const more = sets.unfit > sets.examples.length ? "; and others" : "";
  const { unfit, total, bookiesPerRegion, bookiesTogether } = sets;
  return [
    `${unfit} of ${total} smallest sets of surviving regions cannot host the log (${names}${more}): each ` +
      `region needs ${bookiesPerRegion} usable bookies, all together ${bookiesTogether}`,
  ];
}

function copiesPerRegion(replication: Replication): number {
  const { ensembleSize, writeQuorum, ackQuorum, minRegions } = replication;
  if (minRegions <= 1) return 0;
  return Math.ceil(((writeQuorum - ackQuorum + 1) * ensembleSize) / writeQuorum);
}

/** How many sets of `size` of the capacities add up to `least`; counted without listing them. */
function setsOf(capacities: readonly number[], size: number, least: number): number {
  // sets[n][s]: sets of n capacities whose sum is s, sums beyond `least` taken for `least`.
  const sets = Array.from({ length: size + 1 }, () => new Array<number>(least + 1).fill(0));
  const empty = sets[0];
  if (empty !== undefined) empty[0] = 1;
  for (const capacity of capacities) {
    for (let many = size; many >= 1; many--) {
      const without = sets[many - 1] ?? [];
      const row = sets[many] ?? [];
      without.forEach((count, sum) => {
        const reached = Math.min(least, sum + capacity);
        row[reached] = (row[reached] ?? 0) + count;
      });
    }
  }
  return sets[size]?.[least] ?? 0;
}

function* setsInOrder(
  regions: readonly RegionCount[],
  size: number,
): Generator<readonly RegionCount[], void> {
  if (size === 0) {
    yield [];
    return;
  }
  for (const [index, region] of regions.entries()) {
    for (const rest of setsInOrder(regions.slice(index + 1), size - 1)) yield [region, ...rest];
  }
}

function byName(one: RegionCount, other: RegionCount): number {
  return one.region < other.region ? -1 : 1;
}
