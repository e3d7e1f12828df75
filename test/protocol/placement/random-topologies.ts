/**
 * Random uneven topologies, admitted sizes, barred bookies; a new ensemble on each, then bookies that fail
 * or a region that drains. Every outcome is judged here by other means than the placer's: windows are
 * counted afresh, and what can be placed at all follows from formulas.
 */
import { type BookieId, ledgerId, type Region, region } from "../../../lib/protocol/ids.ts";
import { smallestAckQuorum } from "../../../lib/protocol/placement/admission.ts";
import { checkEnsemble } from "../../../lib/protocol/placement/check-ensemble.ts";
import type { EnsembleRequest } from "../../../lib/protocol/placement/placement.ts";
import { placeEnsemble, replaceBookies } from "../../../lib/protocol/placement/region-aware.ts";
import type { BookieAddress, Replication } from "../../../lib/protocol/replication.ts";
import { SeededRandom } from "../../sim/seeded-random.ts";
import { heaviest } from "./brute-force.ts";
import { bookie, fragment, nowhere } from "./topologies.ts";

export interface CaseCounts {
  cases: number;
  placed: number;
  /**
   * Of those, with E > Qw; with a region of the topology missing; with quarantined bookies among the
   * members.
   */
  striped: number;
  degraded: number;
  withQuarantined: number;
  /** Refused where the formulas say that nothing can be placed. */
  refused: number;
  /** Refused with E > Qw where the formulas neither promise an ensemble nor rule one out. */
  undecided: number;
  replaced: number;
  replacementsRefused: number;
}

/** So many cases of a seed from number `first` on; each is drawn by itself: parts make up the whole. */
export function runCases(cases: number, seed: number, first = 0): CaseCounts {
  const counts: CaseCounts = {
    cases: 0,
    placed: 0,
    striped: 0,
    degraded: 0,
    withQuarantined: 0,
    refused: 0,
    undecided: 0,
    replaced: 0,
    replacementsRefused: 0,
  };
  for (let number = first; number < first + cases; number++) {
    const random = new SeededRandom(seed, `case ${number}`);
    try {
      runCase(random, counts);
    } catch (error) {
      throw new Error(`case ${number} of seed ${seed}: ${error instanceof Error ? error.message : error}`);
    }
    counts.cases++;
  }
  return counts;
}

function runCase(random: SeededRandom, counts: CaseCounts): void {
  const request = randomRequest(random);
  const { replication } = request;
  const usable = usableOf(request);
  const answer = placeEnsemble(request);
  const promise = promisedBy(replication, [...tallyBy(usable, ({ place }) => place.region).values()]);
  if (answer.kind === "refused") {
    expectThat(promise !== "certain", `refused, though 2.3 promises an ensemble: ${answer.reason}`);
    counts[promise === "impossible" ? "refused" : "undecided"]++;
    return;
  }
  expectThat(promise !== "impossible", "placed, though 2.3 rules it out");
  checkPlaced(answer.ensemble, request, usable);
  counts.placed++;
  if (replication.writeQuorum < replication.ensembleSize) counts.striped++;
  const regionsOf = (bookies: readonly BookieAddress[]) => new Set(bookies.map(({ place }) => place.region));
  if (regionsOf(usable).size < regionsOf(request.candidates).size) counts.degraded++;
  if (answer.ensemble.some(({ id }) => request.quarantined?.has(id) === true)) counts.withQuarantined++;
  replaceSome(random, request, answer.ensemble, counts);
}

function randomRequest(random: SeededRandom): EnsembleRequest {
  const regions = random.integer(2, 8);
  const candidates = Array.from({ length: regions }, (_, index) => {
    const racks = random.integer(1, 5);
    const many = random.chance(0.4) ? random.integer(1, 5) : random.integer(1, 40);
    return Array.from({ length: many }, (_, one) =>
      bookie(`r${index}.${one}`, `r${index}`, `rack-${random.integer(1, racks)}`),
    );
  }).flat();
  const some = (probability: number) =>
    new Set(candidates.filter(() => random.chance(probability)).map(({ id }) => id));
  const regionStates = new Map(
    Array.from({ length: regions }, (_, index) => region(`r${index}`))
      .filter(() => random.chance(0.1))
      .map((name) => [name, random.chance(0.5) ? ("draining" as const) : ("lost" as const)]),
  );
  return {
    ledgerId: ledgerId(random.uint32()),
    replication: randomSizes(random, regions, candidates.length),
    candidates: random.shuffled(candidates),
    excluded: some(random.pick([0, 0, 0.1])),
    home: random.chance(0.7) ? region(`r${random.integer(0, regions - 1)}`) : nowhere,
    bookieStates: new Map([...some(random.pick([0, 0.1]))].map((id) => [id, "read-only"])),
    regionStates,
    quarantined: some(random.pick([0, 0, 0.1, 0.6])),
  };
}

