/** The bench itself: its arithmetic on small cases, and its sections on a tenth of the reads. */
import { describe, expect, test, vi } from "vitest";
import { CPU_BOUND } from "../cpu-bound.ts";
import { bestPlan, clairvoyant, clairvoyantWithin, hedged, noHedging } from "./reads/baselines.ts";
import { score, scoreInterval } from "./reads/bootstrap.ts";
import { atLeast, atMost, gateLines } from "./reads/gates.ts";
import { drawMatrix, fixedLayout, type LatencyMatrix, withFault } from "./reads/latency-matrix.ts";
import { roundTripMs, s3ReadMs } from "./reads/latency-model.ts";
import { runOurs } from "./reads/our-policy.ts";
import { at, percentilesOf } from "./reads/percentiles.ts";
import { steadySection } from "./reads/steady.ts";

vi.setConfig({ testTimeout: CPU_BOUND.timeout });

describe("latency model", () => {
  test.each([
    [0, 26.8],
    [1.2816, 46.9],
    [2.3263, 113],
  ])("S3 at the normal deviate %d takes %d ms", (deviate, ms) => {
    expect(s3ReadMs(deviate)).toBeCloseTo(ms, 6);
  });

  test("rises with the deviate and goes on beyond p99", () => {
    expect(s3ReadMs(-2)).toBeLessThan(s3ReadMs(0));
    expect(s3ReadMs(3.09)).toBeGreaterThan(200);
    expect(roundTripMs("us-east-1", "us-west-2")).toBe(64.4);
  });
});

/** Two reads at the fixed layout; the first replica is slow for the first of them. */
const byHand: LatencyMatrix = {
  layout: fixedLayout,
  reads: 2,
  arrivalMs: Float64Array.of(0, 10),
  latencyMs: [
    Float64Array.of(100, 20),
    Float64Array.of(30, 25),
    Float64Array.of(40, 15),
    Float64Array.of(70, 71),
  ],
  firstChoice: Uint8Array.of(0, 0),
  secondChoice: Uint8Array.of(1, 1),
  lot: Float64Array.of(0.4, 0.9),
};

describe("baselines by hand", () => {
  test("no hedging takes what the first choice takes", () => {
    expect([...noHedging(byHand).latencyMs]).toEqual([100, 20]);
  });

  test("a hedge starts its delay later and counts as extra", () => {
    const result = hedged(byHand, { delayMs: 50, probability: 1 });
    expect([...result.latencyMs]).toEqual([80, 20]);
    expect(result.extra).toBe(0.5);
    expect(hedged(byHand, { delayMs: 50, probability: 0.3 }).extra).toBe(0);
  });

  test("a third request can be faster still", () => {
    const result = hedged(byHand, { delayMs: 50, probability: 1, thirdMs: 35 });
    expect([...result.latencyMs]).toEqual([75, 20]);
    expect(result.extra).toBe(1);
  });

  test("who sees the future takes the fastest, or spends the budget where it gains most", () => {
    expect([...clairvoyant(byHand).latencyMs]).toEqual([30, 15]);
    expect([...clairvoyantWithin(byHand, 0.5).latencyMs]).toEqual([30, 20]);
  });

  test("without an answer a client waits for its timeout", () => {
    const dead = withFault(byHand, (_, replica, ms) => (replica === 0 ? Number.POSITIVE_INFINITY : ms));
    expect([...noHedging(dead).latencyMs]).toEqual([1_500, 1_500]);
  });

  test("percentiles are by nearest rank", () => {
    const sorted = Float64Array.from({ length: 1_000 }, (_, index) => index + 1);
    expect(at(sorted, 0.5)).toBe(500);
    expect(percentilesOf(sorted.reverse())).toEqual({ p50: 500, p99: 990, p999: 999 });
  });
});

const small = drawMatrix({ layout: fixedLayout, reads: 24_000, readsPerSecond: 100, seed: 4 });

test("the same seed draws the same matrix, another seed another", () => {
  const plan = { layout: fixedLayout, reads: 50, readsPerSecond: 100 };
  const first = drawMatrix({ ...plan, seed: 1 });
  expect(drawMatrix({ ...plan, seed: 1 })).toEqual(first);
  expect(drawMatrix({ ...plan, seed: 2 }).latencyMs[0]).not.toEqual(first.latencyMs[0]);
});

test("the best plan keeps the budget and beats a hedge at p95", () => {
  const { result } = bestPlan(small, 0.05, 0.99);
  expect(result.extra).toBeLessThanOrEqual(0.0502);
  const plain = hedged(small, { delayMs: at(noHedging(small).latencyMs.sort(), 0.95), probability: 1 });
  expect(percentilesOf(result.latencyMs).p99).toBeLessThanOrEqual(percentilesOf(plain.latencyMs).p99);
});

test("a score's interval holds the score, which is 0 for none and 1 for the best", () => {
  expect(score(100, 100, 80)).toBe(0);
  expect(score(100, 80, 80)).toBe(1);
  const none = noHedging(small).latencyMs;
  const best = bestPlan(small, 0.05, 0.99).result.latencyMs;
  const [low, high] = scoreInterval({ none, ours: best, best }, 0.99);
  expect(low).toBeCloseTo(1);
  expect(high).toBeCloseTo(1);
});

test("the steady gates hold on a tenth of the reads, and the text names every policy", {
  timeout: 60_000,
}, async () => {
  const { gates, text } = await steadySection(small);
  expect(gates.filter((gate) => !gate.holds)).toEqual([]);
  for (const policy of ["no hedging", "plain p95 hedge", "clairvoyant", "best by grid", "ours"]) {
    expect(text).toContain(policy);
  }
});

test("a run of ours is the same every time", async () => {
  const plan = { layout: fixedLayout, reads: 1_500, readsPerSecond: 100, seed: 9 };
  const [one, other] = [await runOurs(drawMatrix(plan)), await runOurs(drawMatrix(plan))];
  expect(other.latencyMs).toEqual(one.latencyMs);
  expect(other.policy.counters).toEqual(one.policy.counters);
});

test("gates can fail", () => {
  expect(atMost("a", 1.00004, 1)).toEqual({ gate: "a", value: 1, limit: 1, holds: false });
  expect(atLeast("b", 0.9, 0.9).holds).toBe(true);
  expect(atLeast("b", Number.NaN, 0.9).holds).toBe(false);
  expect(gateLines([atMost("a", 2, 1)])).toBe("FAILS  a: 2 (limit 1)\n");
});
