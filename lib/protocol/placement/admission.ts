/**
 * Whether a log may have these quorum sizes in this topology: asked once, when it is created.
 *
 * AD1 The smallest legal ack quorum is Qw + 1 - floor(Qw * floor(E / m) / E) for m regions, m >= 2: the
 *     poorest of m regions has at most floor(E / m) bookies, so some write set holds at most floor(Qw *
 *     floor(E / m) / E) of them, and the sector ring holds as many in all. For m = 1 it is 1. Sizes alone
 *     decide this: a log outlives any topology, and when only m regions are left it must still be placed.
 * AD2 Besides, there must be an ensemble with all of the topology's bookies at hand.
 * AD3 That m regions which survive could not host an ensemble is a warning: bookies come and go, sizes do
 *     not. With exactly m regions, each must give ceil((Qw - Qa + 1) * E / Qw) bookies, and all together E;
 *     for a legal ack quorum that is enough (SR3). With m = 1 the region needs E.
 */

import type { Region } from "../ids.ts";
import type { Topology } from "../ports.ts";
import { isKnownRegion, type Replication } from "../replication.ts";
import { type Arrangement, arrangeRegions } from "./arrange-regions.ts";
import type { RegionCount } from "./placement.ts";
import { combinations, heaviestLoad, type Ring } from "./ring.ts";
import { countByRegion, describeCounts, usableBookies } from "./usable-bookies.ts";

/** 64 fragments that name 60 members at about 100 bytes each just fit a metadata item of 400 KB. */
export const ensembleSizeMax = 60;

interface Accepted {
  readonly kind: "accepted";
  readonly smallestAckQuorum: number;
  /** AD3; empty if every survivor set can host the log. */
  readonly warnings: readonly string[];
  readonly availability: AvailabilityBand;
  readonly degradedSurvivorSets: SurvivorSets;
}

export interface AdmissionRefusal {
  readonly kind: "refused";
  /** What was given, what is allowed and what to do. */
  readonly reason: string;
  /** Any of these could be changed to be accepted; `topology` stands for its regions and bookies. */
  readonly change: readonly (keyof Replication | "topology")[];
  /** The smallest legal ack quorum, where the other sizes allow one. */
  readonly smallestAckQuorum?: number;
}

export type Admission = Accepted | AdmissionRefusal;

type Sizes = Pick<Replication, "ensembleSize" | "writeQuorum" | "minRegions">;

/** AD1: the number, or why there is none. */
export function smallestAckQuorum(sizes: Sizes): number | AdmissionRefusal {
  const { ensembleSize, writeQuorum, minRegions } = sizes;
  const refusal = outOfRange("ensembleSize", ensembleSize) ?? outOfRange("writeQuorum", writeQuorum);
  if (refusal !== undefined) return refusal;
  if (ensembleSize < writeQuorum) {
    const reason =
      `ensembleSize ${ensembleSize} is below writeQuorum ${writeQuorum}: an entry cannot go to more ` +
      `bookies than the ensemble has; raise ensembleSize to ${writeQuorum} or lower writeQuorum to ` +
      `${ensembleSize}`;
    return { kind: "refused", reason, change: ["ensembleSize", "writeQuorum"] };
  }
  const beyond = outOfRange("minRegions", minRegions);
  if (beyond !== undefined) return beyond;
  if (minRegions === 1) return 1;
  const poorest = copiesOfPoorest(sizes);
  return poorest >= 1 ? writeQuorum + 1 - poorest : noAckQuorum(sizes);
}

/**
 * Accepts or refuses `replication` for a topology given as bookies by region; unknown regions do not count.
 */
export function admit(replication: Replication, topology: readonly RegionCount[]): Admission {
  const smallest = smallestAckQuorum(replication);
  if (typeof smallest !== "number") return smallest;
  const malformed = malformedTopology(topology);
  if (malformed !== undefined) return malformed;
  const regions = topology.filter(({ region }) => isKnownRegion(region));
  const known = regions.map(({ bookies }) => bookies);
  const illegal = tooFewRegions(replication, regions) ?? illegalAckQuorum(replication, smallest);
  if (illegal !== undefined) return { ...illegal, smallestAckQuorum: smallest };
  const arrangement = arrangeRegions({ known, unresolved: 0 }, replication);
  if (arrangement.kind !== "ring") {
    return { ...noRoom(arrangement.kind, replication, regions), smallestAckQuorum: smallest };
  }
  const degradedSurvivorSets = survivorSets(regions, replication);
  return {
    kind: "accepted",
    smallestAckQuorum: smallest,
    warnings: warnOfSurvivors(degradedSurvivorSets),
    availability: availabilityBand(arrangement.ring, regions.length, replication, smallest),
    degradedSurvivorSets,
  };
}

