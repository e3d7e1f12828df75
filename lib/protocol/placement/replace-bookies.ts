/**
 * Other bookies in the places of those that failed.
 *
 * RB1 All failed positions are filled together, each at its true index; nothing is filled in part.
 * RB2 Where members stand is what the fragment says. What the topology says of them by now does not count.
 * RB3 A replacement is no member of the ensemble and none of the retired (rule 7).
 * RB4 The same rack, else the same region, else the region that keeps counts most even.
 * RB5 A legal ensemble stays legal, and another one gets no worse, write set by write set. Else: refused.
 */
import { assert, present } from "../assert.ts";
import type { BookieId, Region } from "../ids.ts";
import type { BookieAddress, Place } from "../place.ts";
import { checkEnsemble } from "./check-ensemble.ts";
import { isKnownRegion, UNKNOWN_REGION } from "./known-region.ts";
import { LedgerTurn } from "./ledger-turn.ts";
import type { PlacementAnswer, PlacementRefusal, ReplacementRequest } from "./placement.ts";
import { replaceRegions } from "./replacement-regions.ts";
import { type ReplacedRegions, UNRESOLVED } from "./ring-windows.ts";
import {
  countByRegion,
  describeCounts,
  fewestQuarantined,
  poolByRegion,
  type RegionPool,
  regionsInTurn,
  usableBookies,
} from "./usable-bookies.ts";

export function replaceBookies(request: ReplacementRequest): PlacementAnswer {
  const { ensemble } = request.fragment;
  const failed = failedPositions(request);
  const members = new Set(ensemble.map(({ id }) => id));
  const usable = usableBookies(request, new Set<BookieId>([...members, ...(request.retired ?? [])]));
  let answer = fewestQuarantined(usable, (bookies) => replaceAmong(bookies, request, failed, false));
  if (answer.kind === "refused" && request.othersMayLeave === true) {
    answer = fewestQuarantined(usable, (bookies) => replaceAmong(bookies, request, failed, true));
  }
  if (answer.kind === "refused") return answer;
  assertSound(request, failed, answer.ensemble);
  return answer;
}

function failedPositions(request: ReplacementRequest): number[] {
  const { ensemble } = request.fragment;
  const { ensembleSize } = request.replication;
  assert(ensemble.length === ensembleSize, `an ensemble of ${ensembleSize} has ${ensemble.length} members`);
  const failed = [...new Set(request.positions)].sort((one, other) => one - other);
  for (const position of failed) {
    assert(ensemble[position] !== undefined, `position ${position} is outside the ensemble`);
  }
  return failed;
}

function replaceAmong(
  bookies: readonly BookieAddress[],
  request: ReplacementRequest,
  failed: readonly number[],
  othersMayLeave: boolean,
): PlacementAnswer {
  const { fragment, replication, home } = request;
  const turn = new LedgerTurn(request.ledgerId);
  const pools = poolByRegion(bookies);
  const named = new Set([...pools.keys(), ...fragment.ensemble.map(({ place }) => place.region)]);
  const regions = regionsInTurn(named, home, turn);
  const indexOf = (region: Region) => (isKnownRegion(region) ? regions.indexOf(region) : UNRESOLVED);
  const replaced = replaceRegions({
    ring: fragment.ensemble.map(({ place }) => indexOf(place.region)),
    failed,
    replication,
    spare: regions.map((region) => pools.get(region)?.bookies ?? 0),
    spareUnresolved: pools.get(UNKNOWN_REGION)?.bookies ?? 0,
    othersMayLeave,
  });
  if (replaced === undefined) return refusal(bookies, request, failed);
  return { kind: "ensemble", ensemble: fill(replaced, regions, pools, fragment.ensemble, turn) };
}

