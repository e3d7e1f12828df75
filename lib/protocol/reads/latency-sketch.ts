/**
 * A histogram of one distance class's attempt latencies, with logarithmic buckets (2 % wide) in two rotating
 * halves. An attempt cancelled after t is known to have taken longer than t: it counts among those at risk up
 * to there and never as a latency (Kaplan and Meier). A sample of t would drag the tail down, and leaving it
 * out would as well, since only slow attempts are cancelled.
 *
 * LK1 What is older than two halves is no evidence: after a freeze the sketch is empty.
 * LK2 Only attempts are recorded, never whole reads: a threshold that counts its own hedge delay drifts
 *     upward.
 */
import { Age, type Clocks } from "../deadline.ts";
import { readLimits } from "./read-limits.ts";

const FLOOR_MS = readLimits.latencyFloorMs;
const GROWTH = 1.02;
const BUCKETS = 710;
const LOG_GROWTH = Math.log(GROWTH);

/** Bucket b holds latencies in (edge(b - 1), edge(b)]; the last one everything beyond a minute. */
function bucketOf(latencyMs: number): number {
  if (latencyMs <= FLOOR_MS) return 0;
  return Math.min(BUCKETS - 1, Math.ceil(Math.log(latencyMs / FLOOR_MS) / LOG_GROWTH));
}

function edgeOf(bucket: number): number {
  return FLOOR_MS * GROWTH ** bucket;
}

class Half {
  readonly finished = new Float64Array(BUCKETS);
  readonly censored = new Float64Array(BUCKETS);
  samples = 0;

  clear(): void {
    this.finished.fill(0);
    this.censored.fill(0);
    this.samples = 0;
  }
}

/** What a sketch says about the latencies of one moment; it does not change. */
export class Survival {
  readonly #beyond: Float64Array;

  constructor(
    readonly samples: number,
    beyond: Float64Array,
  ) {
    this.#beyond = beyond;
  }

  /** The probability that an attempt takes longer than `latencyMs`: rather too high than too low. */
  beyond(latencyMs: number): number {
    if (latencyMs <= FLOOR_MS) return 1;
    return this.#beyond[bucketOf(latencyMs) - 1] ?? 0;
  }

  /**
   * The latency that the share `p` of attempts stays within, at most 2 % too high and never too low: a hedge
   * just before the answer that was bound to come is a waste. Undefined if cancelled attempts leave it open.
   */
  quantile(p: number): number | undefined {
    const bucket = this.#beyond.findIndex((beyond) => beyond <= 1 - p + 1e-12);
    return bucket < 0 ? undefined : edgeOf(bucket);
  }
}

export class LatencySketch {
  #current = new Half();
  #previous = new Half();
  #started: Age;

  constructor(private readonly clock: Clocks) {
    this.#started = new Age(clock);
  }

  /** An attempt that was answered after `latencyMs`. */
  record(latencyMs: number): void {
    this.#rotate();
    const bucket = bucketOf(latencyMs);
    this.#current.finished[bucket] = (this.#current.finished[bucket] ?? 0) + 1;
    this.#current.samples += 1;
  }

  /** An attempt that was cancelled after `elapsedMs`: it would have taken longer. */
  censor(elapsedMs: number): void {
    this.#rotate();
    const bucket = bucketOf(elapsedMs);
    this.#current.censored[bucket] = (this.#current.censored[bucket] ?? 0) + 1;
    this.#current.samples += 1;
  }

  /** Attempts that the sketch knows of, cancelled ones included. */
  get samples(): number {
    this.#rotate();
    return this.#current.samples + this.#previous.samples;
  }

  survival(): Survival {
    const samples = this.samples;
    const beyond = new Float64Array(BUCKETS);
    let atRisk = samples;
    let surviving = samples > 0 ? 1 : 0;
    for (let bucket = 0; bucket < BUCKETS; bucket++) {
      const finished = (this.#current.finished[bucket] ?? 0) + (this.#previous.finished[bucket] ?? 0);
      if (finished > 0) surviving *= 1 - finished / atRisk;
      beyond[bucket] = surviving;
      atRisk -= finished + (this.#current.censored[bucket] ?? 0) + (this.#previous.censored[bucket] ?? 0);
    }
    return new Survival(samples, beyond);
  }

  /** Where reads are rare, a half waits until it holds enough to be of use, but not for ever. */
  #rotate(): void {
    const ageMs = this.#started.ms;
    if (ageMs < readLimits.sketchHalfMs) return;
    const isThin = this.#current.samples < readLimits.tailSamplesMin;
    if (isThin && ageMs < readLimits.sketchHalfMaxMs) return;
    const oldest = this.#previous;
    this.#previous = this.#current;
    this.#current = oldest;
    this.#current.clear();
    const halfMs = isThin ? readLimits.sketchHalfMaxMs : readLimits.sketchHalfMs;
    if (ageMs >= 2 * halfMs) this.#previous.clear();
    this.#started = new Age(this.clock);
  }
}
