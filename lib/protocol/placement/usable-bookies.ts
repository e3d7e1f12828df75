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
import { present } from "../assert.ts";
import type { BookieId, Region } from "../ids.ts";
import type { BookieAddress } from "../place.ts";
import { isKnownRegion, UNKNOWN_REGION } from "./known-region.ts";
import { LedgerTurn } from "./ledger-turn.ts";
import type { EnsembleRequest, PlacementAnswer, RegionCount } from "./placement.ts";
import { type Counts, UNRESOLVED } from "./ring.ts";

interface UsableBookies {
  readonly sound: readonly BookieAddress[];
  readonly quarantined: readonly BookieAddress[];
}

/** What is said of bookies; see `EnsembleRequest`. */
type Bookies = Pick<EnsembleRequest, "candidates" | "bookieStates" | "regionStates" | "quarantined">;

/** `barred` bookies are never used. */
export function usableBookies(request: Bookies, ...barred: readonly ReadonlySet<BookieId>[]): UsableBookies {
  const seen = new Set<BookieId>();
  const sound: BookieAddress[] = [];
  const quarantined: BookieAddress[] = [];
  for (const candidate of request.candidates) {
    if (seen.has(candidate.id) || !isUsable(candidate, request)) continue;
    seen.add(candidate.id);
    if (barred.some((some) => some.has(candidate.id))) continue;
    (request.quarantined?.has(candidate.id) === true ? quarantined : sound).push(candidate);
  }
  return { sound, quarantined };
}

/** UB1 */
function isUsable(candidate: BookieAddress, request: Bookies): boolean {
  if ((request.bookieStates?.get(candidate.id) ?? "writable") !== "writable") return false;
  return (request.regionStates?.get(candidate.place.region) ?? "accepting") === "accepting";
}

/** All unknown regions are one. */
export function regionOf({ place }: BookieAddress): Region {
  return isKnownRegion(place.region) ? place.region : UNKNOWN_REGION;
}

/** The bookies that may be chosen for a ledger, by region and rack, each level in the ledger's turn. */
export class Pools {
  /** Known ones, the writer's own first; a ring names them by index. */
  readonly regions: readonly Region[];
  readonly #turn: LedgerTurn;
  readonly #bookies = new Map<Region, BookieAddress[]>();

  /** `others`: bookies that cannot be chosen, whose regions get an index too. */
  constructor(
    bookies: readonly BookieAddress[],
    others: readonly BookieAddress[],
    { ledgerId, home }: Pick<EnsembleRequest, "ledgerId" | "home">,
  ) {
    this.#turn = new LedgerTurn(ledgerId);
    for (const bookie of bookies) addTo(this.#bookies, regionOf(bookie), bookie);
    const known = new Set([...this.#bookies.keys(), ...others.map(regionOf)]);
    known.delete(UNKNOWN_REGION);
    const first = known.delete(home) ? [home] : [];
    this.regions = [...first, ...this.#turn.sorted([...known], (region) => region)];
  }

  get counts(): Counts {
    const known = this.regions.map((region) => this.#bookies.get(region)?.length ?? 0);
    return { known, unresolved: this.#bookies.get(UNKNOWN_REGION)?.length ?? 0 };
  }

  regionAt(index: number): Region {
    if (index === UNRESOLVED) return UNKNOWN_REGION;
    return present(this.regions[index], "a ring names regions by index");
  }

  /** What each rack of a region has to give, `many` at most. */
  racksOf(region: Region, many: number): Map<string, BookieAddress[]> {
    const racks = new Map<string, BookieAddress[]>();
    const bookies = present(this.#bookies.get(region), "only regions with bookies to give are chosen");
    for (const bookie of bookies) addTo(racks, bookie.place.rack, bookie);
    const inTurn = this.#turn.sorted([...racks], ([rack]) => `${region}/${rack}`);
    return new Map(inTurn.map(([rack, all]) => [rack, this.#turn.earliest(all, many, ({ id }) => id)]));
  }
}

function addTo<K>(lists: Map<K, BookieAddress[]>, key: K, bookie: BookieAddress): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [bookie]);
  else list.push(bookie);
}

/** Counts by region, sorted by name; all unknown regions are one. */
export function countByRegion(bookies: readonly BookieAddress[]): RegionCount[] {
  const counts = new Map<Region, number>();
  for (const region of bookies.map(regionOf)) counts.set(region, (counts.get(region) ?? 0) + 1);
  const sorted = [...counts].sort(([one], [other]) => (one < other ? -1 : 1));
  return sorted.map(([region, many]) => ({ region, bookies: many }));
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
