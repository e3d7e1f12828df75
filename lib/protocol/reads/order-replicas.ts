/**
 * The order in which the replicas of a write set are asked: always a permutation of the write set.
 *
 *   1st     the nearest, at random among equals; of two drawn the better one
 *   2nd     the nearest in another rack than the 1st
 *   3rd     the nearest in another region than the 1st and, if possible, than the 2nd
 *   then    the classes in turn, nearest first
 *
 * Health counts within a class first: suspects and far slower replicas come last in their class, and one of
 * them falls behind the next class only when its predicted latency exceeds that class's. A whole class is
 * passed over only when its median is really worse. Ranks 2 and 3 go to no suspect while anyone else is left.
 */
import type { Region } from "../ids.ts";
import { type Random, shuffled } from "../random.ts";
import type { BookieAddress, DistanceClass, Place } from "../replication.ts";
import type { BookieHealth } from "./bookie-health.ts";
import type { ClassLatency } from "./class-latency.ts";
import { readLimits } from "./read-limits.ts";

/** What is known of a distance class. */
export type ClassView = Pick<ClassLatency, "typicalMs" | "medianMs" | "silenceMs" | "isStrained">;

/** What is known of a replica. */
export type ReplicaView = Pick<
  BookieHealth,
  "isSuspect" | "isInDoubt" | "averageMs" | "inFlight" | "predictedMs"
>;

export interface ReaderView {
  readonly place: ReaderPlace;
  readonly random: Random;
  classView(distance: DistanceClass): ClassView;
  replicaView(bookie: BookieAddress): ReplicaView;
}

export interface ReplicaOrder {
  readonly order: readonly BookieAddress[];
  /** Suspects, those in doubt, and one of each class that no read asks but perhaps should: for probes. */
  readonly sidelined: readonly BookieAddress[];
}

interface Replica {
  readonly bookie: BookieAddress;
  readonly health: ReplicaView;
  readonly predictedMs: number;
  /** The prediction, made longer by the queue before it. */
  readonly waitMs: number;
}

/** Replicas of about the same distance: the healthy ones in no order, then the demoted, best first. */
interface Tier {
  readonly distance: DistanceClass;
  readonly view: ClassView;
  readonly healthy: Replica[];
  readonly demoted: Replica[];
  isPassedOver: boolean;
}

export function orderReplicas(writeSet: readonly BookieAddress[], view: ReaderView): ReplicaOrder {
  const tiers = tiersOf(writeSet, view);
  if (!isOrientated(view.place, tiers)) return inWriteSetOrder(writeSet, tiers);
  passOver(tiers);
  const sidelined = tiers.flatMap((tier) => [...doubtfulOf(tier), ...scoutsOf(tier, tiers[0])]);
  sendBehind(tiers);
  return { order: rank(tiers).map(addressOf), sidelined: sidelined.map(addressOf) };
}

function doubtfulOf(tier: Tier): Replica[] {
  return [...tier.demoted, ...tier.healthy].filter(({ health }) => health.isSuspect || health.isInDoubt);
}

/** One healthy replica, if nobody asks the class now and yet it matters how it does. */
function scoutsOf(tier: Tier, head: Tier | undefined): Replica[] {
  const isUnknownWay = head?.view.isStrained === true && tier.view.typicalMs === undefined;
  if (!tier.isPassedOver && !isUnknownWay) return [];
  return tier.healthy.filter(({ health }) => !health.isInDoubt).slice(0, 1);
}

const addressOf = (replica: Replica): BookieAddress => replica.bookie;

/** By class, nearest first; an unknown region comes before the known ones, so that it gets known. */
function tiersOf(writeSet: readonly BookieAddress[], view: ReaderView): Tier[] {
  const byClass = new Map<DistanceClass, BookieAddress[]>();
  for (const bookie of shuffled(view.random, writeSet)) {
    const distance = distanceClass(view.place, bookie.place);
    const members = byClass.get(distance);
    if (members === undefined) byClass.set(distance, [bookie]);
    else members.push(bookie);
  }
  return [...byClass]
    .map(([distance, members]) => tierOf(distance, members, view))
    .sort(
      (one, other) =>
        distanceRank(one.distance) - distanceRank(other.distance) ||
        (one.view.typicalMs ?? 0) - (other.view.typicalMs ?? 0),
    );
}