/** Admitted sizes, so many bookies or fewer. */
function randomSizes(random: SeededRandom, regions: number, bookies: number): Replication {
  while (true) {
    const minRegions = random.integer(1, Math.min(regions, 5));
    const ensembleSize = random.integer(1, Math.min(bookies, 24));
    const writeQuorum = random.chance(0.5) ? ensembleSize : random.integer(1, ensembleSize);
    const smallest = smallestAckQuorum({ ensembleSize, writeQuorum, minRegions });
    if (typeof smallest !== "number") continue;
    return { ensembleSize, writeQuorum, ackQuorum: random.integer(smallest, writeQuorum), minRegions };
  }
}

function usableOf(request: EnsembleRequest): BookieAddress[] {
  return request.candidates.filter(
    ({ id, place }) =>
      !request.excluded.has(id) &&
      request.bookieStates?.has(id) !== true &&
      request.regionStates?.has(place.region) !== true,
  );
}

/** What the formulas say: with E = Qw exact; with E > Qw what is sure, and what averages rule out. */
function promisedBy(sizes: Replication, capacities: readonly number[]): "certain" | "impossible" | "open" {
  const { ensembleSize, writeQuorum, ackQuorum, minRegions } = sizes;
  const total = capacities.reduce((sum, capacity) => sum + capacity, 0);
  if (total < ensembleSize) return "impossible";
  if (minRegions === 1) return "certain";
  const boundOnAverage = Math.floor((ensembleSize * (ackQuorum - 1)) / writeQuorum);
  if (largestEnsemble(capacities, boundOnAverage, minRegions) < ensembleSize) return "impossible";
  if (writeQuorum === ensembleSize) return "certain";
  const each = Math.ceil(((writeQuorum - ackQuorum + 1) * ensembleSize) / writeQuorum);
  return capacities.filter((capacity) => capacity >= each).length >= minRegions ? "certain" : "open";
}

/** The most bookies of which no m - 1 regions have more than `bound`. */
function largestEnsemble(capacities: readonly number[], bound: number, minRegions: number): number {
  const sumOf = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0);
  const top = (values: readonly number[], many: number) =>
    sumOf([...values].sort((one, other) => other - one).slice(0, many));
  let largest = 0;
  for (let level = 0; level <= Math.floor(bound / (minRegions - 1)); level++) {
    const cut = capacities.map((capacity) => Math.min(capacity, level));
    const beyond = capacities.map((capacity) => Math.max(0, capacity - level));
    const extra = Math.min(bound - top(cut, minRegions - 1), top(beyond, minRegions - 2));
    largest = Math.max(largest, sumOf(cut) + extra);
  }
  return largest;
}

function checkPlaced(
  ensemble: readonly BookieAddress[],
  { replication, quarantined }: EnsembleRequest,
  usable: readonly BookieAddress[],
): void {
  const { ensembleSize } = replication;
  checkLegal(ensemble, replication);
  const ids = new Set(usable.map(({ id }) => id));
  expectThat(ensemble.length === ensembleSize, "the ensemble has another size");
  expectThat(new Set(ensemble.map(({ id }) => id)).size === ensembleSize, "a bookie stands twice");
  expectThat(
    ensemble.every(({ id }) => ids.has(id)),
    "a bookie was barred",
  );
  const ofRegion = ({ place }: BookieAddress) => place.region;
  // Quarantined bookies that could be done without were not there to choose from.
  const members = new Set(ensemble.map(({ id }) => id));
  const pool = usable.filter(({ id }) => quarantined?.has(id) !== true || members.has(id));
  if (replication.writeQuorum === ensembleSize || replication.minRegions === 1) {
    checkFair(tallyBy(ensemble, ofRegion), tallyBy(pool, ofRegion), "regions");
  }
  for (const name of new Set(ensemble.map(ofRegion))) checkRacks(name, ensemble, pool);
}

/** Even counts over racks, and a copy next to another of its rack only where there is no way around it. */
function checkRacks(
  name: Region,
  ensemble: readonly BookieAddress[],
  usable: readonly BookieAddress[],
): void {
  const ofRack = ({ place }: BookieAddress) => place.rack;
  const copies = ensemble.filter(({ place }) => place.region === name);
  const counts = tallyBy(copies, ofRack);
  const spare = usable.filter(({ place }) => place.region === name);
  const most = Math.max(...counts.values());
  checkFair(counts, tallyBy(spare, ofRack), `racks of ${name}`);
  const racks = copies.map(ofRack);
  const clashes = racks.filter((rack, index) => rack === racks[(index + 1) % racks.length]).length;
  const unavoidable = Math.max(0, 2 * most - racks.length);
  expectThat(racks.length === 1 || clashes === unavoidable, `racks of ${name} clash: ${racks}`);
}