/** Copies that the poorest of m regions is sure to have in the write set that has fewest of them. */
function copiesOfPoorest({ ensembleSize, writeQuorum, minRegions }: Sizes): number {
  return Math.floor((writeQuorum * Math.floor(ensembleSize / minRegions)) / ensembleSize);
}

function outOfRange(name: keyof Replication, value: number): AdmissionRefusal | undefined {
  if (Number.isSafeInteger(value) && value >= 1 && value <= ensembleSizeMax) return undefined;
  const reason = `${name} is ${value}; it must be a whole number from 1 to ${ensembleSizeMax}`;
  return { kind: "refused", reason, change: [name] };
}

/**
 * Names, for each size by itself, the nearest value with which there is a legal ack quorum; E = Qw = m has.
 */
function noAckQuorum(sizes: Sizes): AdmissionRefusal {
  const { ensembleSize, writeQuorum, minRegions } = sizes;
  const names = ["ensembleSize", "writeQuorum", "minRegions"] as const;
  const remedies = names.flatMap((name) => nearest(sizes, name) ?? []);
  const both = ensembleSize < minRegions ? [`ensembleSize and writeQuorum ${minRegions}`] : [];
  const what = [...remedies.map(({ name, value }) => `${name} ${value}`), ...both].join(", ");
  const change = new Set(remedies.map(({ name }) => name));
  if (both.length > 0) change.add("ensembleSize").add("writeQuorum");
  const reason =
    `no ack quorum is legal with ensembleSize ${ensembleSize}, writeQuorum ${writeQuorum} and minRegions ` +
    `${minRegions}: placed on ${minRegions} regions, some write set would have no copy in one of them; ` +
    `one of these helps: ${what}`;
  return { kind: "refused", reason, change: [...change] };
}

function nearest(sizes: Sizes, name: keyof Sizes) {
  for (let distance = 1; distance <= ensembleSizeMax; distance++) {
    // More copies and fewer regions are what helps; an ensemble may help either way.
    const values = { ensembleSize: [-distance, distance], writeQuorum: [distance], minRegions: [-distance] };
    for (const step of values[name]) {
      const value = sizes[name] + step;
      const changed = { ...sizes, [name]: value };
      const isValid = value >= 1 && value <= ensembleSizeMax && changed.ensembleSize >= changed.writeQuorum;
      if (isValid && (changed.minRegions === 1 || copiesOfPoorest(changed) >= 1)) return { name, value };
    }
  }
  return undefined;
}

function tooFewRegions(
  { minRegions }: Replication,
  regions: readonly RegionCount[],
): AdmissionRefusal | undefined {
  if (regions.length >= minRegions) return undefined;
  const reason =
    `minRegions ${minRegions} is more than the ${regions.length} regions of the topology ` +
    `(${describeCounts(regions)}); lower minRegions or add regions`;
  return { kind: "refused", reason, change: ["minRegions", "topology"] };
}

function illegalAckQuorum(replication: Replication, smallest: number): AdmissionRefusal | undefined {
  const { ensembleSize, writeQuorum, ackQuorum, minRegions } = replication;
  if (Number.isSafeInteger(ackQuorum) && ackQuorum >= smallest && ackQuorum <= writeQuorum) return undefined;
  const sizes = `ensembleSize ${ensembleSize}, writeQuorum ${writeQuorum} and minRegions ${minRegions}`;
  const allowed =
    smallest === writeQuorum
      ? `must be ${smallest}`
      : `must be at least ${smallest} and at most ${writeQuorum}`;
  const why =
    ackQuorum < smallest
      ? `: placed on ${minRegions} regions, ${ackQuorum} copies could lie in fewer than ${minRegions}`
      : "";
  const reason = `ackQuorum is ${ackQuorum}; with ${sizes} it ${allowed}${why}`;
  return { kind: "refused", reason, change: ["ackQuorum"] };
}

