/**
 * The shipped placement policy: region-aware and rack-aware, with every ensemble judged by the checker before
 * it is handed out.
 *
 * Of the ensemble of a new ledger, or of one that is placed anew:
 *
 * PE1 An ensemble that is returned passes the checker; where that cannot be, the answer is a refusal that
 *     counts the usable bookies. Missing regions make ensembles smaller in regions, never weaker.
 * PE2 Counts over regions, and over racks within a region, are max-min fair. What cannot be even goes to the
 *     writer's own region, then to regions, racks and bookies in the ledger's turn.
 * PE3 Quarantined bookies are members only where none of those that are could be left out.
 * RO1 Counts by rack are as even as the racks' bookies allow (RCT2).
 * RO2 Copies that follow each other, the last and the first too, stand in different racks wherever the counts
 *     permit it at all, that is, wherever no rack has more than half of the copies.
 *
 * Of other bookies in the places of those that failed:
 *
 * RB1 All failed positions are filled together, each at its true index; nothing is filled in part.
 * RB2 Where members stand is what the fragment says. What the topology says of them by now does not count.
 * RB3 A replacement is no member of the ensemble and none of the retired (rule 7).
 * RB4 The same rack, else the same region, else the region that keeps counts most even.
 * RB5 A legal ensemble stays legal, and another one gets no worse, write set by write set. Else: refused.
 */
import { assert, present } from "../assert.ts";
import type { Region } from "../ids.ts";
import type { BookieAddress, Replication } from "../replication.ts";
import { type Arrangement, arrangeRegions } from "./arrange-regions.ts";
import { checkEnsemble } from "./check-ensemble.ts";
import type { EnsembleRequest, Placement, PlacementAnswer, ReplacementRequest } from "./placement.ts";
import { type ReplacedRegions, replaceRegions } from "./replacement-regions.ts";
import { UNRESOLVED, waterFill } from "./ring.ts";
import {
  countByRegion,
  describeCounts,
  fewestQuarantined,
  Pools,
  regionOf,
  usableBookies,
} from "./usable-bookies.ts";

export function placeEnsemble(request: EnsembleRequest): PlacementAnswer {
  const usable = usableBookies(request, request.excluded);
  const answer = fewestQuarantined(usable, (bookies) => placeAmong(bookies, request));
  if (answer.kind === "refused") return answer;
  const check = checkEnsemble(answer.ensemble, request.replication);
  assert(check.kind === "legal", `PE1: ${check.kind === "illegal" ? check.reason : ""}`);
  return answer;
}

function placeAmong(bookies: readonly BookieAddress[], request: EnsembleRequest): PlacementAnswer {
  const pools = new Pools(bookies, [], request);
  const arrangement = arrangeRegions(pools.counts, request.replication);
  if (arrangement.kind !== "ring") return noEnsemble(arrangement, bookies, request.replication);
  const ring = arrangement.ring.map((index) => pools.regionAt(index));
  return { kind: "ensemble", ensemble: fillRing(ring, pools) };
}

/** A bookie for each position of the ring, racks in their order within each region. */
function fillRing(ring: readonly Region[], pools: Pools): BookieAddress[] {
  const chosen = new Map<Region, BookieAddress[]>();
  for (const region of new Set(ring)) {
    const copies = ring.filter((one) => one === region).length;
    const racks = [...pools.racksOf(region, copies).values()];
    const order = rackOrder(
      racks.map((bookies) => bookies.length),
      copies,
    );
    chosen.set(
      region,
      order.map((rack) => present(racks[rack]?.shift(), "a rack has the bookies it was counted for")),
    );
  }
  return ring.map((region) => present(chosen.get(region)?.shift(), "each position has its bookie"));
}

function noEnsemble(
  { kind }: Exclude<Arrangement, { readonly kind: "ring" }>,
  bookies: readonly BookieAddress[],
  replication: Replication,
): PlacementAnswer {
  const usable = countByRegion(bookies);
  const { ensembleSize, writeQuorum, ackQuorum, minRegions } = replication;
  const wanted =
    `an ensemble of ${ensembleSize} with write quorum ${writeQuorum}, ack quorum ${ackQuorum} and ` +
    `${minRegions} regions`;
  const why = {
    "too-few": "has more members than there are usable bookies",
    "too-concentrated": `would let an ack quorum lie in fewer than ${minRegions} regions, however spread`,
    "not-found": "was not found",
  }[kind];
  return { kind: "refused", reason: `${wanted} ${why} (usable: ${describeCounts(usable)})`, usable };
}

/**
 * Racks of one region's copies, in the order in which these copies follow each other around the ring.
 *
 * The index of the rack for each of `copies` copies. `usable` counts bookies by rack, in order of preference;
 * together they have as many as there are copies.
 */
