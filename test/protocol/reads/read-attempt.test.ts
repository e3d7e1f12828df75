import { describe, expect, test } from "vitest";
import { BookieHealth } from "../../../lib/protocol/reads/bookie-health.ts";
import { ClassLatency } from "../../../lib/protocol/reads/class-latency.ts";
import { ReadAttempt } from "../../../lib/protocol/reads/read-attempt.ts";
import { readLimits } from "../../../lib/protocol/reads/read-limits.ts";

class HandClock {
  ms = 0;
  nowMs = () => this.ms;
  monotonicMs = () => this.ms;
}

const random = { uint32: () => 1 };

function setUp() {
  const clock = new HandClock();
  const latencies = new ClassLatency(clock);
  const health = new BookieHealth({ clock, random });
  /** A request that ends so many ms later. */
  const request = (endMs: number, end: (attempt: ReadAttempt) => void, of = health) => {
    const attempt = new ReadAttempt(clock, of, latencies);
    clock.ms += endMs;
    end(attempt);
    return attempt;
  };
  const answered = (times: number, ms: number, of = health) => {
    for (let time = 0; time < times; time++) request(ms, (attempt) => attempt.answered(), of);
  };
  /** The quantile of the present sketch. */
  const quantile = (p: number) => {
    clock.ms += readLimits.refreshMs;
    return latencies.thresholds().survival?.quantile(p);
  };
  return { clock, latencies, health, request, answered, quantile };
}

describe("how an attempt ends is evidence", () => {
  test("an answer is a latency of its class and of its replica", () => {
    const { answered, health, quantile } = setUp();
    answered(250, 10);
    expect(quantile(0.5)).toBeCloseTo(10, 0);
    expect(health.averageMs).toBeCloseTo(10);
  });

  test("a cancelled loser is no latency: the tail stays open", () => {
    const { answered, request, quantile } = setUp();
    answered(250, 10);
    for (let loser = 0; loser < 5; loser++) request(30, (attempt) => attempt.abandoned());
    expect(quantile(0.95)).toBeCloseTo(10, 0);
    expect(quantile(0.999)).toBeUndefined();
  });

  test("a failure is no latency of the class, however fast it came", () => {
    const { answered, request, quantile } = setUp();
    answered(250, 10);
    for (let failure = 0; failure < 100; failure++) request(0.2, (attempt) => attempt.failed());
    expect(quantile(0.01)).toBeCloseTo(10, 0);
  });

  test("a timeout is a capped latency, and its replica a suspect", () => {
    const { answered, request, quantile, health } = setUp();
    answered(250, 10);
    request(readLimits.attemptTimeoutMs, (attempt) => attempt.timedOut());
    expect(quantile(0.9999)).toBeLessThanOrEqual(readLimits.attemptTimeoutMs * 1.03);
    expect(quantile(0.9999)).toBeGreaterThan(1_000);
    expect(health.isSuspect).toBe(true);
  });

  /** A replica that timed out, in a class of healthy ones that take 10 ms. */
  function withSuspect() {
    const made = setUp();
    made.answered(250, 10);
    const suspect = new BookieHealth({ clock: made.clock, random });
    made.request(readLimits.attemptTimeoutMs, (attempt) => attempt.timedOut(), suspect);
    return { ...made, suspect };
  }

  test("what a suspect takes does not bend the pool of the healthy", () => {
    const { clock, latencies, answered, quantile, suspect } = withSuspect();
    for (let round = 0; round < 8; round++) {
      const attempts = Array.from({ length: 20 }, () => new ReadAttempt(clock, suspect, latencies));
      answered(20, 10);
      for (const attempt of attempts) attempt.answered();
    }
    expect(suspect.isSuspect).toBe(true);
    expect(quantile(0.95)).toBeLessThan(11);
  });

  test("unless no healthy one is left: then the class is judged by what it has", () => {
    const { clock, latencies, answered, suspect } = withSuspect();
    clock.ms += 2 * readLimits.sketchHalfMaxMs;
    answered(1, 30, suspect);
    for (let timeout = 0; timeout < 2; timeout++) {
      new ReadAttempt(clock, suspect, latencies).timedOut();
      answered(30, 600, suspect);
    }
    clock.ms += readLimits.refreshMs;
    expect(latencies.thresholds().medianMs).toBeGreaterThan(500);
  });

  test("it ends once", () => {
    const { answered, request, health } = setUp();
    answered(10, 10);
    const attempt = request(10, (one) => one.answered());
    attempt.timedOut();
    attempt.failed();
    attempt.abandoned();
    expect(health.isSuspect).toBe(false);
    expect(health.inFlight).toBe(0);
  });
});

describe("a process that stood still learns nothing from what it waited for", () => {
  test.each(["answered", "failed", "timedOut", "abandoned"] as const)("%s", (end) => {
    const { answered, request, quantile, health } = setUp();
    answered(250, 10);
    const averageMs = health.averageMs;
    for (let thaw = 0; thaw < 5; thaw++) {
      request(readLimits.attemptTimeoutMs + readLimits.frozenAfterMs + 1, (attempt) => attempt[end]());
    }
    expect(health.isSuspect).toBe(false);
    expect(health.averageMs).toBe(averageMs);
    expect(health.inFlight).toBe(0);
    expect(quantile(0.99)).toBeCloseTo(10, 0);
  });

  test("also when it was told so", () => {
    const { answered, request, health } = setUp();
    answered(250, 10);
    for (let thaw = 0; thaw < 5; thaw++) {
      request(700, (attempt) => {
        attempt.discredit();
        attempt.failed();
      });
    }
    expect(health.isSuspect).toBe(false);
  });
});

describe("the memory of a class", () => {
  test("needs a few answers, and survives what the sketch forgets", () => {
    const { clock, latencies, answered } = setUp();
    answered(readLimits.memorySamplesMin - 1, 40);
    expect(latencies.memoryMs).toBeUndefined();
    answered(1, 40);
    clock.ms += 3_600_000;
    expect(latencies.memoryMs).toBeCloseTo(40);
    expect(latencies.typicalMs).toBeCloseTo(40);
    expect(latencies.thresholds().medianMs).toBeUndefined();
  });

  test("a class far slower than it is remembered is strained; slower for long, it is just slower", () => {
    const { clock, latencies, answered } = setUp();
    answered(300, 10);
    clock.ms += 30_000;
    answered(300, 50);
    clock.ms += readLimits.refreshMs;
    expect(latencies.isStrained).toBe(true);
    for (let minute = 0; minute < 60; minute++) {
      answered(600, 50);
      clock.ms += 30_000;
    }
    answered(300, 50);
    clock.ms += readLimits.refreshMs;
    expect(latencies.isStrained).toBe(false);
  });
});
