/**
 * What extra requests are paid from. A bucket earns with every read and, some, with time; it may save
 * what it earns in ten seconds. Whatever the latencies do, no more is spent than was earned.
 */
import type { Clock } from "../clock.ts";
import { readLimits } from "./read-limits.ts";

/** Pays hedges and probes. Starts empty: a process that lives for one read hedges nothing. */
export function hedgeBucket(clock: Clock): TokenBucket {
  return new TokenBucket(clock, readLimits.hedgeBudget, 0);
}

/** Pays requests sent on because a bookie kept silent. */
export function retryBucket(clock: Clock): TokenBucket {
  return new TokenBucket(clock, readLimits.retryBudget, readLimits.retriesPerSecond);
}

/** Starts with a second's worth. */
export class TokenBucket {
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