function checkFair<T>(
  counts: ReadonlyMap<T, number>,
  capacities: ReadonlyMap<T, number>,
  what: string,
): void {
  const most = Math.max(...counts.values());
  for (const [one, capacity] of capacities) {
    const count = counts.get(one) ?? 0;
    expectThat(count >= most - 1 || count === capacity, `${what} are uneven: ${one} has ${count} of ${most}`);
  }
}

/** By the checker and, apart from it, by counting. */
function checkLegal(ensemble: readonly BookieAddress[], sizes: Replication): void {
  const check = checkEnsemble(ensemble, sizes);
  expectThat(check.kind === "legal", check.kind === "illegal" ? check.reason : "");
  const names = [...new Set(ensemble.map(({ place }) => place.region))];
  const ring = ensemble.map(({ place }) => names.indexOf(place.region));
  const load = heaviest(ring, sizes.writeQuorum, sizes.minRegions - 1);
  expectThat(sizes.minRegions === 1 || load < sizes.ackQuorum, `a write set has ${load} in m - 1 regions`);
}

function replaceSome(
  random: SeededRandom,
  request: EnsembleRequest,
  ensemble: readonly BookieAddress[],
  counts: CaseCounts,
): void {
  const victim = random.pick(ensemble);
  const drains = random.chance(0.4);
  const positions = drains
    ? [...ensemble.keys()].filter((position) => ensemble[position]?.place.region === victim.place.region)
    : random.shuffled([...ensemble.keys()]).slice(0, random.integer(1, 2));
  const regionStates = new Map(request.regionStates);
  if (drains) regionStates.set(victim.place.region, "draining");
  const spare = request.candidates.filter(({ id }) => !ensemble.some((member) => member.id === id));
  const retired = new Set<BookieId>(spare.filter(() => random.chance(0.1)).map(({ id }) => id));
  const changed = { ...request, regionStates, retired, positions, fragment: fragment(ensemble) };
  const answer = replaceBookies(changed);
  const fresh = usableOf(changed).filter(({ id }) => spare.some((one) => one.id === id) && !retired.has(id));
  if (answer.kind === "refused") {
    expectThat(!canFillPair(ensemble, positions, fresh, request.replication), answer.reason);
    counts.replacementsRefused++;
    return;
  }
  checkLegal(answer.ensemble, request.replication);
  answer.ensemble.forEach((member, position) => {
    const isFresh = fresh.some(({ id }) => id === member.id);
    expectThat(
      positions.includes(position) ? isFresh : member === ensemble[position],
      `position ${position}`,
    );
  });
  counts.replaced++;
}

/**
 * Whether there is a filling, where that is quickly decided: with E = Qw and m <= 2 regions only have their own
 * bound each, and one or two positions are tried out.
 */
function canFillPair(
  ensemble: readonly BookieAddress[],
  positions: readonly number[],
  fresh: readonly BookieAddress[],
  sizes: Replication,
): boolean {
  const ofRegion = ({ place }: BookieAddress) => place.region;
  const spare = tallyBy(fresh, ofRegion);
  if (sizes.writeQuorum === sizes.ensembleSize && sizes.minRegions <= 2) {
    const bound = sizes.minRegions === 1 ? sizes.ensembleSize : sizes.ackQuorum - 1;
    const staying = tallyBy(
      ensemble.filter((_, position) => !positions.includes(position)),
      ofRegion,
    );
    const room = [...spare].map(([name, many]) => Math.min(many, bound - (staying.get(name) ?? 0)));
    return room.reduce((sum, many) => sum + Math.max(0, many), 0) >= positions.length;
  }
  if (positions.length > 2) return false;
  const names = [...new Set([...ensemble, ...fresh].map(ofRegion))];
  const ring = ensemble.map((member) => names.indexOf(ofRegion(member)));
  const options = names.flatMap((name, index) => ((spare.get(name) ?? 0) > 0 ? [{ name, index }] : []));
  return options.some((one) =>
    options.some((other) => {
      if (one === other && positions.length === 2 && (spare.get(one.name) ?? 0) < 2) return false;
      const [first = 0, second = first] = positions;
      const filled = ring.with(second, other.index).with(first, one.index);
      return heaviest(filled, sizes.writeQuorum, sizes.minRegions - 1) < sizes.ackQuorum;
    }),
  );
}

function tallyBy<T>(bookies: readonly BookieAddress[], nameOf: (bookie: BookieAddress) => T): Map<T, number> {
  const counts = new Map<T, number>();
  for (const one of bookies) counts.set(nameOf(one), (counts.get(nameOf(one)) ?? 0) + 1);
  return counts;
}

function expectThat(condition: boolean, message: string): void {
  if (!condition) throw new Error(message);
}