export function rackOrder(usable: readonly number[], copies: number): number[] {
  const left = present(waterFill(copies, usable), `${copies} copies fit into racks of ${usable.join(", ")}`);
  const order: number[] = [];
  const used = left.map(() => -1);
  while (order.length < copies) {
    const next = nextRack(left, used, order);
    left[next] = (left[next] ?? 0) - 1;
    used[next] = order.length;
    order.push(next);
  }
  return order;
}

/**
 * Another rack than the last, and of those one with the most copies left, so that no rack is left over to
 * follow itself. Among equals the very first rack, lest it also come last; then the one not used for longest.
 */
function nextRack(left: readonly number[], used: readonly number[], order: readonly number[]): number {
  const last = order.at(-1);
  const open = [...left.keys()].filter((rack) => (left[rack] ?? 0) > 0);
  const others = open.filter((rack) => rack !== last);
  const rank = (rack: number) => [left[rack] ?? 0, rack === order[0] ? 1 : 0, -(used[rack] ?? 0)] as const;
  const ranked = (others.length > 0 ? others : open).sort((one, other) => {
    const [ofOne, ofOther] = [rank(one), rank(other)];
    const differing = ofOne.findIndex((value, index) => value !== ofOther[index]);
    return differing < 0 ? 0 : (ofOther[differing] ?? 0) - (ofOne[differing] ?? 0);
  });
  return present(ranked[0], "racks hold as many copies as are asked for");
}

// ---------- Other bookies in the places of those that failed

export function replaceBookies(request: ReplacementRequest): PlacementAnswer {
  const { ensemble } = request.fragment;
  const failed = failedPositions(request);
  const members = new Set(ensemble.map(({ id }) => id));
  const usable = usableBookies(request, request.excluded, members, request.retired ?? new Set());
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
  const { replication } = request;
  const { ensemble } = request.fragment;
  const pools = new Pools(bookies, ensemble, request);
  // An unknown region is not among them: -1, which is UNRESOLVED.
  const ring = ensemble.map((member) => pools.regions.indexOf(regionOf(member)));
  const replaced = replaceRegions({ ring, failed, replication, spare: pools.counts, othersMayLeave });
  if (replaced === undefined) return noReplacement(bookies, request, failed);
  return { kind: "ensemble", ensemble: fill(replaced, pools, ensemble) };
}

/** A bookie for each open position, in the region that was chosen for it (RB4). */
function fill(replaced: ReplacedRegions, pools: Pools, old: readonly BookieAddress[]): BookieAddress[] {
  const ensemble: (BookieAddress | undefined)[] = old.map((member, position) =>
    replaced.positions.includes(position) ? undefined : member,
  );
  const shelves = new Map<Region, Shelves>();
  const open = replaced.positions.map((position) => {
    const region = pools.regionAt(replaced.ring[position] ?? UNRESOLVED);
    const racks = shelves.get(region) ?? pools.racksOf(region, replaced.positions.length);
    shelves.set(region, racks);
    return { position, region, racks };
  });
  // Racks that can be kept are kept before others are looked at, lest a neighbour take their bookies.
  for (const { position, region, racks } of open) {
    const { place } = present(old[position], "positions lie in the ensemble");
    if (place.region === region) ensemble[position] = racks.get(place.rack)?.shift();
  }
  for (const { position, region, racks } of open) {
    ensemble[position] ??= racks.get(rackFor(position, region, racks, ensemble))?.shift();
  }
  return ensemble.map((member) => present(member, "RB1: each position has its bookie"));
}

/** What each rack of a region has to give, in the ledger's turn. */
type Shelves = ReadonlyMap<string, BookieAddress[]>;

/** The rack that holds fewest of the region's copies, and of those one that is no neighbour on the ring. */
function rackFor(
  position: number,
  region: Region,
  shelves: Shelves,
  ensemble: readonly (BookieAddress | undefined)[],
): string {
  const size = ensemble.length;
  // Racks of the region's copies in the order of the ring, from the position on.
  const racks = Array.from({ length: size - 1 }, (_, step) => ensemble[(position + step + 1) % size])
    .filter((member) => member !== undefined && regionOf(member) === region)
    .map((member) => member?.place.rack);
  const neighbours = [racks[0], racks.at(-1)];
  const times = (rack: string, all: readonly (string | undefined)[]) =>
    all.filter((one) => one === rack).length;
  const cost = (rack: string) => times(rack, racks) * 4 + times(rack, neighbours);
  const open = [...shelves].filter(([, bookies]) => bookies.length > 0).map(([rack]) => rack);
  open.sort((one, other) => cost(one) - cost(other));
  return present(open[0], "a region gives no more bookies than it has");
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

function noReplacement(
  bookies: readonly BookieAddress[],
  request: ReplacementRequest,
  failed: readonly number[],
): PlacementAnswer {
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

export const regionAware: Placement = { chooseEnsemble: placeEnsemble, replaceBookies };
