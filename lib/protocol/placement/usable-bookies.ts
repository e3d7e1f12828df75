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
import type { BookieId, LedgerId, Region } from "../ids.ts";
import { type BookieAddress, isKnownRegion, UNKNOWN_REGION } from "../replication.ts";
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

/**
 * The order in which regions, racks and bookies take turns: a hash of the ledger id and the name. Every name
 * comes first equally often, without a counter that processes would have to share; and when one drops out,
 * its turns spread over all the others.
 */
class LedgerTurn {
  readonly #low: number;
  readonly #high: number;

  constructor(ledgerId: LedgerId) {
    this.#low = mixed(ledgerId | 0);
    this.#high = mixed(Math.floor(ledgerId / 2 ** 32) ^ 0x5bd1e995);
  }

  /** A whole number in [0, 2^32); the lower, the earlier. */
  of(name: string): number {
    return mixed(mixed(hashOf(name) ^ this.#low) ^ this.#high);
  }

  /** The named things, earliest turn first. */
  sorted<T>(things: readonly T[], nameOf: (thing: T) => string): T[] {
    return this.earliest(things, things.length, nameOf);
  }

  /** The `many` things whose turns are earliest, in that order; time grows with the number of things. */
  earliest<T>(things: readonly T[], many: number, nameOf: (thing: T) => string): T[] {
    const first: Turn<T>[] = [];
    for (const thing of things) {
      const candidate = { thing, name: nameOf(thing), turn: this.of(nameOf(thing)) };
      let place = first.length;
      while (place > 0 && byTurn(candidate, first[place - 1] as Turn<T>) < 0) place--;
      if (place >= many) continue;
      first.splice(place, 0, candidate);
      if (first.length > many) first.pop();
    }
    return first.map(({ thing }) => thing);
  }
}

interface Turn<T> {
  readonly thing: T;
  readonly name: string;
  readonly turn: number;
}

function byTurn(one: { name: string; turn: number }, other: { name: string; turn: number }): number {
  if (one.turn !== other.turn) return one.turn - other.turn;
  if (one.name === other.name) return 0;
  return one.name < other.name ? -1 : 1;
}

/** FNV-1a over the code units. */
function hashOf(name: string): number {
  let hash = 0x811c9dc5 | 0;
  for (let index = 0; index < name.length; index++) {
    hash = Math.imul(hash ^ name.charCodeAt(index), 0x01000193);
  }
  return hash;
}

/** The finisher of MurmurHash3: every bit of the input moves every bit of the output. */
function mixed(value: number): number {
  let hash = value ^ (value >>> 16);
  hash = Math.imul(hash, 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
