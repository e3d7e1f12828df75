import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { LatencySketch } from "../../../lib/protocol/reads/class-latency.ts";
import { readLimits } from "../../../lib/protocol/reads/read-limits.ts";
import { SeededRandom } from "../../sim/seeded-random.ts";

class HandClock {
  ms = 0;
  nowMs = () => this.ms;
  monotonicMs = () => this.ms;
}

const latency = fc.double({ min: 0.1, max: 50_000, noNaN: true });

describe("latency sketch", () => {
  test("quantiles are the exact ones or up to 2 % more, for any latencies", () => {
    fc.assert(
      fc.property(
        fc.array(latency, { minLength: 1, maxLength: 300 }),
        fc.double({ min: 0.001, max: 1, noNaN: true }),
        (all, p) => {
          const sketch = new LatencySketch(new HandClock());
          for (const one of all) sketch.record(one);
          const sorted = [...all].sort((one, other) => one - other);
          const exact = sorted[Math.max(0, Math.ceil(p * sorted.length - 1e-9) - 1)] ?? 0;
          const told = sketch.survival().quantile(p) ?? 0;
          expect(told / exact).toBeGreaterThanOrEqual(1 - 1e-9);
          expect(told / exact).toBeLessThanOrEqual(1.02 + 1e-9);
        },
      ),
    );
  });

  test("the probability of taking longer is never told too low", () => {
    fc.assert(
      fc.property(fc.array(latency, { minLength: 1, maxLength: 200 }), latency, (all, ms) => {
        const sketch = new LatencySketch(new HandClock());
        for (const one of all) sketch.record(one);
        const exact = all.filter((one) => one > ms).length / all.length;
        expect(sketch.survival().beyond(ms)).toBeGreaterThanOrEqual(exact - 1e-9);
      }),
    );
  });

  /** Latencies of which those beyond the delay are cut short by a hedge, as a reader sees them. */
  function hedgedSketch(delayMs: number): { sketch: LatencySketch; exact: number[] } {
    const random = new SeededRandom(3, "latencies");
    const sketch = new LatencySketch(new HandClock());
    const exact: number[] = [];
    const draw = () => (random.chance(0.1) ? 100 : 20) * -Math.log(1 - random.unit()) + 1;
    for (let attempt = 0; attempt < 20_000; attempt++) {
      const takesMs = draw();
      exact.push(takesMs);
      const cutMs = delayMs + draw();
      if (takesMs <= cutMs) sketch.record(takesMs);
      else sketch.censor(cutMs);
    }
    return { sketch, exact: exact.sort((one, other) => one - other) };
  }

  test.each([0.5, 0.9, 0.95, 0.99])("cancelled attempts do not bend the quantile %d (Kaplan-Meier)", (p) => {
    const { sketch, exact } = hedgedSketch(60);
    const told = sketch.survival().quantile(p) ?? 0;
    const truth = exact[Math.ceil(p * exact.length) - 1] ?? 0;
    expect(Math.abs(told - truth) / truth).toBeLessThan(0.1);
  });

  test("counted as latencies they would bend it", () => {
    const random = new SeededRandom(3, "latencies");
    const naive = new LatencySketch(new HandClock());
    const draw = () => (random.chance(0.1) ? 100 : 20) * -Math.log(1 - random.unit()) + 1;
    for (let attempt = 0; attempt < 20_000; attempt++) naive.record(Math.min(draw(), 60 + draw()));
    const { exact } = hedgedSketch(60);
    const truth = exact[Math.ceil(0.99 * exact.length) - 1] ?? 0;
    expect(naive.survival().quantile(0.99) ?? 0).toBeLessThan(0.7 * truth);
  });

  test("a quantile that only cancelled attempts could tell is left open", () => {
    const sketch = new LatencySketch(new HandClock());
    for (let attempt = 0; attempt < 90; attempt++) sketch.record(10);
    for (let attempt = 0; attempt < 10; attempt++) sketch.censor(50);
    const survival = sketch.survival();
    expect(survival.quantile(0.9)).toBeCloseTo(10, 0);
    expect(survival.quantile(0.95)).toBeUndefined();
    expect(survival.beyond(40_000)).toBeCloseTo(0.1);
  });

  test("an empty sketch knows nothing", () => {
    const sketch = new LatencySketch(new HandClock());
    expect(sketch.samples).toBe(0);
    expect(sketch.survival().samples).toBe(0);
  });
});

describe("latency sketch: halves", () => {
  const enough = readLimits.tailSamplesMin;

  function filled(clock: HandClock, samples: number): LatencySketch {
    const sketch = new LatencySketch(clock);
    for (let sample = 0; sample < samples; sample++) sketch.record(10);
    return sketch;
  }

  test("what is older than two halves is gone (LK1)", () => {
    const clock = new HandClock();
    const sketch = filled(clock, enough);
    clock.ms += readLimits.sketchHalfMs;
    expect(sketch.samples).toBe(enough);
    clock.ms += readLimits.sketchHalfMs - 1;
    expect(sketch.samples).toBe(enough);
    for (let sample = 0; sample < enough; sample++) sketch.record(30);
    clock.ms += 1;
    expect(sketch.samples).toBe(enough);
    expect(sketch.survival().quantile(0.01)).toBeGreaterThan(25);
  });

  test("where reads are rare a half waits for its samples, but not beyond a minute", () => {
    const clock = new HandClock();
    const sketch = filled(clock, 50);
    clock.ms += 2 * readLimits.sketchHalfMs;
    expect(sketch.samples).toBe(50);
    clock.ms += readLimits.sketchHalfMaxMs;
    expect(sketch.samples).toBe(50);
    clock.ms += readLimits.sketchHalfMaxMs;
    expect(sketch.samples).toBe(0);
  });

  test("a freeze of the host, whose monotonic clock stands still, empties it as well (LK1)", () => {
    const clock = new HandClock();
    const sketch = filled(clock, enough);
    const awakeMs = clock.ms;
    clock.monotonicMs = () => awakeMs;
    clock.ms += 3_600_000;
    expect(sketch.samples).toBe(0);
  });

  test.each([1, enough - 1, enough, 10 * enough])(
    "a sketch of %d samples is empty after an hour",
    (samples) => {
      const clock = new HandClock();
      const sketch = filled(clock, samples);
      clock.ms += 3_600_000;
      expect(sketch.samples).toBe(0);
    },
  );
});
