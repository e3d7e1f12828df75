/**
 * What one process knows about reading from bookies, and how it decides by it: whom to ask first, when to
 * hedge, when silence is long enough, what may be spent. One object serves every read of the process.
 *
 * RPL1 Hedges and probes never exceed what reads have earned (B = 5 %), whatever latencies do.
 * RPL2 Nothing here is older than it says: sketches empty themselves, averages fade, suspicion lapses (LK1,
 *      BH3, BH4), so that a function thawed after an hour starts like a new one.
 * RPL3 No timer is ever left behind here; probes that hang are found out by the next read.
 */

import { BoundedMap } from "../bounded-map.ts";
import { Age, type Clock } from "../deadline.ts";
import type { BookieId } from "../ids.ts";
import type { Random } from "../random.ts";
import type { BookieAddress, DistanceClass } from "../replication.ts";
import { CallAbort } from "../waiting.ts";
import { type BookieHealth, BookieHealths } from "./bookie-health.ts";
import { type CallKind, ClassLatency, type Survival } from "./class-latency.ts";
import {
  distanceClass,
  distanceRank,
  orderReplicas,
  type ReaderPlace,
  type ReplicaOrder,
} from "./order-replicas.ts";
import { ReadAttempt } from "./read-attempt.ts";
import { ReadCounters } from "./read-counters.ts";
import { readLimits } from "./read-limits.ts";

interface ReadPolicyPorts {
  readonly clock: Clock;
  readonly random: Random;
  readonly place: ReaderPlace;
  /** What the process knows of bookies, if writes of the same process ask and observe, too. */
  readonly health?: BookieHealths;
}

/** A request to a sidelined replica that no read waits for. */
export interface Probe {
  readonly bookie: BookieAddress;
  readonly attempt: ReadAttempt;
  readonly abort: CallAbort;
}

interface Delays {
  readonly age: Age;
  readonly delaysMs: readonly number[];
}

export class ReadPolicy {
  readonly clock: Clock;
  readonly counters = new ReadCounters();
  readonly hedgeBudget: TokenBucket;
  readonly retryBudget: TokenBucket;
  readonly #classes = new Map<`${CallKind} ${DistanceClass}`, ClassLatency>();
  readonly #bookies: BookieHealths;
  readonly #probes = new Map<BookieId, Probe>();
  readonly #delays = new BoundedMap<string, Delays>(readLimits.replicasMax);

  constructor(private readonly ports: ReadPolicyPorts) {
    this.clock = ports.clock;
    this.#bookies = ports.health ?? new BookieHealths(ports);
    this.hedgeBudget = hedgeBucket(ports.clock);
    this.retryBudget = retryBucket(ports.clock);
  }

  /** Whom to ask in which order; a permutation of `writeSet`. */
  order(writeSet: readonly BookieAddress[]): ReplicaOrder {
    const { place, random } = this.ports;
    const classView = (distance: DistanceClass) => this.latencies(distance);
    return orderReplicas(writeSet, { place, random, classView, replicaView: ({ id }) => this.health(id) });
  }

  /** When to hedge, in ms from the first request, if replicas are asked in this order. */
  hedgeDelays(order: readonly BookieAddress[], kind: CallKind = "read"): readonly number[] {
    const first = order[0];
    const asked = order.slice(0, readLimits.hedgesMax + 1);
    const steps = asked.map((bookie) => {
      const distance = this.distance(bookie);
      return { distance, cost: first === undefined ? 1 : this.cost(bookie, first) };
    });
    const key = `${kind} ${steps.map(({ distance, cost }) => `${distance} ${cost}`).join()}`;
    const known = this.#delays.get(key);
    if (known?.age.isWithin(readLimits.refreshMs) === true) return known.delaysMs;
    const delaysMs = hedgeDelays(
      steps.map(({ distance, cost }) => {
        const { survival, hedgeDefaultMs } = this.latencies(distance, kind).thresholds();
        return { survival, defaultMs: hedgeDefaultMs, cost };
      }),
    );
    this.#delays.set(key, { age: new Age(this.clock), delaysMs });
    return delaysMs;
  }

  /** A request to `bookie` goes out now; however it ends, the attempt must learn of it. */
  begin(bookie: BookieAddress, kind: CallKind = "read"): ReadAttempt {
    const distance = this.distance(bookie);
    const latencies = this.latencies(distance, kind);
    const ofReads = kind === "read" ? latencies : this.latencies(distance);
    return new ReadAttempt(this.clock, this.health(bookie.id), latencies, ofReads);
  }