/** A bookie for each open position, in the region that was chosen for it (RB4). */
function fill(
  replaced: ReplacedRegions,
  regions: readonly Region[],
  pools: ReadonlyMap<Region, RegionPool>,
  old: readonly BookieAddress[],
  turn: LedgerTurn,
): BookieAddress[] {
  const ensemble: (BookieAddress | undefined)[] = old.map((member, position) =>
    replaced.positions.includes(position) ? undefined : member,
  );
  const shelves = new Map<Region, Shelves>();
  const open = replaced.positions.map((position) => {
    const index = replaced.ring[position] ?? UNRESOLVED;
    const region = index === UNRESOLVED ? UNKNOWN_REGION : present(regions[index], "regions go by index");
    return { position, region, left: present(old[position], "positions lie in the ensemble").place };
  });
  const put = ({ position, region }: (typeof open)[number], rack: string) => {
    ensemble[position] = shelves.get(region)?.get(rack)?.shift();
  };
  for (const { region } of open) {
    const pool = present(pools.get(region), "only regions with bookies to give are chosen");
    if (!shelves.has(region)) shelves.set(region, shelvesOf(pool, open.length, turn));
  }
  // Racks that can be kept are kept before others are looked at, lest a neighbour take their bookies.
  for (const one of open) {
    const own = one.left.region === one.region ? (shelves.get(one.region)?.get(one.left.rack) ?? []) : [];
    if (own.length > 0) put(one, one.left.rack);
  }
  for (const one of open) {
    if (ensemble[one.position] !== undefined) continue;
    put(one, rackFor(one.position, one.region, shelves.get(one.region) ?? new Map(), ensemble));
  }
  return ensemble.map((member) => present(member, "RB1: each position has its bookie"));
}

/** What each rack of a region has to give, in the ledger's turn. */
type Shelves = Map<string, BookieAddress[]>;

function shelvesOf(pool: RegionPool, many: number, turn: LedgerTurn): Shelves {
  const racks = turn.sorted([...pool.racks.entries()], ([rack]) => `${pool.region}/${rack}`);
  return new Map(racks.map(([rack, bookies]) => [rack, turn.earliest(bookies, many, ({ id }) => id)]));
}

/** The rack that holds fewest of the region's copies, and of those one that is no neighbour on the ring. */
function rackFor(
  position: number,
  region: Region,
  shelves: Shelves,
  ensemble: readonly (BookieAddress | undefined)[],
): string {
  const copies = (rack: string) => ensemble.filter((member) => isAt(member?.place, region, rack)).length;
  const size = ensemble.length;
  const neighbours = [1, size - 1].map((step) => neighbour(ensemble, position, step, region));
  const cost = (rack: string) => copies(rack) * 4 + neighbours.filter((other) => other === rack).length;
  const open = [...shelves].filter(([, bookies]) => bookies.length > 0).map(([rack]) => rack);
  open.sort((one, other) => cost(one) - cost(other));
  return present(open[0], "a region gives no more bookies than it has");
}

/** The rack of the region's next copy in this direction. */
function neighbour(
  ensemble: readonly (BookieAddress | undefined)[],
  position: number,
  step: number,
  region: Region,
): string | undefined {
  const size = ensemble.length;
  for (let index = (position + step) % size; index !== position; index = (index + step) % size) {
    const member = ensemble[index];
    if (member !== undefined && sameRegion(member.place.region, region)) return member.place.rack;
  }
  return undefined;
}

function isAt(place: Place | undefined, region: Region, rack: string): boolean {
  return place !== undefined && sameRegion(place.region, region) && place.rack === rack;
}

function sameRegion(one: Region, other: Region): boolean {
  return one === other || (!isKnownRegion(one) && !isKnownRegion(other));
}

function assertSound(
  request: ReplacementRequest,
  failed: readonly number[],
  ensemble: readonly BookieAddress[],
): void {
  const { replication, fragment, retired } = request;
  const old = fragment.ensemble;
  for (const [position, member] of ensemble.entries()) {
    const stays = old[position]?.id === member.id;
    const mayChange = request.othersMayLeave === true || failed.includes(position);
    assert(stays ? !failed.includes(position) : mayChange, `RB1: position ${position}`);
    assert(stays || !old.some(({ id }) => id === member.id), `RB3: ${member.id} is a member`);
    assert(stays || retired?.has(member.id) !== true, `RB3: ${member.id} is retired`);
  }
  const check = checkEnsemble(ensemble, replication, old);
  assert(check.kind === "legal", `RB5: ${check.kind === "illegal" ? check.reason : ""}`);
}

function refusal(
  bookies: readonly BookieAddress[],
  request: ReplacementRequest,
  failed: readonly number[],
): PlacementRefusal {
  const { ackQuorum, minRegions } = request.replication;
  const usable = countByRegion(bookies);
  const gone = new Set(failed);
  const staying = countByRegion(request.fragment.ensemble.filter((_, position) => !gone.has(position)));
  const reason =
    `positions ${failed.join(", ")} cannot be filled so that every ack quorum of ${ackQuorum} spans ` +
    `${minRegions} regions, or nothing gets worse (staying: ${describeCounts(staying)}; ` +
    `usable: ${describeCounts(usable)})`;
  return { kind: "refused", reason, usable };
}