function tierOf(distance: DistanceClass, members: readonly BookieAddress[], view: ReaderView): Tier {
  const classView = view.classView(distance);
  const healths = members.map((bookie) => ({ bookie, health: view.replicaView(bookie) }));
  const averages = healths.flatMap(({ health }) => health.averageMs ?? []);
  const usualMs = classView.typicalMs ?? (averages.length > 0 ? Math.min(...averages) : 1);
  const meanInFlight = healths.reduce((sum, { health }) => sum + health.inFlight, 0) / healths.length;
  const replicas = healths.map(({ bookie, health }): Replica => {
    const predictedMs = health.predictedMs(usualMs, classView.silenceMs);
    const queue = health.inFlight / (readLimits.queueScale + meanInFlight);
    return { bookie, health, predictedMs, waitMs: predictedMs * (1 + queue) ** 3 };
  });
  const bestWaitMs = Math.min(...replicas.map((replica) => replica.waitMs));
  const isDemoted = ({ health, waitMs }: Replica) =>
    health.isSuspect || waitMs > readLimits.slowFactor * bestWaitMs;
  return {
    distance,
    view: classView,
    healthy: replicas.filter((replica) => !isDemoted(replica)),
    demoted: replicas.filter(isDemoted).sort(byPrediction),
    isPassedOver: false,
  };
}

const byPrediction = (one: Replica, other: Replica): number => one.predictedMs - other.predictedMs;

/** Whether anything says which replica is nearer. */
function isOrientated(place: ReaderPlace, tiers: readonly Tier[]): boolean {
  if (place.region === undefined) return false;
  const isRemote = (tier: Tier) => distanceRank(tier.distance) === 2;
  return tiers.length < 2 || tiers.some((tier) => !isRemote(tier) || tier.view.typicalMs !== undefined);
}

/** The write set rotates from entry to entry, which spreads the load as well as chance would. */
function inWriteSetOrder(writeSet: readonly BookieAddress[], tiers: readonly Tier[]): ReplicaOrder {
  const predictedMs = new Map(
    tiers.flatMap((tier) => tier.demoted.map((replica) => [replica.bookie, replica.predictedMs])),
  );
  const demoted = writeSet.filter((bookie) => predictedMs.has(bookie));
  demoted.sort((one, other) => (predictedMs.get(one) ?? 0) - (predictedMs.get(other) ?? 0));
  return {
    order: [...writeSet.filter((bookie) => !predictedMs.has(bookie)), ...demoted],
    sidelined: tiers.flatMap(doubtfulOf).map(addressOf),
  };
}

/** Moves a class behind the next one while its present median is really worse than the other's. */
function passOver(tiers: Tier[]): void {
  for (let at = tiers.length - 2; at >= 0; at--) {
    for (let next = at; next + 1 < tiers.length; next++) {
      const [near, far] = [tiers[next], tiers[next + 1]];
      if (near === undefined || far === undefined || !isReallyWorse(near, far)) break;
      near.isPassedOver = true;
      [tiers[next], tiers[next + 1]] = [far, near];
    }
  }
}

function isReallyWorse(near: Tier, far: Tier): boolean {
  const { medianMs } = near.view;
  const { typicalMs } = far.view;
  if (medianMs === undefined || typicalMs === undefined || far.healthy.length === 0) return false;
  return medianMs > readLimits.passOverFactor * typicalMs;
}

