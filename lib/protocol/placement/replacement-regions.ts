/**
 * In which regions the failed bookies of an ensemble are replaced: all positions together, at their true
 * indices.
 *
 * RR1 No window's load(j) grows beyond the larger of what it was and what is legal, for any j below
 *     minRegions: a legal ring stays legal, another one gets no further away from it.
 * RR2 A position keeps its region where that is possible; otherwise it goes to the region that has fewest.
 * RR3 With E = Qw see even-replacement. With E > Qw positions are searched, which gives up beyond its bound.
 * RR4 Other positions are opened only if they may be and nothing else obeys RR1, one more at a time.
 * RR5 Nothing is searched where counts alone rule it out: each open position takes a bookie that is spare,
 *     and as each bookie stands in Qw windows, all windows together bear Qw times what the whole ring has in
 *     its fullest regions, which is least where counts are as even as can be (RCT2).
 */
import { replaceEvenly } from "./even-replacement.ts";
import { sumOfLargest, waterFill } from "./region-counts.ts";
import { type Ceilings, type Effort, legalCeilings, ringLoads, searchRing } from "./ring-search.ts";
import { type RegionReplacement, type ReplacedRegions, UNPLACED, windowCounts } from "./ring-windows.ts";

/** Steps of the search among failed positions, and of the one that opens others too: 0.2 s of a core. */
const stepsMax = 20_000;
const stepsWithOthersMax = 50_000;

export function replaceRegions(wanted: RegionReplacement): ReplacedRegions | undefined {
  const { ring, replication, spare } = wanted;
  const before = ringLoads(ring, replication, spare.length);
  const ceilings = legalCeilings(replication).map((legal, window) =>
    legal.map((ceiling, j) => Math.max(ceiling, before[window]?.[j] ?? 0)),
  );
  if (replication.writeQuorum === replication.ensembleSize) return replaceEvenly(wanted, ceilings[0] ?? []);
  const found = isRuledOut(wanted, ceilings, false)
    ? undefined
    : refill(wanted, wanted.failed, ceilings, { steps: stepsMax });
  if (found !== undefined || !wanted.othersMayLeave || isRuledOut(wanted, ceilings, true)) return found;
  return refillWithOthers(wanted, ceilings);
}

/** RR5, with all other positions open too or with none. */
function isRuledOut(wanted: RegionReplacement, ceilings: Ceilings, withOthers: boolean): boolean {
  const { ring, failed, replication, spare, spareUnresolved } = wanted;
  if (spareBookies(wanted) < failed.length) return true;
  const kept = ring.map((region, position) => (failed.includes(position) ? UNPLACED : region));
  const staying = windowCounts(kept, 0, kept.length, spare.length);
  const capacities = staying.known.map((many, region) => many + (spare[region] ?? 0));
  const room = capacities.reduce((sum, capacity) => sum + capacity, 0);
  const unresolved = Math.max(withOthers ? 0 : staying.unresolved, ring.length - room);
  if (unresolved > staying.unresolved + spareUnresolved) return true;
  const even = waterFill(ring.length - unresolved, capacities, withOthers ? [] : staying.known);
  if (even === undefined) return true;
  const heaviest = unresolved + sumOfLargest(even, replication.minRegions - 1);
  const borne = ceilings.reduce((sum, loads) => sum + (loads.at(-1) ?? Number.POSITIVE_INFINITY), 0);
  return replication.writeQuorum * heaviest > borne;
}

function spareBookies({ spare, spareUnresolved }: RegionReplacement): number {
  return spare.reduce((sum, many) => sum + many, spareUnresolved);
}

/** RR4 */
function refillWithOthers(wanted: RegionReplacement, ceilings: Ceilings): ReplacedRegions | undefined {
  const others = [...wanted.ring.keys()].filter((position) => !wanted.failed.includes(position));
  const effort = { steps: stepsWithOthersMax };
  const most = Math.min(others.length, spareBookies(wanted) - wanted.failed.length);
  for (let many = 1; many <= most; many++) {
    for (const leaving of combinations(others, many)) {
      const found = refill(wanted, [...wanted.failed, ...leaving], ceilings, effort);
      if (found !== undefined) return found;
      effort.steps -= wanted.ring.length;
      if (effort.steps <= 0) return undefined;
    }
  }
  return undefined;
}

function refill(
  wanted: RegionReplacement,
  positions: readonly number[],
  ceilings: Ceilings,
  effort: Effort,
): ReplacedRegions | undefined {
  const ring = searchRing({
    ring: wanted.ring.map((region, position) => (positions.includes(position) ? UNPLACED : region)),
    replication: wanted.replication,
    spare: wanted.spare,
    spareUnresolved: wanted.spareUnresolved,
    ceilings,
    rank: (regions, position, counts) => {
      // RR2
      const cost = (region: number) => (region === wanted.ring[position] ? -1 : (counts[region] ?? 0));
      return regions.sort((one, other) => cost(one) - cost(other));
    },
    effort,
  });
  return ring === undefined ? undefined : { ring, positions };
}

function* combinations(items: readonly number[], many: number): Generator<readonly number[]> {
  if (many === 0) {
    yield [];
    return;
  }
  for (let first = 0; first + many <= items.length; first++) {
    const item = items[first];
    if (item === undefined) return;
    for (const rest of combinations(items.slice(first + 1), many - 1)) yield [item, ...rest];
  }
}
