/**
 * What a reader knows of the latencies of one distance class: the sketch of the last seconds, thresholds
 * worked out from it now and then, and a long memory of how far away the class is. The memory orders regions;
 * only the sketch is evidence of how a class does now.
 */
import { Age, type Clocks } from "../deadline.ts";
import { LatencySketch, type Survival } from "./latency-sketch.ts";
import { readLimits } from "./read-limits.ts";

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

  /** The present median if it is known, else the remembered one. */
  get typicalMs(): number | undefined {
    return this.thresholds().medianMs ?? this.memoryMs;
  }

  /** The whole class is far slower than it used to be: its bookies suffer from one cause. */
  get isStrained(): boolean {
    const { medianMs } = this.thresholds();
    const memoryMs = this.memoryMs;
    return (
      medianMs !== undefined && memoryMs !== undefined && medianMs > readLimits.strainedFactor * memoryMs
    );
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
