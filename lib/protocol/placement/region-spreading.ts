/**
 * A simple placement policy: spread an ensemble evenly over regions, and over racks within a region, and
 * refuse one in which some ack quorum would span fewer than minRegions regions.
 *
 * Regions take turns around the ring, so that neighbours, and with them write sets, mix regions.
 */
import type { BookieId, EntryId, Region } from "../ids.ts";
import type { Replication } from "../ledger/ledger-metadata.ts";
import { writeSetPositions } from "../ledger/write-set.ts";
import type { BookieAddress } from "../place.ts";
import type { EnsembleRequest, Placement, PlacementAnswer, ReplacementRequest } from "./placement.ts";

export const regionSpreading: Placement = { chooseEnsemble, replaceBookies };

function chooseEnsemble(request: EnsembleRequest): PlacementAnswer {
  const usable = request.candidates.filter((candidate) => !request.excluded.has(candidate.id));
  const regions = regionsInTurn(usable, request.home, request.ledgerId);
  const ensemble: BookieAddress[] = [];
  const queues = regions.map((region) => racksInTurn(usable, region, request.ledgerId));
  while (ensemble.length < request.replication.ensembleSize) {
    const taken = ensemble.length;
    for (const queue of queues) {
      const next = ensemble.length < request.replication.ensembleSize ? queue.shift() : undefined;
      if (next !== undefined) ensemble.push(next);
    }
    if (ensemble.length === taken) return tooFew(request, usable);
  }
  return checked(ensemble, request.replication);
}

/** Fills each position from its own region first, then from the region with the fewest members. */
function replaceBookies(request: ReplacementRequest): PlacementAnswer {
  const { fragment, positions, replication, excluded, ledgerId } = request;
  const ensemble: (BookieAddress | undefined)[] = fragment.ensemble.map((member, position) =>
    positions.includes(position) ? undefined : member,
  );
  const members = new Set<BookieId>(fragment.ensemble.map((member) => member.id));
  const usable = request.candidates.filter(
    (candidate) => !excluded.has(candidate.id) && !members.has(candidate.id),
  );
  const racks = new Map(
    regionsInTurn(usable, request.home, ledgerId).map((region) => [
      region,
      racksInTurn(usable, region, ledgerId),
    ]),
  );
  for (const position of positions) {
    const old = fragment.ensemble[position];
    const preferred = old === undefined ? [] : (racks.get(old.place.region) ?? []);
    const queue = preferred.length > 0 ? preferred : emptiestRegion(racks, ensemble);
    const chosen = queue?.shift();
    if (chosen === undefined) return tooFew(request, usable);
    ensemble[position] = chosen;
  }
  return checked(
    ensemble.filter((member) => member !== undefined),
    replication,
  );
}

function emptiestRegion(
  racks: ReadonlyMap<Region, BookieAddress[]>,
  ensemble: readonly (BookieAddress | undefined)[],
): BookieAddress[] | undefined {
  const count = (region: Region) => ensemble.filter((member) => member?.place.region === region).length;
  const open = [...racks].filter(([, queue]) => queue.length > 0);
  open.sort(([one], [other]) => count(one) - count(other));
  return open[0]?.[1];
}

/** The home region first, the others rotated by the ledger id so that no region is always second. */
function regionsInTurn(candidates: readonly BookieAddress[], home: Region, turn: number): Region[] {
  const regions = [...new Set(candidates.map((candidate) => candidate.place.region))].sort();
  const others = regions.filter((region) => region !== home);
  const rotation = others.length === 0 ? 0 : turn % others.length;
  const rotated = [...others.slice(rotation), ...others.slice(0, rotation)];
  return regions.includes(home) ? [home, ...rotated] : rotated;
}

/** A region's bookies such that neighbours stand in different racks while there are any. */
function racksInTurn(candidates: readonly BookieAddress[], region: Region, turn: number): BookieAddress[] {
  const byRack = new Map<string, BookieAddress[]>();
  for (const candidate of candidates) {
    if (candidate.place.region !== region) continue;
    const shelf = byRack.get(candidate.place.rack) ?? [];
    shelf.push(candidate);
    byRack.set(candidate.place.rack, shelf);
  }
  const shelves = [...byRack.keys()].sort().map((rack) => byRack.get(rack) ?? []);
  for (const shelf of shelves) shelf.push(...shelf.splice(0, turn % shelf.length));
  const first = shelves.length === 0 ? 0 : turn % shelves.length;
  const ordered = [...shelves.slice(first), ...shelves.slice(0, first)];
  const result: BookieAddress[] = [];
  while (ordered.some((shelf) => shelf.length > 0)) {
    for (const shelf of ordered) result.push(...shelf.splice(0, 1));
  }
  return result;
}

function checked(ensemble: readonly BookieAddress[], replication: Replication): PlacementAnswer {
  const weak = weakWriteSet(ensemble, replication);
  if (weak === undefined) return { kind: "ensemble", ensemble };
  const names = weak.map((member) => member.id).join(", ");
  const { ackQuorum, minRegions } = replication;
  const reason = `in write set ${names} an ack quorum of ${ackQuorum} can lie in fewer than ${minRegions} regions`;
  return { kind: "refused", reason };
}

/** A write set in which the fullest minRegions - 1 regions alone reach the ack quorum. */
function weakWriteSet(
  ensemble: readonly BookieAddress[],
  replication: Replication,
): BookieAddress[] | undefined {
  for (let start = 0; start < ensemble.length; start++) {
    const set = writeSetPositions(start as EntryId, replication).flatMap(
      (position) => ensemble[position] ?? [],
    );
    const counts = new Map<Region, number>();
    for (const member of set) counts.set(member.place.region, (counts.get(member.place.region) ?? 0) + 1);
    const fullest = [...counts.values()]
      .sort((one, other) => other - one)
      .slice(0, replication.minRegions - 1);
    if (fullest.reduce((sum, count) => sum + count, 0) >= replication.ackQuorum) return set;
  }
  return undefined;
}

function tooFew(request: EnsembleRequest, usable: readonly BookieAddress[]): PlacementAnswer {
  const { ensembleSize } = request.replication;
  const names = usable.map((one) => one.id).join(", ");
  const reason = `an ensemble of ${ensembleSize} is wanted; usable beside its members: ${names || "none"}`;
  return { kind: "refused", reason };
}
