import fc from "fast-check";
import { describe, expect, test, vi } from "vitest";
import { LatencySketch, type Survival } from "../../../lib/protocol/reads/class-latency.ts";
import { readLimits } from "../../../lib/protocol/reads/read-limits.ts";
import { hedgeDelays, type Step } from "../../../lib/protocol/reads/read-policy.ts";
import { CPU_BOUND } from "../../cpu-bound.ts";
import { SeededRandom } from "../../sim/seeded-random.ts";

vi.setConfig({ testTimeout: CPU_BOUND.timeout });

const { hedgeBudget, hedgeDemand } = readLimits;

function survivalOf(latencies: readonly number[]): Survival {
  const sketch = new LatencySketch({ nowMs: () => 0, monotonicMs: () => 0 });
  for (const latency of latencies) sketch.record(latency);
  return sketch.survival();
}

function drawn(draw: (random: SeededRandom) => number, samples = 5_000): Survival {
  const random = new SeededRandom(5, "latencies");
  return survivalOf(Array.from({ length: samples }, () => draw(random)));
}

/** Exponential with a median of 20 ms, and one in fifty a straggler. */
const stragglers = drawn((random) => (random.chance(0.02) ? 300 : 20) * -Math.log(1 - random.unit()));
const known = (survival: Survival, cost = 1): Step => ({ survival, defaultMs: 200, cost });
const unknown = (cost = 1): Step => ({ survival: undefined, defaultMs: 200, cost });

describe("hedge delays", () => {
  test("the first hedge is due where the budget, asked for a little too much, would be spent", () => {
    const [first = 0] = hedgeDelays([known(stragglers), known(stragglers)]);
    expect(first).toBeCloseTo(stragglers.quantile(1 - hedgeBudget * hedgeDemand) ?? 0);
  });

  test("the n-th request is due only when B^(n-1) of the reads still wait (decay law)", () => {
    const latency = fc.double({ min: 1, max: 400, noNaN: true });
    const sample = fc.array(latency, { minLength: 30, maxLength: 120 });
    const cost = fc.constantFrom(1, 3);
    fc.assert(
      fc.property(fc.array(fc.tuple(sample, cost), { minLength: 2, maxLength: 6 }), (replicas) => {
        const steps = replicas.map(([latencies, tokens]) => known(survivalOf(latencies), tokens));
        const sentMs = [0, ...hedgeDelays(steps)];
        for (let next = 2; next < sentMs.length; next++) {
          const atMs = sentMs[next] ?? 0;
          const waiting = replicas
            .slice(0, next)
            .map(([latencies], index) => {
              const leftMs = atMs - (sentMs[index] ?? 0);
              return latencies.filter((one) => one > leftMs).length / latencies.length;
            })
            .reduce((product, share) => product * share, 1);
          expect(waiting).toBeLessThanOrEqual(hedgeBudget ** next / (replicas[next]?.[1] ?? 1) + 1e-9);
        }
      }),
      { numRuns: 60 },
    );
  });

  test("delays increase, and there are at most three", () => {
    const delays = hedgeDelays(Array.from({ length: 10 }, () => known(stragglers)));
    expect(delays).toHaveLength(readLimits.hedgesMax);
    expect([...delays].sort((one, other) => one - other)).toEqual(delays);
    expect(new Set(delays).size).toBe(delays.length);
  });

  test("each request gets the time that one usually takes before the next is sent", () => {
    const bounded = drawn((random) => random.between(5, 15));
    const [first = 0, second = 0, third = 0] = hedgeDelays(Array.from({ length: 4 }, () => known(bounded)));
    expect(second - first).toBeGreaterThan(9.5);
    expect(third - second).toBeGreaterThan(9.5);
  });

  test("a hedge that costs three tokens waits for a third as many reads", () => {
    const [near = 0] = hedgeDelays([known(stragglers), known(stragglers)]);
    const [far = 0] = hedgeDelays([known(stragglers), known(stragglers, 3)]);
    expect(far).toBeCloseTo(stragglers.quantile(1 - (hedgeBudget * hedgeDemand) / 3) ?? 0);
    expect(far).toBeGreaterThan(near);
  });

  test("a tail beyond all bounds does not hold hedges back (CASSANDRA-14293)", () => {
    const broken = drawn((random) => (random.chance(0.3) ? 20_000 : 20));
    expect(hedgeDelays([known(broken), known(broken)])).toEqual([readLimits.hedgeDelayMaxMs]);
  });

  test("nothing is so fast that the clock could not tell", () => {
    const fast = drawn(() => 0.01);
    expect(hedgeDelays([known(fast), known(fast)])).toEqual([readLimits.hedgeDelayMinMs]);
  });

  test("without samples the first delay is the default and the gaps double", () => {
    expect(hedgeDelays(Array.from({ length: 4 }, () => unknown()))).toEqual([200, 600, 1_400]);
  });

  test("one class without samples leaves the other's delay as it is", () => {
    const [first = 0, second = 0] = hedgeDelays([known(stragglers), unknown(), unknown()]);
    expect(first).toBeLessThan(100);
    expect(second).toBeCloseTo(3 * first);
  });

  test("one replica leaves nobody to hedge to", () => {
    expect(hedgeDelays([known(stragglers)])).toEqual([]);
    expect(hedgeDelays([])).toEqual([]);
  });
});
