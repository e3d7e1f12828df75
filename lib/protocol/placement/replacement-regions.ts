/**
 * In which regions the failed bookies of an ensemble are replaced: all positions together, at their true
 * indices.
 *
 * RR1 No window's load(j) grows beyond the larger of what it was and what is legal, for any j below
 *     minRegions: a legal ring stays legal, another one gets no further away from it.
 * RR2 A position keeps its region where that is possible; otherwise it goes to the region that has fewest.
 * RR3 With E = Qw there is one window, in which only counts matter (ER1, ER2). With E > Qw positions are
 *     searched, which gives up beyond its bound.
 * RR4 Other positions are opened only if they may be and nothing else obeys RR1, one more at a time.
 * RR5 Nothing is searched where counts alone rule it out: each open position takes a bookie that is spare,
 *     and as each bookie stands in Qw windows, all windows together bear Qw times what the whole ring has in
 *     its fullest regions, which is least where counts are as even as can be (RCT2).
 * ER1 Bookies that stay are floors, and with what their regions have to give, capacities. Filling up between
 *     them as evenly as possible gives every load(j) its least value (RCT2), so if that is too much, all is.
 * ER2 First with the failed bookies' own regions refilled, which leaves counts as they are; then freely;
 *     then, if others may leave, with one after the other taken from the fullest region.
 */
import type { Replication } from "../replication.ts";
import {
  addToCounts,
  type Ceilings,
  type Counts,
  combinations,
  countsOf,
  type Effort,
  evenCounts,
  keepsCeilings,
  legalCeilings,
  loadOf,
  type Ring,
  searchRing,
  sumOfKnown,
  UNPLACED,
  UNRESOLVED,
} from "./ring.ts";

/** Steps of the search among failed positions, and of the one that opens others too: 0.2 s of a core. */
const stepsMax = 20_000;
const stepsWithOthersMax = 50_000;

interface RegionReplacement {
  /** The region at each position, the failed ones' included. */
  readonly ring: Ring;
  readonly failed: readonly number[];
  readonly replication: Replication;
  /** Bookies that there are to give. */
  readonly spare: Counts;
  readonly othersMayLeave: boolean;
}

export interface ReplacedRegions {
  readonly ring: Ring;
  /** Positions that get another bookie: those that failed, and others if they may leave. */
  readonly positions: readonly number[];
}

export function replaceRegions(wanted: RegionReplacement): ReplacedRegions | undefined {
  const { ring, failed, replication, spare, othersMayLeave } = wanted;
  const regions = spare.known.length;
  const ceilings = legalCeilings(replication).map((legal, window) => {
    const before = countsOf(ring, window, replication.writeQuorum, regions);
    return legal.map((ceiling, j) => Math.max(ceiling, loadOf(before, j)));
  });
  const kept = ring.map((region, position) => (failed.includes(position) ? UNPLACED : region));
  const staying = countsOf(kept, 0, kept.length, regions);
  if (replication.writeQuorum === replication.ensembleSize) {
    return replaceEvenly(wanted, staying, ceilings[0] ?? []);
  }
  const found = isRuledOut(wanted, staying, staying, ceilings)
    ? undefined
    : refill(wanted, failed, ceilings, { steps: stepsMax });
  const none = countsOf([], 0, 0, regions);
  if (found !== undefined || !othersMayLeave || isRuledOut(wanted, staying, none, ceilings)) return found;
  return refillWithOthers(wanted, ceilings);
}

/** ER1, with `floors` for what has to stay. */
function fillUp({ ring, spare }: RegionReplacement, staying: Counts, floors: Counts): Counts | undefined {
  const known = staying.known.map((many, region) => many + (spare.known[region] ?? 0));
  return evenCounts(ring.length, { known, unresolved: staying.unresolved + spare.unresolved }, floors);
}

// ---------- E = Qw

/** `ceilings` bound load(j) of the one window there is. */
function replaceEvenly(
  wanted: RegionReplacement,
  staying: Counts,
  ceilings: readonly number[],
): ReplacedRegions | undefined {
  const { ring, spare, othersMayLeave } = wanted;
  const all = countsOf(ring, 0, ring.length, spare.known.length);
  const refilled = all.known.map((many, region) => {
    const stays = staying.known[region] ?? 0;
    return stays + Math.min(many - stays, spare.known[region] ?? 0);
  });
  const isFit = (one: Counts | undefined) => one !== undefined && keepsCeilings(one, ceilings);
  let filling = fillUp(wanted, staying, { ...staying, known: refilled });
  const floors = { ...staying, known: [...staying.known] };
  if (!isFit(filling)) filling = fillUp(wanted, staying, floors);
  while (!isFit(filling)) {
    if (!othersMayLeave || !lowerFloor(floors, filling)) return undefined;
    filling = fillUp(wanted, staying, floors);
  }
  return filling === undefined ? undefined : spread(wanted, staying, filling);
}