/** Sends each demoted replica behind the classes that will answer sooner than it. */
function sendBehind(tiers: readonly Tier[]): void {
  for (let at = 0; at + 1 < tiers.length; at++) {
    const [near, far] = [tiers[at], tiers[at + 1]];
    if (near === undefined || far === undefined || far.healthy.length === 0) continue;
    const leaving = new Set(near.demoted.filter((replica) => isSlowerThan(replica, far)));
    if (leaving.size === 0) continue;
    near.demoted.splice(0, near.demoted.length, ...near.demoted.filter((one) => !leaving.has(one)));
    far.demoted.push(...leaving);
    far.demoted.sort(byPrediction);
  }
}

/** Of a class that nobody has asked yet more is to be hoped for than of a suspect. */
function isSlowerThan({ health, predictedMs }: Replica, { view }: Tier): boolean {
  return view.typicalMs === undefined ? health.isSuspect : predictedMs > view.typicalMs;
}

function rank(tiers: readonly Tier[]): Replica[] {
  const order: Replica[] = [];
  const isFree = (replica: Replica) => !order.includes(replica);
  const take = (replica: Replica | undefined): boolean => {
    if (replica !== undefined) order.push(replica);
    return replica !== undefined;
  };
  const answering = tiers.flatMap((tier) => [
    tier.healthy,
    tier.demoted.filter((one) => !one.health.isSuspect),
  ]);
  const nearestWhere = (fits: (replica: Replica) => boolean) =>
    betterOfTwo(answering.map((members) => members.filter((one) => isFree(one) && fits(one))));

  const head = tiers.find((tier) => tier.healthy.length + tier.demoted.length > 0);
  const first = betterOfTwo([head?.healthy ?? [], head?.demoted ?? []]);
  if (first === undefined) return order;
  take(first);
  const otherRegion = (from: Replica) => (one: Replica) =>
    one.bookie.place.region !== from.bookie.place.region;
  const otherRack = (one: Replica) => !sameRack(one.bookie.place, first.bookie.place);
  // What slows the whole class down is not left behind in the next rack.
  take(nearestWhere(head?.view.isStrained === true ? otherRegion(first) : otherRack));
  const second = order[1] ?? first;
  const isThird = (one: Replica) => otherRegion(first)(one) && otherRegion(second)(one);
  const hasCrossed = take(nearestWhere(isThird)) || otherRegion(first)(second);
  if (!hasCrossed) take(nearestWhere(otherRegion(first)));
  return [...order, ...inTurn(tiers.map((tier) => [...tier.healthy, ...tier.demoted].filter(isFree)))];
}

/** Of the first two of the nearest class that has any: the one that should answer sooner. */
function betterOfTwo(classes: readonly (readonly Replica[])[]): Replica | undefined {
  const [one, other] = classes.find((members) => members.length > 0) ?? [];
  if (one === undefined || other === undefined) return one;
  return one.waitMs > readLimits.equalFactor * other.waitMs ? other : one;
}

/** One of each class in turn, so that no lost region holds up the read for long. */
function inTurn(classes: readonly Replica[][]): Replica[] {
  const order: Replica[] = [];
  for (let turn = 0; classes.some((members) => members.length > turn); turn++) {
    order.push(...classes.flatMap((members) => members[turn] ?? []));
  }
  return order;
}

/** Where the reader runs, as far as it knows: a function knows its region, seldom its rack. */
export interface ReaderPlace {
  readonly region?: Region;
  readonly rack?: string;
}

export function distanceClass(reader: ReaderPlace, place: Place): DistanceClass {
  if (place.region !== reader.region) return `region ${place.region}`;
  return place.rack === reader.rack ? "same-rack" : "same-region";
}

/** 0 and 1 within the reader's region, 2 for every other region; latency distinguishes those. */
export function distanceRank(distance: DistanceClass): number {
  if (distance === "same-rack") return 0;
  return distance === "same-region" ? 1 : 2;
}

/** A rack is known by its name within its region. */
function sameRack(one: Place, other: Place): boolean {
  return one.region === other.region && one.rack === other.rack;
}
