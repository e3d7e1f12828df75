/**
 * One request to one replica, from the moment it is sent: turns how it ended into evidence about the replica
 * and its class. It ends once; what is said later is dropped. What a process that stood still believes to
 * have waited for is no evidence.
 */

import type { Clock } from "../deadline.ts";
import type { BookieAddress } from "../replication.ts";
import { CallAbort } from "../waiting.ts";
import type { BookieHealth, Yardstick } from "./bookie-health.ts";
import type { ClassLatency } from "./class-latency.ts";
import { readLimits } from "./read-limits.ts";

export class ReadAttempt implements Yardstick {
  readonly usualMs: number | undefined;
  readonly lateMs: number;
  readonly silenceMs: number;
  readonly #startedMs: number;
  #isOpen = true;
  #isCredible = true;

  constructor(
    private readonly clock: Pick<Clock, "monotonicMs">,
    private readonly health: BookieHealth,
    private readonly latencies: ClassLatency,
    /** Of plain reads from the same class, which health is measured by. */
    private readonly ofReads: ClassLatency = latencies,
  ) {
    this.#startedMs = clock.monotonicMs();
    const { lateMs, silenceMs } = latencies.thresholds();
    this.usualMs = latencies.typicalMs;
    this.lateMs = lateMs;
    this.silenceMs = silenceMs;
    health.sent();
  }

  get elapsedMs(): number {
    return this.clock.monotonicMs() - this.#startedMs;
  }

  /** The process stood still meanwhile: nothing more is learnt from this request. */
  discredit(): void {
    this.#isCredible = false;
  }

  /** A usable answer came. */
  answered(): void {
    this.#end((elapsedMs) => {
      if (this.#countsForClass) this.latencies.record(elapsedMs, this.health.isSuspect);
      this.health.answered(elapsedMs * this.#perRead, this.#yardstick);
    });
  }

  /** It failed, or the answer was of no use: fast or slow, that is no latency. */
  failed(): void {
    this.#end(() => this.health.failed(this.#yardstick));
  }

  /** Given up without an answer. */
  timedOut(): void {
    this.#end((elapsedMs) => {
      const cappedMs = Math.min(elapsedMs, readLimits.attemptTimeoutMs);
      if (!this.health.isSuspect) this.latencies.record(cappedMs, false);
      this.health.timedOut(elapsedMs * this.#perRead, this.#yardstick);
    });
  }

  /** Cancelled because another one answered. */
  abandoned(): void {
    this.#end((elapsedMs) => {
      if (this.#countsForClass) this.latencies.censor(elapsedMs);
      this.health.abandoned(elapsedMs * this.#perRead, this.#yardstick);
    });
  }

  /** What the same bookie's read would have taken of each ms that this kind of call took. */
  get #perRead(): number {
    const usualMs = this.ofReads.typicalMs;
    return usualMs === undefined || this.usualMs === undefined ? 1 : usualMs / this.usualMs;
  }

  get #yardstick(): Yardstick {
    if (this.ofReads === this.latencies) return this;
    const { usualMs, lateMs, silenceMs } = this;
    const scale = this.#perRead;
    const scaled = { lateMs: lateMs * scale, silenceMs: silenceMs * scale };
    return { usualMs: usualMs === undefined ? undefined : usualMs * scale, ...scaled };
  }

  /** The pool is of healthy replicas, unless none is left to judge by. */
  get #countsForClass(): boolean {
    return !this.health.isSuspect || this.latencies.isForlorn;
  }

  #end(learn: (elapsedMs: number) => void): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.health.ended();
    const { elapsedMs } = this;
    const isFrozen = elapsedMs > readLimits.attemptTimeoutMs + readLimits.frozenAfterMs;
    if (this.#isCredible && !isFrozen) learn(elapsedMs);
  }
}

/** A request of a read that has not been answered yet, and until when the read will wait for it. */
export class OpenRequest {
  readonly abort = new CallAbort();
  /** Its silence was long enough, and the next replica was asked besides. */
  wasSentOn = false;
  /** When it is given up, in monotonic ms. */
  timeoutMs: number;
  #silentMs: number;

  /** `sentMs`: when it was sent, in monotonic ms; `patienceMs`: after how long it is given up. */
  constructor(
    readonly bookie: BookieAddress,
    readonly evidence: ReadAttempt,
    sentMs: number,
    private readonly patienceMs: number,
  ) {
    this.#silentMs = sentMs + evidence.silenceMs;
    this.timeoutMs = sentMs + patienceMs;
  }

  /** When its silence is long enough, in monotonic ms. */
  get silentMs(): number {
    return this.wasSentOn ? Number.POSITIVE_INFINITY : this.#silentMs;
  }

  /** The question could not be sent on: silence has to last once more. */
  waitOn(nowMs: number): void {
    this.#silentMs = nowMs + this.evidence.silenceMs;
  }

  /**
   * The process stood still: the bookie may have answered long ago, so it gets its time again, while the next
   * one is asked besides.
   */
  thaw(nowMs: number): void {
    this.evidence.discredit();
    this.#silentMs = nowMs;
    this.timeoutMs = nowMs + this.patienceMs;
  }

  /** Another one answered: the request is cancelled. */
  abandon(): void {
    this.evidence.abandoned();
    this.abort.abort();
  }

  giveUp(): void {
    this.evidence.timedOut();
    this.abort.abort();
  }
}
