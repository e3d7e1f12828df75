/**
 * How one replica does, as this process sees it: a moving average of its latency, requests in flight, and
 * whether it is a suspect. All of it is a matter of speed: a suspect is asked later, never left out, and
 * nothing about safety may rest on it.
 *
 * H1 Only a replica that does not answer becomes a suspect. One that is slow is merely chosen less, by
 *    average and queue: to take all the load from it at once would make the next one slow, and so on in turn.
 * H2 An error is no latency: it counts as no answer and as a long wait, so that a replica that fails fast
 *    never looks fast.
 * H3 What is known of a healthy replica fades towards what its class usually takes, so that nobody is shunned
 *    for long on old grounds; what makes a suspect does not.
 * H4 Suspicion ages. Without new evidence for `suspicionMs` one read is let through on trial; after
 *    `suspicionMaxMs` the suspicion is dropped.
 */
import type { Clock } from "../clock.ts";
import { readLimits } from "./read-limits.ts";

/** What a replica's class makes of a latency. */
export interface Yardstick {
  /** What an answer usually takes, in ms; undefined while that is not known. */
  readonly usualMs: number | undefined;
  /** An answer that takes longer is late, in ms. */
  readonly lateMs: number;
  /** Silence of so long sends the question on: what an unanswered request costs a reader, in ms. */
  readonly silenceMs: number;
}

interface Suspicion {
  readonly clearingAnswers: number;
  goodInARow: number;
  evidenceMs: number;
}

export class ReplicaHealth {
  #inFlight = 0;
  #averageLog: number | undefined;
  #lateShare: number = readLimits.hedgeBudget;
  #updatedMs: number;
  /** Requests in a row that it did not answer, weighed by how plainly. */
  #alarm = 0;
  #suspicion: Suspicion | undefined;
  #clearingAnswers: number = readLimits.clearingAnswers;
  #clearedMs = Number.NEGATIVE_INFINITY;
  #probeDueMs = 0;
  #probePauseMs: number = readLimits.probePauseMs;

  constructor(private readonly clock: Pick<Clock, "monotonicMs">) {
    this.#updatedMs = clock.monotonicMs();
  }

  get inFlight(): number {
    return this.#inFlight;
  }

  /** Whether reads should avoid it now: a suspect whose time for a trial has not come. */
  get isSuspect(): boolean {
    if (this.#suspicion === undefined) return false;
    return this.clock.monotonicMs() - this.#suspicion.evidenceMs < readLimits.suspicionMs;
  }

  /** Whether requests were left unanswered and none answered since. */
  get isInDoubt(): boolean {
    return this.#suspicion === undefined && this.#alarm >= readLimits.alarmDoubt;
  }

  /** When the replica was last heard of or given up, in monotonic ms. */
  get updatedMs(): number {
    return this.#updatedMs;
  }

  /** The moving average in ms as it was last updated; undefined before the first answer. */
  get averageMs(): number | undefined {
    return this.#averageLog === undefined ? undefined : Math.exp(this.#averageLog);
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
    const lateShare = this.#lateShare * kept + readLimits.hedgeBudget * (1 - kept);
    return usualMs * (averageMs / usualMs) ** kept + lateShare * silenceMs;
  }

  /**
   * A request goes out. For a suspect it is the trial: the others go on avoiding it until this one is over.
   */
  sent(): void {
    this.#inFlight += 1;
    const nowMs = this.clock.monotonicMs();
    if (this.#suspicion === undefined) return;
    if (nowMs - this.#suspicion.evidenceMs >= readLimits.suspicionMaxMs) this.#clear();
    else this.#suspicion.evidenceMs = nowMs;
  }

  /** A request ended, in whatever way. */
  ended(): void {
    this.#inFlight -= 1;
  }

  /** A usable answer. */
  answered(latencyMs: number, yardstick: Yardstick): void {
    this.#learn(latencyMs, latencyMs > yardstick.lateMs, yardstick);
    this.#alarm = 0;
    this.#judge(latencyMs <= readLimits.slowFactor * yardstick.lateMs);
  }

  /**
   * Cancelled after `elapsedMs` without an answer: neither success nor failure, unless it was late already.
   */
  abandoned(elapsedMs: number, yardstick: Yardstick): void {
    if (elapsedMs <= yardstick.lateMs) return;
    // It would have taken longer: that never makes a slow replica look faster.
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

  /** Whether it may be tried with a request that nobody waits for. */
  get isProbeDue(): boolean {
    return this.clock.monotonicMs() >= this.#probeDueMs;
  }

  /** A probe was sent. */
  probed(): void {
    const pauseMs = this.#suspicion === undefined ? readLimits.probeAgainMs : this.#probePauseMs;
    this.#probeDueMs = this.clock.monotonicMs() + pauseMs;
  }

  /** How much of what was learnt last still counts. */
  get #kept(): number {
    if (this.isSuspect) return 1;
    return Math.exp((this.#updatedMs - this.clock.monotonicMs()) / readLimits.averageDecayMs);
  }

  /** The average is of logarithms: one straggler in a heavy tail is not a slow replica. */
  #learn(latencyMs: number, isLate: boolean, yardstick: Yardstick): void {
    const log = Math.log(Math.max(latencyMs, readLimits.latencyFloorMs));
    const kept = this.#kept;
    const usualLog = yardstick.usualMs === undefined ? log : Math.log(yardstick.usualMs);
    const before = usualLog + ((this.#averageLog ?? usualLog) - usualLog) * kept;
    this.#averageLog = before + readLimits.averageWeight * (log - before);
    const lateBefore = readLimits.hedgeBudget + (this.#lateShare - readLimits.hedgeBudget) * kept;
    this.#lateShare = lateBefore + readLimits.lateShareWeight * ((isLate ? 1 : 0) - lateBefore);
    this.#updatedMs = this.clock.monotonicMs();
  }

  #raise(weight: number): void {
    this.#alarm += weight;
    if (this.#alarm < readLimits.alarmMax || this.#suspicion !== undefined) return;
    const nowMs = this.clock.monotonicMs();
    const isRelapse = nowMs - this.#clearedMs < readLimits.relapseWithinMs;
    const doubled = Math.min(readLimits.clearingAnswersMax, 2 * this.#clearingAnswers);
    this.#clearingAnswers = isRelapse ? doubled : readLimits.clearingAnswers;
    this.#suspicion = { clearingAnswers: this.#clearingAnswers, goodInARow: 0, evidenceMs: nowMs };
    this.#probePauseMs = readLimits.probePauseMs;
    this.#probeDueMs = nowMs + this.#probePauseMs;
  }

  /** Evidence about a suspect. */
  #judge(isGood: boolean): void {
    const suspicion = this.#suspicion;
    if (suspicion === undefined) return;
    const nowMs = this.clock.monotonicMs();
    suspicion.evidenceMs = nowMs;
    suspicion.goodInARow = isGood ? suspicion.goodInARow + 1 : 0;
    const longer = Math.min(readLimits.probePauseMaxMs, 2 * this.#probePauseMs);
    this.#probePauseMs = isGood ? readLimits.probeAgainMs : longer;
    this.#probeDueMs = nowMs + this.#probePauseMs;
    if (suspicion.goodInARow < suspicion.clearingAnswers) return;
    this.#clear();
    this.#clearedMs = nowMs;
  }

  /** No suspect any more. */
  #clear(): void {
    this.#suspicion = undefined;
    this.#alarm = 0;
    this.#averageLog = undefined;
    this.#lateShare = readLimits.hedgeBudget;
  }
}
