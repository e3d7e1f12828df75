/**
 * What a reader knows of the latencies of one distance class: the sketch of the last seconds, thresholds
 * worked out from it now and then, and a long memory of how far away the class is. The memory orders regions;
 * only the sketch is evidence of how a class does now.
 *
 * LK1 What is older than two halves is no evidence: after a freeze the sketch is empty.
 * LK2 Only attempts are recorded, never whole reads: a threshold that counts its own hedge delay drifts
 *     upward.
 */
import { Age, type Clocks } from "../deadline.ts";
import { readLimits } from "./read-limits.ts";

/**
 * What is asked of a bookie. A tail lists and a recovery read writes: their latencies are pooled apart, and
 * count for a replica's health by how they compare to what their own kind usually takes.
 */
export type CallKind = "read" | "tail" | "recovery-read";

interface ClassThresholds {
  /** Undefined while there are too few samples for a tail. */
  readonly survival?: Survival;
  /** The present median, in ms; undefined while there are too few samples. */
  readonly medianMs?: number;
  /** An answer that takes longer is late for its class, in ms. */
  readonly lateMs: number;
  /** Silence of so long sends the question on, in ms. */
  readonly silenceMs: number;
  /** First hedge behind a replica of this class while there is no survival, in ms. */
  readonly hedgeDefaultMs: number;
}

export class ClassLatency {
  readonly #sketch: LatencySketch;
  #thresholds: { readonly age: Age; readonly now: ClassThresholds } | undefined;
  /** When a healthy replica of the class last answered. */
  #healthy: Age | undefined;
  #memoryLog = 0;
  #memorySamples = 0;

  constructor(private readonly clock: Clocks) {
    this.#sketch = new LatencySketch(clock);
  }

  /** Whether no healthy replica of the class has been heard of lately. */
  get isForlorn(): boolean {
    return this.#healthy?.isWithin(readLimits.forlornAfterMs) !== true;
  }

  /** An answered attempt. */
  record(latencyMs: number, isSuspects: boolean): void {
    this.#sketch.record(latencyMs);
    if (!isSuspects) this.#healthy = new Age(this.clock);
    if (this.#memorySamples >= readLimits.medianSamplesMin) return;
    this.#memorySamples += 1;
    this.#memoryLog +=
      (Math.log(Math.max(latencyMs, readLimits.latencyFloorMs)) - this.#memoryLog) / this.#memorySamples;
  }

  /** An attempt that was cancelled after `elapsedMs`. */
  censor(elapsedMs: number): void {
    this.#sketch.censor(elapsedMs);
  }

  /** The usual latency of the class, remembered for good; undefined before the first few answers. */
  get memoryMs(): number | undefined {
    return this.#memorySamples >= readLimits.memorySamplesMin ? Math.exp(this.#memoryLog) : undefined;
  }

  /** The present median, in ms; undefined while there are too few samples. */
  get medianMs(): number | undefined {
    return this.thresholds().medianMs;
  }

  /** The present median if it is known, else the remembered one. */
  get typicalMs(): number | undefined {
    return this.medianMs ?? this.memoryMs;
  }

  /** Silence of so long sends the question on, in ms. */
  get silenceMs(): number {
    return this.thresholds().silenceMs;
  }

  /** The whole class is far slower than it used to be: its bookies suffer from one cause. */
  get isStrained(): boolean {
    const { medianMs, memoryMs } = this;
    if (medianMs === undefined || memoryMs === undefined) return false;
    return medianMs > readLimits.strainedFactor * memoryMs;
  }

  thresholds(): ClassThresholds {
    const before = this.#thresholds;
    const ageMs = before?.age.ms ?? Number.POSITIVE_INFINITY;
    if (before !== undefined && ageMs < readLimits.refreshMs) return before.now;
    const now = this.#workOut();
    this.#thresholds = { age: new Age(this.clock), now };
    this.#remember(now.medianMs, Math.min(ageMs, 4 * readLimits.refreshMs));
    return now;
  }

  #workOut(): ClassThresholds {
    const { samples } = this.#sketch;
    const survival = samples >= readLimits.medianSamplesMin ? this.#sketch.survival() : undefined;
    const medianMs = survival?.quantile(0.5);
    const usualMs = medianMs ?? this.memoryMs;
    const fallbackMs = usualMs === undefined ? readLimits.silenceDefaultMs : 3 * usualMs;
    const common = {
      ...(medianMs === undefined ? {} : { medianMs }),
      hedgeDefaultMs: Math.max(readLimits.hedgeDelayDefaultMs, 2 * (usualMs ?? 0)),
    };
    if (survival === undefined || samples < readLimits.tailSamplesMin) {
      const lateMs = Math.max(readLimits.hedgeDelayDefaultMs, fallbackMs);
      return { ...common, lateMs, silenceMs: Math.max(readLimits.silenceDefaultMs, fallbackMs) };
    }
    const p99Ms = survival.quantile(0.99) ?? readLimits.silenceMaxMs;
    const silenceMs = Math.min(readLimits.silenceMaxMs, readLimits.silenceFactor * p99Ms);
    const lateMs = survival.quantile(1 - readLimits.hedgeBudget) ?? readLimits.hedgeDelayMaxMs;
    return { ...common, survival, lateMs, silenceMs };
  }

