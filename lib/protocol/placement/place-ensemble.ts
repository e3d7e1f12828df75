/**
 * The ensemble of a new ledger, or of one that is placed anew.
 *
 * PE1 An ensemble that is returned passes the checker; where that cannot be, the answer is a refusal that
 *     counts the usable bookies. Missing regions make ensembles smaller in regions, never weaker.
 * PE2 Counts over regions, and over racks within a region, are max-min fair. What cannot be even goes to the
 *     writer's own region, then to regions, racks and bookies in the ledger's turn.
 * PE3 Quarantined bookies are members only where none of those that are could be left out.
 * RO1 Counts by rack are as even as the racks' bookies allow (RCT2).
 * RO2 Copies that follow each other, the last and the first too, stand in different racks wherever the counts
 *     permit it at all, that is, wherever no rack has more than half of the copies.
 */
import { assert, present } from "../assert.ts";
import type { Region } from "../ids.ts";
import type { BookieAddress } from "../place.ts";
import type { Replication } from "../replication.ts";
import { type Arrangement, arrangeRegions } from "./arrange-regions.ts";
import { checkEnsemble } from "./check-ensemble.ts";
import type { EnsembleRequest, PlacementAnswer, PlacementRefusal, RegionCount } from "./placement.ts";
import { waterFill } from "./ring.ts";
import { countByRegion, describeCounts, fewestQuarantined, Pools, usableBookies } from "./usable-bookies.ts";

type EnsembleAnswer = PlacedEnsemble | PlacementRefusal;

interface PlacedEnsemble {
  readonly kind: "ensemble";
  readonly ensemble: readonly BookieAddress[];
  readonly regionCounts: readonly RegionCount[];
  /** Regions of candidates that had no usable bookie: with any, the ensemble is a degraded one. */
  readonly missingRegions: readonly Region[];
}

export function placeEnsemble(request: EnsembleRequest): EnsembleAnswer {
  const usable = usableBookies(request, request.excluded);
  const answer = fewestQuarantined(usable, (bookies) => placeAmong(bookies, request));
  if (answer.kind === "refused") return answer;
  const check = checkEnsemble(answer.ensemble, request.replication);
  assert(check.kind === "legal", `PE1: ${check.kind === "illegal" ? check.reason : ""}`);
  const there = new Set([...usable.sound, ...usable.quarantined].map(({ place }) => place.region));
  const named = new Set(request.candidates.map(({ place }) => place.region));
  return {
    kind: "ensemble",
    ensemble: answer.ensemble,
    regionCounts: countByRegion(answer.ensemble),
    missingRegions: [...named].filter((region) => !there.has(region)).sort(),
  };
}

function placeAmong(bookies: readonly BookieAddress[], request: EnsembleRequest): PlacementAnswer {
  const pools = new Pools(bookies, [], request);
  const arrangement = arrangeRegions(pools.counts, request.replication);
  if (arrangement.kind !== "ring") return refusal(arrangement, bookies, request.replication);
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

function refusal(
  { kind }: Exclude<Arrangement, { readonly kind: "ring" }>,
  bookies: readonly BookieAddress[],
  replication: Replication,
): PlacementRefusal {
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
