/**
 * How bookies do, as this process sees it: one model that reads and writes both feed and consult. Shared is
 * what was observed of a bookie: latencies, requests in flight, failures, answers, silence. What differs is
 * the question. Reads ask in which order to ask replicas; writes ask which bookies take new copies. All of it
 * is a matter of speed: a bookie is asked or chosen later, never left out, and nothing about safety rests on
 * it. It is local to a process.
 *
 * BH1 Only a bookie that does not answer becomes a suspect of reads. A slow one is merely chosen less, by
 *     average and queue: to take all the load from it at once would make the next one slow, and so on.
 * BH2 An error is no latency: it counts as no answer and as a long wait, so that a bookie that fails fast
 *     never looks fast.
 * BH3 What is known of a healthy bookie fades towards what its class usually takes, so that none is shunned
 *     for long on old grounds. What makes a suspect does not fade.
 * BH4 Suspicion ages. Without new evidence for `suspicionMs` one read is let through on trial; after
 *     `suspicionMaxMs` the suspicion is dropped.
 * BH5 Quarantine: after `failuresInRow` failed calls of writes or recovery, of whatever kind, with no answer
 *     between them, the bookie takes new copies last. The stay is a random time around `quarantineMs`, so
 *     that processes which saw it fail together do not all come back together. Each further stay is twice as
 *     long, up to `quarantineMsMax`.
 * BH6 An answer to such a call ends quarantine. After its time the bookie is tried again, and one more
 *     failure brings it back. A row of failures is forgotten `forgetAfterMs` after the last one, and with it
 *     how long the last stay was.
 * BH7 A bookie that kept others waiting, or whose region is silent, is doubtful for a while unless it
 *     answers. That is no failure, and how often it happened counts for nothing.
 * BH8 A suspect of reads takes new copies last, and a bookie that goes into quarantine becomes a suspect.
 *     Answers alone are kept apart: a storage may serve reads and refuse writes, or the other way round.
 */
import { assert } from "../assert.ts";
import { Age, type Clocks } from "../deadline.ts";
import type { BookieId } from "../ids.ts";
import { limits } from "../limits.ts";
import type { Random } from "../random.ts";
import { readLimits } from "./read-limits.ts";

export interface QuarantineRules {
  readonly failuresInRow: number;
  readonly quarantineMs: number;
  readonly quarantineMsMax: number;
  readonly forgetAfterMs: number;
}

export const quarantineRules: QuarantineRules = {
  /** One or two lost calls are the network's; three in a row are the bookie's. */
  failuresInRow: 3,
  /** A restart or a failover takes seconds. */
  quarantineMs: 15_000,
  /** Long enough to spare a dead bookie's callers, short enough to notice its return. */
  quarantineMsMax: 4 * 60_000,
  forgetAfterMs: 10 * 60_000,
};

/** What a bookie's distance class makes of a latency. */
export interface Yardstick {
  /** What an answer usually takes, in ms; undefined while that is not known. */
  readonly usualMs: number | undefined;
  /** An answer that takes longer is late, in ms. */
  readonly lateMs: number;
  /** Silence of so long sends the question on: what an unanswered request costs a reader, in ms. */
  readonly silenceMs: number;
}

interface Suspicion {
  readonly answersToClear: number;
  readonly goodInARow: number;
  /** Of the last evidence. */
  readonly age: Age;
}

/** Calls in a row that failed (BH5). */
interface FailedRow {
  readonly count: number;
  readonly last: Age;
  readonly stays: number;
  /** The present or last stay. */
  readonly stay?: { readonly age: Age; readonly ms: number };
}

interface HealthPorts {
  readonly clock: Clocks;
  readonly random: Random;
}

export class BookieHealth {
  #inFlight = 0;
  /** Moving averages of reads: of the latency's logarithm, and of the share of late answers. */
  #pace: { readonly log?: number; readonly lateShare: number; readonly age: Age };
  /** Reads in a row that it did not answer, weighed by how plainly. */
  #alarm = 0;
  #suspicion: Suspicion | undefined;
  #cleared: { readonly after: number; readonly age: Age } | undefined;
  #probe: { readonly pauseMs: number; readonly age: Age } | undefined;
  #failed: FailedRow | undefined;
  #silent: Age | undefined;

  constructor(
    private readonly ports: HealthPorts,
    private readonly rules: QuarantineRules = quarantineRules,
  ) {
    this.#pace = { lateShare: readLimits.hedgeBudget, age: this.#now };
  }