  #remember(medianMs: number | undefined, ageMs: number): void {
    if (medianMs === undefined || this.memoryMs === undefined) return;
    const change = Math.log(medianMs) - this.#memoryLog;
    const paceMs = change > 0 ? readLimits.memoryRiseMs : readLimits.memoryFallMs;
    this.#memoryLog += change * (1 - Math.exp(-ageMs / paceMs));
  }
}

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
}

/** What a sketch says about the latencies of one moment; it does not change. */
export class Survival {
  constructor(
    readonly samples: number,
    /** For each bucket, the probability that an attempt takes longer. */
    private readonly beyondBucket: Float64Array,
  ) {}

  /** The probability that an attempt takes longer than `latencyMs`: rather too high than too low. */
  beyond(latencyMs: number): number {
    if (latencyMs <= FLOOR_MS) return 1;
    return this.beyondBucket[bucketOf(latencyMs) - 1] ?? 0;
  }

  /**
   * The latency that the share `p` of attempts stays within, at most 2 % too high and never too low: a hedge
   * just before the answer that was bound to come is a waste. Undefined if cancelled attempts leave it open.
   */
  quantile(p: number): number | undefined {
    const bucket = this.beyondBucket.findIndex((beyond) => beyond <= 1 - p + 1e-12);
    return bucket < 0 ? undefined : edgeOf(bucket);
  }
}

/**
 * A histogram of one distance class's attempt latencies, with logarithmic buckets (2 % wide) in two rotating
 * halves. An attempt cancelled after t is known to have taken longer than t: it counts among those at risk up
 * to there and never as a latency (Kaplan and Meier). A sample of t would drag the tail down, and leaving it
 * out would as well, since only slow attempts are cancelled.
 */
export class LatencySketch {
  #current = new Half();
  #previous = new Half();
  #started: Age;

  constructor(private readonly clock: Clocks) {
    this.#started = new Age(clock);
  }

  /** An attempt that was answered after `latencyMs`. */
  record(latencyMs: number): void {
    this.#count("finished", latencyMs);
  }

  /** An attempt that was cancelled after `elapsedMs`: it would have taken longer. */
  censor(elapsedMs: number): void {
    this.#count("censored", elapsedMs);
  }

  #count(end: "finished" | "censored", ms: number): void {
    this.#rotate();
    const counts = this.#current[end];
    const bucket = bucketOf(ms);
    counts[bucket] = (counts[bucket] ?? 0) + 1;
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
    const halfMs = isThin ? readLimits.sketchHalfMaxMs : readLimits.sketchHalfMs;
    this.#previous = ageMs < 2 * halfMs ? this.#current : new Half();
    this.#current = new Half();
    this.#started = new Age(this.clock);
  }
}
