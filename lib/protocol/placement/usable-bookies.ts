/**
 * The bookies that a request may use, by region and rack, each level in the ledger's turn.
 *
 * UB1 Excluded, retired, read-only and lost bookies are never used, nor are those of draining and lost
 *     regions.
 * UB2 A bookie that is named twice counts once.
 * UB3 Quarantined ones are kept apart: they come in only where there is no answer without them.
 * LS1 Another bookie to choose from never makes an answer impossible. So what is left in the answer is
 *     needed, given the rest of the answer.
 */
import type { BookieId, Region } from "../ids.ts";
import type { BookieAddress } from "../place.ts";
import { isKnownRegion, UNKNOWN_REGION } from "./known-region.ts";
import type { LedgerTurn } from "./ledger-turn.ts";
import type { EnsembleRequest, PlacementAnswer, RegionCount } from "./placement.ts";

interface UsableBookies {
  readonly sound: readonly BookieAddress[];
  readonly quarantined: readonly BookieAddress[];
}

/** `barred` bookies are never used, besides those that the request bars. */
export function usableBookies(request: EnsembleRequest, barred: ReadonlySet<BookieId>): UsableBookies {
  const seen = new Set<BookieId>();
  const sound: BookieAddress[] = [];
  const quarantined: BookieAddress[] = [];
  for (const candidate of request.candidates) {
    if (seen.has(candidate.id) || barred.has(candidate.id) || !isUsable(candidate, request)) continue;
    seen.add(candidate.id);
    (request.quarantined?.has(candidate.id) === true ? quarantined : sound).push(candidate);
  }
  return { sound, quarantined };
}

/** UB1 */
function isUsable(candidate: BookieAddress, request: EnsembleRequest): boolean {
  if (request.excluded.has(candidate.id)) return false;
  if ((request.bookieStates?.get(candidate.id) ?? "writable") !== "writable") return false;
  return (request.regionStates?.get(candidate.place.region) ?? "accepting") === "accepting";
}

export interface RegionPool {
  readonly region: Region;
  readonly racks: ReadonlyMap<string, readonly BookieAddress[]>;
  readonly bookies: number;
}

/** One pool for each region; all unknown regions are one. */
export function poolByRegion(bookies: readonly BookieAddress[]): Map<Region, RegionPool> {
  const regions = new Map<Region, { region: Region; racks: Map<string, BookieAddress[]>; bookies: number }>();
  for (const bookie of bookies) {
    const region = isKnownRegion(bookie.place.region) ? bookie.place.region : UNKNOWN_REGION;
    let pool = regions.get(region);
    if (pool === undefined) {
      pool = { region, racks: new Map(), bookies: 0 };
      regions.set(region, pool);
    }
    const rack = pool.racks.get(bookie.place.rack);
    if (rack === undefined) pool.racks.set(bookie.place.rack, [bookie]);
    else rack.push(bookie);
    pool.bookies++;
  }
  return regions;
}

/** The known ones among the regions: the writer's own first, then by turn. */
export function regionsInTurn(regions: Iterable<Region>, home: Region, turn: LedgerTurn): Region[] {
  const known = [...regions].filter(isKnownRegion);
  const others = turn.sorted(
    known.filter((region) => region !== home),
    (region) => region,
  );
  return known.includes(home) ? [home, ...others] : others;
}

/** Counts by region, sorted by name; all unknown regions are one. */
export function countByRegion(bookies: readonly BookieAddress[]): RegionCount[] {
  const counts = [...poolByRegion(bookies).values()].map(({ region, bookies: many }) => ({
    region,
    bookies: many,
  }));
  return counts.sort((one, other) => (one.region < other.region ? -1 : 1));
}

/** Such as "us-east-1: 2, us-west-2: 1". */
export function describeCounts(counts: readonly RegionCount[]): string {
  return counts.map(({ region, bookies }) => `${region}: ${bookies}`).join(", ") || "none";
}

/**
 * Quarantined bookies as a last resort: first without any, then with all, and then each that was used is
 * tried to be left out after all.
 */
export function fewestQuarantined(
  usable: UsableBookies,
  choose: (bookies: readonly BookieAddress[]) => PlacementAnswer,
): PlacementAnswer {
  let answer = choose(usable.sound);
  if (answer.kind === "ensemble" || usable.quarantined.length === 0) return answer;
  answer = choose([...usable.sound, ...usable.quarantined]);
  const needed = new Set<BookieId>();
  while (answer.kind === "ensemble") {
    const members = new Set(answer.ensemble.map(({ id }) => id));
    const used = usable.quarantined.filter(({ id }) => members.has(id));
    const doubtful = used.find(({ id }) => !needed.has(id));
    if (doubtful === undefined) break;
    const without = choose([...usable.sound, ...used.filter((bookie) => bookie !== doubtful)]);
    if (without.kind === "ensemble") answer = without;
    else needed.add(doubtful.id);
  }
  return answer;
}