  /** Whether reads avoid `bookie` at present. */
  isSuspect(bookie: BookieId): boolean {
    return this.health(bookie).isSuspect;
  }

  /** Whether it is known how long `bookie`, or others as far away, usually take. */
  isPaced(bookie: BookieAddress): boolean {
    return this.latencies(this.distance(bookie)).typicalMs !== undefined;
  }

  distance(bookie: BookieAddress): DistanceClass {
    return distanceClass(this.ports.place, bookie.place);
  }

  /** Whether asking `bookie` leaves both the reader's region and that of the replica asked first. */
  isFar(bookie: BookieAddress, first: BookieAddress): boolean {
    const isRemote = distanceRank(this.distance(bookie)) === 2;
    return isRemote && bookie.place.region !== first.place.region;
  }

  /** Tokens that a hedge or probe to `bookie` costs. */
  cost(bookie: BookieAddress, first: BookieAddress): number {
    return this.isFar(bookie, first) ? readLimits.crossRegionCost : 1;
  }

  /**
   * A sidelined replica whose turn to be tried it is, if that can be paid for; the caller sends the request.
   */
  nextProbe(sidelined: readonly BookieAddress[], first: BookieAddress): Probe | undefined {
    if (this.#probes.size > 0) this.#giveUpHungProbes();
    for (const bookie of sidelined) {
      if (bookie.id === first.id || this.#probes.has(bookie.id)) continue;
      const health = this.health(bookie.id);
      if (!health.isProbeDue) continue;
      if (!this.hedgeBudget.trySpend(this.cost(bookie, first))) return undefined;
      health.probed();
      const probe = { bookie, attempt: this.begin(bookie), abort: new CallAbort() };
      this.#probes.set(bookie.id, probe);
      this.counters.probes += 1;
      return probe;
    }
    return undefined;
  }

  /** The probe was answered, whatever with. */
  probeEnded(probe: Probe): void {
    if (this.#probes.get(probe.bookie.id) === probe) this.#probes.delete(probe.bookie.id);
  }

  latencies(distance: DistanceClass, kind: CallKind = "read"): ClassLatency {
    const key = `${kind} ${distance}` as const;
    const known = this.#classes.get(key);
    if (known !== undefined) return known;
    const latencies = new ClassLatency(this.clock);
    this.#classes.set(key, latencies);
    return latencies;
  }

  health(bookie: BookieId): BookieHealth {
    return this.#bookies.of(bookie);
  }

  /** Bookies whose health is remembered. */
  get replicasKnown(): number {
    return this.#bookies.size;
  }

  /** A probe has no timer of its own (RPL3). */
  #giveUpHungProbes(): void {
    for (const probe of this.#probes.values()) {
      if (probe.attempt.elapsedMs < probe.attempt.silenceMs) continue;
      this.#probes.delete(probe.bookie.id);
      probe.attempt.timedOut();
      probe.abort.abort();
    }
  }
}

// ---------- Hedge delays

export interface Step {
  /** Latencies of the class of the replica asked in this step; undefined if too little is known. */
  readonly survival: Survival | undefined;
  /** First hedge while too little is known, in ms. */
  readonly defaultMs: number;
  /** Tokens that this request costs as a hedge. */
  readonly cost: number;
}

const { hedgeBudget, hedgeDemand, hedgesMax, hedgeDelayMinMs, hedgeDelayMaxMs, hedgeGapMinMs } = readLimits;

/**
 * When to send the second request of a read, the third, and so on, counted from the first. The delay before
 * each is such that the n-th request is sent with probability at most B^(n-1): T(n+1) is the first moment at
 * which all n requests before it are still unanswered with probability at most B^n. A request that costs
 * several tokens is sent as much more rarely, so that each further step costs at most B times the one before.
 * And each request gets the time that one usually takes before the next is sent: what stalls them all for a
 * moment is not to be answered by all of them at once.
 *
 * In ms, increasing; at most `hedgesMax`, fewer if no more are worth it.
 */
export function hedgeDelays(steps: readonly Step[]): readonly number[] {
  const sentMs = [0];
  for (const step of steps.slice(1, hedgesMax + 1)) {
    const isFirst = sentMs.length === 1;
    const delayMs = isFirst ? firstHedge(steps[0], step.cost) : furtherHedge(steps, sentMs, step.cost);
    if (delayMs === undefined) break;
    sentMs.push(delayMs);
  }
  return sentMs.slice(1);
}

function firstHedge(first: Step | undefined, cost: number): number {
  if (first?.survival === undefined) return first?.defaultMs ?? readLimits.hedgeDelayDefaultMs;
  const delayMs = first.survival.quantile(1 - (hedgeBudget * hedgeDemand) / cost) ?? hedgeDelayMaxMs;
  return Math.min(hedgeDelayMaxMs, Math.max(hedgeDelayMinMs, delayMs));
}

function furtherHedge(steps: readonly Step[], sentMs: readonly number[], cost: number): number | undefined {
  const lastMs = sentMs.at(-1) ?? 0;
  const sent = steps.slice(0, sentMs.length);
  // Too little known: the gaps double.
  if (sent.some((step) => step.survival === undefined)) return 3 * lastMs - 2 * (sentMs.at(-2) ?? 0);
  const allowed = hedgeBudget ** sent.length / cost;
  const usualMs = sent.at(-1)?.survival?.quantile(0.5) ?? 0;
  for (
    let t = lastMs + Math.max(hedgeGapMinMs, usualMs);
    t <= readLimits.attemptTimeoutMs;
    t = Math.max(t * 1.02, t + 0.5)
  ) {
    const unanswered = sent.reduce(
      (product, step, index) => product * (step.survival?.beyond(t - (sentMs[index] ?? 0)) ?? 1),
      1,
    );
    if (unanswered <= allowed) return t;
  }
  return undefined;
}

// ---------- Budgets

/** Pays hedges and probes. Starts empty: a process that lives for one read hedges nothing. */
export function hedgeBucket(clock: Clock): TokenBucket {
  return new TokenBucket(clock, readLimits.hedgeBudget, 0);
}

/** Pays requests sent on because a bookie kept silent. */
export function retryBucket(clock: Clock): TokenBucket {
  return new TokenBucket(clock, readLimits.retryBudget, readLimits.retriesPerSecond);
}

/**
 * What extra requests are paid from. A bucket earns with every read and, some, with time; it may save what it
 * earns in ten seconds. Whatever the latencies do, no more is spent than was earned. Starts with a second's
 * worth.
 */
class TokenBucket {
  #tokens: number;
  #toppedUpMs: number;
  #windowStartedMs: number;
  #earnedNow = 0;
  #earnedBefore = 0;

  /** Earns so many tokens a read, and so many a second. */
  constructor(
    private readonly clock: Pick<Clock, "monotonicMs">,
    private readonly perRead: number,
    private readonly perSecond: number,
  ) {
    this.#tokens = perSecond;
    this.#toppedUpMs = clock.monotonicMs();
    this.#windowStartedMs = this.#toppedUpMs;
  }

  get tokens(): number {
    this.#topUp();
    return this.#tokens;
  }

  /** A read began. */
  earn(): void {
    this.#topUp();
    this.#add(this.perRead);
  }

  /** Takes `cost` tokens if they are there. */
  trySpend(cost: number): boolean {
    this.#topUp();
    if (this.#tokens + 1e-9 < cost) return false;
    this.#tokens = Math.max(0, this.#tokens - cost);
    return true;
  }

  #add(tokens: number): void {
    this.#earnedNow += tokens;
    this.#tokens = Math.min(this.#capacity(), this.#tokens + tokens);
  }

  #capacity(): number {
    const earned = Math.max(this.#earnedNow, this.#earnedBefore);
    return Math.min(readLimits.bucketTokensMax, Math.max(readLimits.bucketTokensMin, earned));
  }

  #topUp(): void {
    const nowMs = this.clock.monotonicMs();
    const ageMs = nowMs - this.#windowStartedMs;
    if (ageMs >= readLimits.bucketWindowMs) {
      this.#earnedBefore = ageMs < 2 * readLimits.bucketWindowMs ? this.#earnedNow : 0;
      this.#earnedNow = 0;
      this.#windowStartedMs = nowMs;
    }
    // A frozen process earned no more than one window's worth while it stood still.
    const earningMs = Math.min(nowMs - this.#toppedUpMs, readLimits.bucketWindowMs);
    this.#toppedUpMs = nowMs;
    if (this.perSecond > 0) this.#add((earningMs / 1_000) * this.perSecond);
  }
}