function malformedTopology(topology: readonly RegionCount[]): AdmissionRefusal | undefined {
  const names = topology.map(({ region }) => region);
  const twice = names.find((name, index) => names.indexOf(name) < index);
  const odd = topology.find(({ bookies }) => !Number.isSafeInteger(bookies) || bookies < 0);
  if (twice === undefined && odd === undefined) return undefined;
  const reason =
    twice !== undefined
      ? `the topology names ${twice} twice; name each region once, with all its bookies`
      : `the topology gives ${odd?.region} ${odd?.bookies} bookies; it must be a whole number from 0`;
  return { kind: "refused", reason, change: ["topology"] };
}

/** AD2 */
function noRoom(
  why: Exclude<Arrangement["kind"], "ring">,
  replication: Replication,
  regions: readonly RegionCount[],
): AdmissionRefusal {
  const { ensembleSize, writeQuorum, ackQuorum, minRegions } = replication;
  const total = regions.reduce((sum, { bookies }) => sum + bookies, 0);
  const ensemble = `an ensemble of ${ensembleSize} with writeQuorum ${writeQuorum}`;
  const explained = {
    "too-few": `has ${total} bookies for an ensemble of ${ensembleSize}`,
    "too-concentrated":
      `has too many of its bookies in ${minRegions - 1} of its regions: however ${ensemble} is spread, ` +
      `${ackQuorum} copies of some entry could lie in fewer than ${minRegions}`,
    "not-found": `has no arrangement, as far as was searched, in which ${ensemble} keeps its promise`,
  }[why];
  const reason =
    `the topology (${describeCounts(regions)}) ${explained}; add bookies where they are fewest, or lower ` +
    `ensembleSize and writeQuorum`;
  return { kind: "refused", reason, change: ["topology", "ensembleSize", "writeQuorum"] };
}

/**
 * What a lost region does to writes before the ensemble changes. They go on in the same ensemble while every
 * write set keeps an ack quorum: Qa <= Qw less what the lost regions held of it. A longer loss than that is
 * survived all the same, by an ensemble change, after a short stall.
 */
interface AvailabilityBand {
  /** The smallest ack quorum that is legal while all regions are there. */
  readonly steadyAckQuorumMin: number;
  /** The smallest that is legal at all, since it must hold with minRegions regions left. */
  readonly degradedAckQuorumMin: number;
  /** The largest with which writes go on in place when any one region is lost. */
  readonly oneLossAckQuorumMax: number;
  /** The same when all but minRegions regions are lost at once. */
  readonly allLossesAckQuorumMax: number;
  /** Regions that this ack quorum can lose at once without a stall, minRegions being kept. */
  readonly lossesInPlace: number;
}

/** `ring` is an ensemble as it is placed with all bookies at hand, over `regions` regions. */
function availabilityBand(
  ring: Ring,
  regions: number,
  replication: Replication,
  degradedAckQuorumMin: number,
): AvailabilityBand {
  const { writeQuorum, ackQuorum, minRegions } = replication;
  const held = (lost: number) => (lost === 0 ? 0 : heaviestLoad(ring, writeQuorum, regions, lost));
  const lossesMax = regions - minRegions;
  let lossesInPlace = 0;
  while (lossesInPlace < lossesMax && ackQuorum <= writeQuorum - held(lossesInPlace + 1)) lossesInPlace++;
  return {
    steadyAckQuorumMin: held(minRegions - 1) + 1,
    degradedAckQuorumMin,
    oneLossAckQuorumMax: writeQuorum - held(1),
    allLossesAckQuorumMax: writeQuorum - held(lossesMax),
    lossesInPlace,
  };
}

// ---------- AD3

interface SurvivorSets {
  /** Sets of minRegions regions that there are. */
  readonly total: number;
  /** How many of them could not host the log. */
  readonly unfit: number;
  /** Some of those, the weakest first: all of them if they are few. */
  readonly examples: readonly (readonly Region[])[];
  /** What each region of a set must have, and all of them together. */
  readonly bookiesPerRegion: number;
  readonly bookiesTogether: number;
}

