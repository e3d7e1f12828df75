import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readLimits } from "../../../lib/protocol/reads/read-limits.ts";
import { hedgeBucket, retryBucket } from "../../../lib/protocol/reads/read-policy.ts";

class HandClock {
  ms = 0;
  nowMs(): number {
    return this.ms;
  }
  monotonicMs(): number {
    return this.ms;
  }
  startTimer(): never {
    throw new Error("a bucket needs no timer");
  }
}

describe("hedge bucket", () => {
  test("starts empty: twenty reads pay for the first hedge", () => {
    const bucket = hedgeBucket(new HandClock());
    expect(bucket.trySpend(1)).toBe(false);
    for (let read = 0; read < 19; read++) bucket.earn();
    expect(bucket.trySpend(1)).toBe(false);
    bucket.earn();
    expect(bucket.trySpend(1)).toBe(true);
    expect(bucket.trySpend(1)).toBe(false);
  });

  test("a cross-region hedge costs three", () => {
    const bucket = hedgeBucket(new HandClock());
    for (let read = 0; read < 60; read++) bucket.earn();
    expect(bucket.trySpend(readLimits.crossRegionCost)).toBe(true);
    expect(bucket.tokens).toBeCloseTo(0);
  });

  test("whatever happens, no more is spent than earned (RPL1)", () => {
    const step = fc.oneof(
      fc.record({ kind: fc.constant("read" as const) }),
      fc.record({ kind: fc.constant("spend" as const), cost: fc.constantFrom(1, 3) }),
      fc.record({ kind: fc.constant("wait" as const), ms: fc.integer({ min: 0, max: 3_600_000 }) }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 400 }), (steps) => {
        const clock = new HandClock();
        const bucket = hedgeBucket(clock);
        let reads = 0;
        let spent = 0;
        for (const one of steps) {
          if (one.kind === "read") {
            reads += 1;
            bucket.earn();
          } else if (one.kind === "wait") clock.ms += one.ms;
          else if (bucket.trySpend(one.cost)) spent += one.cost;
          expect(spent).toBeLessThanOrEqual(readLimits.hedgeBudget * reads + 1e-6);
        }
      }),
    );
  });

  test.each([
    { readsPerSecond: 1, saved: readLimits.bucketTokensMin },
    { readsPerSecond: 200, saved: 100 },
    { readsPerSecond: 5_000, saved: readLimits.bucketTokensMax },
  ])("at $readsPerSecond reads a second it saves $saved tokens, ten seconds' worth in bounds", (given) => {
    const clock = new HandClock();
    const bucket = hedgeBucket(clock);
    for (let read = 0; read < 60 * given.readsPerSecond; read++) {
      clock.ms += 1_000 / given.readsPerSecond;
      bucket.earn();
    }
    expect(bucket.tokens).toBeGreaterThan(given.saved * 0.95 - 8);
    expect(bucket.tokens).toBeLessThanOrEqual(given.saved * 1.01);
  });
});

describe("retry bucket", () => {
  test("has a second's worth from the start and earns 10 a second and a tenth a read", () => {
    const clock = new HandClock();
    const bucket = retryBucket(clock);
    expect(bucket.tokens).toBeCloseTo(10);
    for (let retry = 0; retry < 10; retry++) expect(bucket.trySpend(1)).toBe(true);
    expect(bucket.trySpend(1)).toBe(false);
    clock.ms += 500;
    expect(bucket.tokens).toBeCloseTo(5);
    for (let read = 0; read < 10; read++) bucket.earn();
    expect(bucket.tokens).toBeCloseTo(6);
  });

  test("earns ten seconds' worth at most while the process stands still", () => {
    const clock = new HandClock();
    const bucket = retryBucket(clock);
    for (let retry = 0; retry < 10; retry++) bucket.trySpend(1);
    clock.ms += 3_600_000;
    expect(bucket.tokens).toBeCloseTo(100);
  });
});