/** ER2: lowers the floor that holds the fullest region up. False: nothing is held up. */
function lowerFloor(floors: Counts, filling: Counts | undefined): boolean {
  if (filling === undefined) return false;
  const [fullest] = [...floors.known.keys()]
    .filter((region) => (floors.known[region] ?? 0) > 0 && filling.known[region] === floors.known[region])
    .sort((one, other) => (floors.known[other] ?? 0) - (floors.known[one] ?? 0));
  if (fullest === undefined && floors.unresolved === 0) return false;
  addToCounts(floors, fullest ?? UNRESOLVED, -1);
  return true;
}

/** Which position gets which region: its own where that has a bookie to give, else the one due most. */
function spread(wanted: RegionReplacement, staying: Counts, filling: Counts): ReplacedRegions {
  // Above 0: so many have to leave; below: so many are due.
  const surplus: Counts = {
    known: staying.known.map((many, region) => many - (filling.known[region] ?? 0)),
    unresolved: staying.unresolved - filling.unresolved,
  };
  const ofRegion = (region: number) =>
    region === UNRESOLVED ? surplus.unresolved : (surplus.known[region] ?? 0);
  const ring = [...wanted.ring];
  const positions = [...ring.keys()].filter((position) => {
    if (wanted.failed.includes(position)) return true;
    const region = ring[position] ?? UNRESOLVED;
    const leaves = ofRegion(region) > 0;
    if (leaves) addToCounts(surplus, region, -1);
    return leaves;
  });
  const takeDue = (region: number): boolean => {
    const isDue = region !== UNRESOLVED && ofRegion(region) < 0;
    if (isDue) addToCounts(surplus, region, 1);
    return isDue;
  };
  const homeless = positions.filter((position) => !takeDue(ring[position] ?? UNRESOLVED));
  for (const position of homeless) {
    const most = surplus.known.indexOf(Math.min(...surplus.known));
    ring[position] = takeDue(most) ? most : UNRESOLVED;
  }
  return { ring, positions };
}

// ---------- E > Qw

/** RR5, where `floors` have to stay. */
function isRuledOut(wanted: RegionReplacement, staying: Counts, floors: Counts, ceilings: Ceilings): boolean {
  const { failed, replication, spare } = wanted;
  if (sumOfKnown(spare) + spare.unresolved < failed.length) return true;
  const even = fillUp(wanted, staying, floors);
  if (even === undefined) return true;
  const borne = ceilings.reduce((sum, loads) => sum + (loads.at(-1) ?? Number.POSITIVE_INFINITY), 0);
  return replication.writeQuorum * loadOf(even, replication.minRegions - 1) > borne;
}

/** RR4 */
function refillWithOthers(wanted: RegionReplacement, ceilings: Ceilings): ReplacedRegions | undefined {
  const { ring, failed, spare } = wanted;
  const others = [...ring.keys()].filter((position) => !failed.includes(position));
  const effort = { steps: stepsWithOthersMax };
  const most = Math.min(others.length, sumOfKnown(spare) + spare.unresolved - failed.length);
  for (let many = 1; many <= most; many++) {
    for (const leaving of combinations(others, many)) {
      const found = refill(wanted, [...failed, ...leaving], ceilings, effort);
      if (found !== undefined) return found;
      effort.steps -= ring.length;
      if (effort.steps <= 0) return undefined;
    }
  }
  return undefined;
}

function refill(
  { ring: old, replication, spare }: RegionReplacement,
  positions: readonly number[],
  ceilings: Ceilings,
  effort: Effort,
): ReplacedRegions | undefined {
  const ring = searchRing({
    ring: old.map((region, position) => (positions.includes(position) ? UNPLACED : region)),
    replication,
    spare,
    ceilings,
    rank: (regions, position, counts) => {
      // RR2
      const cost = (region: number) => (region === old[position] ? -1 : (counts[region] ?? 0));
      return regions.sort((one, other) => cost(one) - cost(other));
    },
    effort,
  });
  return ring === undefined ? undefined : { ring, positions };
}