const examplesMax = 8;
/** Sets looked at for examples: there may be millions, and the weakest come first. */
const setsLookedAtMax = 5_000;

function survivorSets(topology: readonly RegionCount[], replication: Replication): SurvivorSets {
  const { ensembleSize, writeQuorum, ackQuorum, minRegions } = replication;
  const bookiesPerRegion =
    minRegions <= 1 ? 0 : Math.ceil(((writeQuorum - ackQuorum + 1) * ensembleSize) / writeQuorum);
  const isFit = (set: readonly RegionCount[]) =>
    set.every(({ bookies }) => bookies >= bookiesPerRegion) &&
    set.reduce((sum, { bookies }) => sum + bookies, 0) >= ensembleSize;
  const eligible = topology.map(({ bookies }) => bookies).filter((bookies) => bookies >= bookiesPerRegion);
  const total = setsOf(new Array(topology.length).fill(0), minRegions, 0);
  const unfit = total - setsOf(eligible, minRegions, ensembleSize);
  // Weakest regions first, so that what is unfit comes early.
  const sorted = [...topology].sort(
    (one, other) => one.bookies - other.bookies || (one.region < other.region ? -1 : 1),
  );
  const examples: Region[][] = [];
  let lookedAt = 0;
  for (const set of combinations(sorted, minRegions)) {
    if (examples.length >= Math.min(unfit, examplesMax) || lookedAt++ >= setsLookedAtMax) break;
    if (!isFit(set)) examples.push(set.map(({ region }) => region).sort());
  }
  return { total, unfit, examples, bookiesPerRegion, bookiesTogether: ensembleSize };
}

/** One sentence, or none if every set is fit. */
function warnOfSurvivors(sets: SurvivorSets): readonly string[] {
  if (sets.unfit === 0) return [];
  const names = sets.examples.map((set) => set.join(" and ")).join("; ");
  const more = sets.unfit > sets.examples.length ? "; and others" : "";
  const { unfit, total, bookiesPerRegion, bookiesTogether } = sets;
  return [
    `${unfit} of ${total} smallest sets of surviving regions cannot host the log (${names}${more}): each ` +
      `region needs ${bookiesPerRegion} usable bookies, all together ${bookiesTogether}`,
  ];
}

/** How many sets of `size` of the capacities add up to `least`; counted without listing them. */
function setsOf(capacities: readonly number[], size: number, least: number): number {
  // sets[n][s]: sets of n capacities whose sum is s, sums beyond `least` taken for `least`.
  const sets = Array.from({ length: size + 1 }, () => new Array<number>(least + 1).fill(0));
  sets[0]?.splice(0, 1, 1);
  for (const capacity of capacities) {
    for (let many = size; many >= 1; many--) {
      const without = sets[many - 1] ?? [];
      const row = sets[many] ?? [];
      without.forEach((count, sum) => {
        const reached = Math.min(least, sum + capacity);
        row[reached] = (row[reached] ?? 0) + count;
      });
    }
  }
  return sets[size]?.[least] ?? 0;
}

// ---------- The topology as a process knows it

/** What a new log's creator learns of its quorum sizes. */
export type LogAdmission = Pick<Accepted, "kind" | "warnings"> | AdmissionRefusal;

export type AskAdmission = (replication: Replication, topology: Topology) => LogAdmission;

/**
 * Bookies that are read-only or lost, and those of regions that are draining or lost, do not count: a log
 * that could not be placed without them would be accepted to no use. A refusal says whom it left out.
 */
export const admitLog: AskAdmission = (replication, topology) => {
  const candidates = topology.bookies();
  const states = topology.states?.();
  const known = states === undefined ? {} : { bookieStates: states.bookies, regionStates: states.regions };
  const usable = usableBookies({ candidates, ...known }).sound;
  const answer = admit(replication, countByRegion(usable));
  const leftOut = candidates.filter((candidate) => !usable.includes(candidate));
  if (answer.kind === "accepted" || leftOut.length === 0 || !answer.change.includes("topology"))
    return answer;
  const names = leftOut.map(({ id }) => id).join(", ");
  return {
    ...answer,
    reason: `${answer.reason}; not counted, because of their or their region's state: ${names}`,
  };
};