  get #now(): Age {
    return new Age(this.ports.clock);
  }

  // ---------- What reads ask

  get inFlight(): number {
    return this.#inFlight;
  }

  /** Whether reads should avoid it now: a suspect whose time for a trial has not come. */
  get isSuspect(): boolean {
    return this.#suspicion?.age.isWithin(readLimits.suspicionMs) === true;
  }

  /** Whether reads were left unanswered and none was answered since. */
  get isInDoubt(): boolean {
    return this.#suspicion === undefined && this.#alarm >= readLimits.alarmDoubt;
  }

  /** For how long no read heard of it or gave it up, in ms. */
  get idleMs(): number {
    return this.#pace.age.ms;
  }

  /** The moving average in ms as it was last updated; undefined before the first answer. */
  get averageMs(): number | undefined {
    return this.#pace.log === undefined ? undefined : Math.exp(this.#pace.log);
  }

  /**
   * What the next request is expected to cost a reader, in ms, where its class usually takes `usualMs` and a
   * reader waits `silenceMs` at most before it asks another: the average, and the wait as often as answers
   * were late. A hedge cuts the slow answers short, so the average alone would not show them.
   */
  predictedMs(usualMs: number, silenceMs: number): number {
    const averageMs = this.averageMs ?? usualMs;
    if (this.isSuspect) return Math.max(averageMs, silenceMs);
    const kept = this.#kept;
    const lateShare = this.#pace.lateShare * kept + readLimits.hedgeBudget * (1 - kept);
    return usualMs * (averageMs / usualMs) ** kept + lateShare * silenceMs;
  }

  /** Whether it may be tried with a request that no read waits for. */
  get isProbeDue(): boolean {
    return this.#probe?.age.isWithin(this.#probe.pauseMs) !== true;
  }

  // ---------- What reads observe

  /** A request goes out. For a suspect it is the trial: others go on avoiding it until this one is over. */
  sent(): void {
    this.#inFlight += 1;
    if (this.#suspicion?.age.isOlder(readLimits.suspicionMaxMs) === true) this.#clear();
    else if (this.#suspicion !== undefined) this.#suspicion = { ...this.#suspicion, age: this.#now };
  }

  /** A request ended, in whatever way. */
  ended(): void {
    this.#inFlight -= 1;
  }

  /** A usable answer. */
  answered(latencyMs: number, yardstick: Yardstick): void {
    this.#learn(latencyMs, latencyMs > yardstick.lateMs, yardstick);
    this.#alarm = 0;
    this.#silent = undefined;
    this.#judge(latencyMs <= readLimits.slowFactor * yardstick.lateMs);
  }

  /** Cancelled after `elapsedMs` without an answer: neither success nor failure, unless it was late. */
  abandoned(elapsedMs: number, yardstick: Yardstick): void {
    if (elapsedMs <= yardstick.lateMs) return;
    // It would have taken longer: that never makes a slow bookie look faster.
    this.#learn(Math.max(elapsedMs, this.averageMs ?? 0), true, yardstick);
    this.#raise(elapsedMs < yardstick.silenceMs ? 1 : readLimits.alarmDoubt);
    if (elapsedMs > readLimits.slowFactor * yardstick.lateMs) this.#judge(false);
  }

  /** An error, a missing or a damaged copy. */
  failed(yardstick: Yardstick): void {
    this.#learn(yardstick.silenceMs, true, yardstick);
    this.#raise(readLimits.alarmDoubt);
    this.#judge(false);
  }

  /** No answer at all: a suspect at once. */
  timedOut(elapsedMs: number, yardstick: Yardstick): void {
    this.#learn(elapsedMs, true, yardstick);
    this.#raise(readLimits.alarmMax);
    this.#judge(false);
  }

  /** A probe was sent. */
  probed(): void {
    const pauseMs = this.#suspicion === undefined ? undefined : this.#probe?.pauseMs;
    this.#setProbe(pauseMs ?? readLimits.probeAgainMs);
  }

  // ---------- What writes and recovery ask

  /** BH5 */
  get isQuarantined(): boolean {
    const stay = this.#failed?.stay;
    return stay?.age.isWithin(stay.ms) === true;
  }

  /** Whether it was silent a moment ago, and has not answered since (BH7). */
  get isSilent(): boolean {
    return this.#silent?.isWithin(limits.suspectMs) === true;
  }

  /** Whether other bookies are better for new copies now. */
  get isDoubtful(): boolean {
    const failedLately = this.#failed?.last.isWithin(limits.suspectMs) === true;
    return this.isQuarantined || failedLately || this.isSilent || this.isSuspect;
  }

  // ---------- What writes and recovery observe

  /** A call failed or got no answer. */
  callFailed(): void {
    const last = this.#failed?.last.isWithin(this.rules.forgetAfterMs) === true ? this.#failed : undefined;
    const row = { ...last, count: (last?.count ?? 0) + 1, last: this.#now, stays: last?.stays ?? 0 };
    const isAdmitted = row.count >= this.rules.failuresInRow && !this.isQuarantined;
    this.#failed = isAdmitted ? { ...row, stays: row.stays + 1, stay: this.#stay(row.stays) } : row;
    if (isAdmitted) this.#raise(readLimits.alarmMax); // BH8
  }

  /** A call was answered, whatever the answer (BH6). */
  callAnswered(): void {
    if (this.#failed?.stay !== undefined) this.#clear();
    this.#failed = undefined;
    this.#silent = undefined;
  }

  /** BH7 */
  keptWaiting(): void {
    this.#silent = this.#now;
  }

  #stay(stays: number) {
    const { quarantineMs, quarantineMsMax } = this.rules;
    const meanMs = Math.min(quarantineMsMax, quarantineMs * 2 ** stays);
    return { age: this.#now, ms: meanMs * (0.5 + this.ports.random.uint32() / 2 ** 32) };
  }

  /** How much of what was learnt last still counts. */
  get #kept(): number {
    return this.isSuspect ? 1 : Math.exp(-this.#pace.age.ms / readLimits.averageDecayMs);
  }

  /** The average is of logarithms: one straggler in a heavy tail is not a slow bookie. */
  #learn(latencyMs: number, isLate: boolean, yardstick: Yardstick): void {
    const log = Math.log(Math.max(latencyMs, readLimits.latencyFloorMs));
    const kept = this.#kept;
    const usualLog = yardstick.usualMs === undefined ? log : Math.log(yardstick.usualMs);
    const before = usualLog + ((this.#pace.log ?? usualLog) - usualLog) * kept;
    const lateBefore = readLimits.hedgeBudget + (this.#pace.lateShare - readLimits.hedgeBudget) * kept;
    this.#pace = {
      log: before + readLimits.averageWeight * (log - before),
      lateShare: lateBefore + readLimits.lateShareWeight * ((isLate ? 1 : 0) - lateBefore),
      age: this.#now,
    };
  }

  #raise(weight: number): void {
    this.#alarm += weight;
    if (this.#alarm < readLimits.alarmMax || this.#suspicion !== undefined) return;
    const { clearingAnswers, clearingAnswersMax, relapseWithinMs } = readLimits;
    const relapsed = this.#cleared?.age.isWithin(relapseWithinMs) === true ? this.#cleared : undefined;
    const answersToClear =
      relapsed === undefined ? clearingAnswers : Math.min(clearingAnswersMax, 2 * relapsed.after);
    this.#suspicion = { answersToClear, goodInARow: 0, age: this.#now };
    this.#setProbe(readLimits.probePauseMs);
  }

  /** Evidence about a suspect. */
  #judge(isGood: boolean): void {
    if (this.#suspicion === undefined) return;
    const { answersToClear } = this.#suspicion;
    const goodInARow = isGood ? this.#suspicion.goodInARow + 1 : 0;
    this.#suspicion = { answersToClear, goodInARow, age: this.#now };
    const longerMs = Math.min(readLimits.probePauseMaxMs, 2 * (this.#probe?.pauseMs ?? 0));
    this.#setProbe(isGood ? readLimits.probeAgainMs : longerMs);
    if (goodInARow < answersToClear) return;
    this.#clear();
    this.#cleared = { after: answersToClear, age: this.#now };
  }

  #setProbe(pauseMs: number): void {
    this.#probe = { pauseMs, age: this.#now };
  }

  /** No suspect any more. */
  #clear(): void {
    this.#suspicion = undefined;
    this.#alarm = 0;
    this.#pace = { lateShare: readLimits.hedgeBudget, age: this.#pace.age };
  }
}

/** The bookies that this process has heard of lately. */
export class BookieHealths {
  readonly #known = new Map<BookieId, BookieHealth>();

  constructor(
    private readonly ports: HealthPorts,
    private readonly rules: QuarantineRules = quarantineRules,
  ) {
    assert(rules.failuresInRow >= 1 && rules.quarantineMs >= 1, "a quarantine has a beginning and an end");
    assert(rules.quarantineMsMax >= rules.quarantineMs, "the longest stay is no shorter than the first");
    // BH6 must not forget a bookie that is still in.
    assert(rules.forgetAfterMs >= 1.5 * rules.quarantineMsMax, "stays are forgotten after they end");
  }

  of(bookie: BookieId): BookieHealth {
    const known = this.#known.get(bookie);
    if (known !== undefined) return known;
    if (this.#known.size >= readLimits.replicasMax) this.#forgetIdlest();
    const health = new BookieHealth(this.ports, this.rules);
    this.#known.set(bookie, health);
    return health;
  }

  /** Those of `bookies` that take new copies last. */
  doubtful(bookies: readonly BookieId[]): Set<BookieId> {
    return new Set(bookies.filter((bookie) => this.#known.get(bookie)?.isDoubtful === true));
  }

  get size(): number {
    return this.#known.size;
  }

  #forgetIdlest(): void {
    const idle = [...this.#known].filter(([, health]) => health.inFlight === 0);
    idle.sort(([, one], [, other]) => other.idleMs - one.idleMs);
    for (const [bookie] of idle.slice(0, readLimits.replicasMax / 2)) this.#known.delete(bookie);
  }
}
