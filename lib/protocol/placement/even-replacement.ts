/**
 * Replacement where every entry goes to all bookies (E = Qw): one write set, in which only counts matter.
 *
 * ER1 Bookies that stay are floors, and with what their regions have to give, capacities. Filling up between
 *     them as evenly as possible gives every load(j) its least value (RCT2), so if that is too much, all is.
 * ER2 First with the failed bookies' own regions refilled, which leaves counts as they are; then freely;
 *     then, if others may leave, with one after the other taken from the fullest region.
 */
import { present } from "../assert.ts";
import { waterFill } from "./region-counts.ts";
import {
  addToCounts,
  keepsCeilings,
  type RegionReplacement,
  type ReplacedRegions,
  UNRESOLVED,
  type WindowCounts,
} from "./ring-windows.ts";

/** `ceilings` bound load(j) of the one window there is. */
export function replaceEvenly(
  wanted: RegionReplacement,
  ceilings: readonly number[],
): ReplacedRegions | undefined {
  const staying = countsOf(wanted, (position) => !wanted.failed.includes(position));
  const failed = countsOf(wanted, (position) => wanted.failed.includes(position));
  const own = failed.known.map((many, region) => Math.min(many, wanted.spare[region] ?? 0));
  const refilled = staying.known.map((many, region) => many + (own[region] ?? 0));
  const filling =
    fillUp(wanted, staying, refilled, ceilings) ??
    fillUp(wanted, staying, staying.known, ceilings) ??
    (wanted.othersMayLeave ? fillWithOthers(wanted, staying, ceilings) : undefined);
  return filling === undefined ? undefined : spread(wanted, staying, filling);
}

/** ER1; undefined if it would break a ceiling. */
function fillUp(
  wanted: RegionReplacement,
  staying: WindowCounts,
  floors: readonly number[],
  ceilings: readonly number[],
  unresolvedStaying: number = staying.unresolved,
): WindowCounts | undefined {
  const filling = fillFrom(wanted, staying, floors, unresolvedStaying);
  return filling !== undefined && keepsCeilings(filling, ceilings) ? filling : undefined;
}

function fillFrom(
  wanted: RegionReplacement,
  staying: WindowCounts,
  floors: readonly number[],
  unresolvedStaying: number,
): WindowCounts | undefined {
  const capacities = staying.known.map((many, region) => many + (wanted.spare[region] ?? 0));
  const total = wanted.ring.length - unresolvedStaying;
  const room = capacities.reduce((sum, capacity) => sum + capacity, 0);
  // A bookie of no known region makes every load heavier by one: only where nothing else is left.
  const added = Math.max(0, total - room);
  if (added > wanted.spareUnresolved) return undefined;
  const known = waterFill(total - added, capacities, floors);
  return known === undefined ? undefined : { known, unresolved: unresolvedStaying + added };
}

/**
 * ER2: lowers the floor that holds the fullest region up, until the counts are right or nothing holds them.
 */
function fillWithOthers(
  wanted: RegionReplacement,
  staying: WindowCounts,
  ceilings: readonly number[],
): WindowCounts | undefined {
  const floors = [...staying.known];
  let unresolvedStaying = staying.unresolved;
  while (true) {
    const filling = fillFrom(wanted, staying, floors, unresolvedStaying);
    if (filling !== undefined && keepsCeilings(filling, ceilings)) return filling;
    const held = [...floors.keys()]
      .filter((region) => (floors[region] ?? 0) > 0 && filling?.known[region] === floors[region])
      .sort((one, other) => (floors[other] ?? 0) - (floors[one] ?? 0));
    const fullest = held[0];
    if (fullest !== undefined) floors[fullest] = (floors[fullest] ?? 0) - 1;
    else if (filling !== undefined && unresolvedStaying > 0) unresolvedStaying--;
    else return undefined;
  }
}

/** Which position gets which region: its own where that has a bookie to give, else the one due most. */
function spread(wanted: RegionReplacement, staying: WindowCounts, filling: WindowCounts): ReplacedRegions {
  const surplus = staying.known.map((many, region) => Math.max(0, many - (filling.known[region] ?? 0)));
  let unresolvedSurplus = Math.max(0, staying.unresolved - filling.unresolved);
  const positions = [...wanted.ring.keys()].filter((position) => {
    if (wanted.failed.includes(position)) return true;
    const region = present(wanted.ring[position], "a ring names a region at each position");
    if (region === UNRESOLVED) return unresolvedSurplus-- > 0;
    const leaves = (surplus[region] ?? 0) > 0;
    if (leaves) surplus[region] = (surplus[region] ?? 0) - 1;
    return leaves;
  });
  const due = filling.known.map((many, region) => Math.max(0, many - (staying.known[region] ?? 0)));
  const ring: number[] = [...wanted.ring];
  const homeless = positions.filter((position) => !takeDue(due, wanted.ring[position] ?? UNRESOLVED));
  for (const position of homeless) {
    const region = due.reduce((most, many, one) => (many > (due[most] ?? 0) ? one : most), 0);
    ring[position] = takeDue(due, region) ? region : UNRESOLVED;
  }
  return { ring, positions };
}

function takeDue(due: number[], region: number): boolean {
  const many = due[region] ?? 0;
  if (many > 0) due[region] = many - 1;
  return many > 0;
}

function countsOf(wanted: RegionReplacement, includes: (position: number) => boolean): WindowCounts {
  const counts: WindowCounts = { known: wanted.spare.map(() => 0), unresolved: 0 };
  wanted.ring.forEach((region, position) => {
    if (includes(position)) addToCounts(counts, region, 1);
  });
  return counts;
}
