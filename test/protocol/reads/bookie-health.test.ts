import { describe, expect, test } from "vitest";
import { BookieHealth, type Yardstick } from "../../../lib/protocol/reads/bookie-health.ts";
import { readLimits } from "../../../lib/protocol/reads/read-limits.ts";

class HandClock {
  ms = 0;
  nowMs = () => this.ms;
  monotonicMs = () => this.ms;
}

const random = { uint32: () => 1 };
const yardstick: Yardstick = { usualMs: 30, lateMs: 70, silenceMs: 400 };

function replica(): { clock: HandClock; health: BookieHealth } {
  const clock = new HandClock();
  return { clock, health: new BookieHealth({ clock, random }) };
}

/** A replica that has answered as its class does. */
function proven(): { clock: HandClock; health: BookieHealth } {
  const made = replica();
  for (let answer = 0; answer < 100; answer++) made.health.answered(30, yardstick);
  return made;
}

function suspect(): { clock: HandClock; health: BookieHealth } {
  const made = proven();
  for (let failure = 0; failure < 3; failure++) made.health.failed(yardstick);
  return made;
}

describe("suspicion", () => {
  test("three failures in a row make a suspect; two do not", () => {
    const { health } = proven();
    health.failed(yardstick);
    health.failed(yardstick);
    expect(health.isSuspect).toBe(false);
    health.failed(yardstick);
    expect(health.isSuspect).toBe(true);
  });

  test("three silences long enough to send the question on make a suspect", () => {
    const { health } = proven();
    for (let silence = 0; silence < 2; silence++) health.abandoned(450, yardstick);
    expect(health.isSuspect).toBe(false);
    health.abandoned(450, yardstick);
    expect(health.isSuspect).toBe(true);
  });

  test("six requests in a row that were late and then cancelled make a suspect", () => {
    const { health } = proven();
    for (let late = 0; late < 5; late++) health.abandoned(100, yardstick);
    expect(health.isSuspect).toBe(false);
    health.abandoned(100, yardstick);
    expect(health.isSuspect).toBe(true);
  });

  test("a timeout makes a suspect at once", () => {
    const { health } = proven();
    health.timedOut(1_500, yardstick);
    expect(health.isSuspect).toBe(true);
  });

  test("an answer between them starts the count anew, however slow it was", () => {
    const { health } = proven();
    for (let round = 0; round < 50; round++) {
      health.failed(yardstick);
      health.failed(yardstick);
      health.answered(900, yardstick);
    }
    expect(health.isSuspect).toBe(false);
  });

  test("cancelled early is neither success nor failure", () => {
    const { health } = proven();
    for (let hedge = 0; hedge < 1_000; hedge++) health.abandoned(60, yardstick);
    expect(health.isSuspect).toBe(false);
    expect(health.averageMs).toBeCloseTo(30);
  });

  test("slow answers never make a suspect (BH1)", () => {
    const { health } = proven();
    for (let answer = 0; answer < 1_000; answer++) health.answered(900, yardstick);
    expect(health.isSuspect).toBe(false);
    expect(health.predictedMs(30, 400)).toBeGreaterThan(900);
  });
});

describe("doubt", () => {
  test("begins with one plain failure or two late requests, and ends with an answer", () => {
    const { health } = proven();
    expect(health.isInDoubt).toBe(false);
    health.abandoned(100, yardstick);
    expect(health.isInDoubt).toBe(false);
    health.abandoned(100, yardstick);
    expect(health.isInDoubt).toBe(true);
    health.answered(500, yardstick);
    expect(health.isInDoubt).toBe(false);
    health.failed(yardstick);
    expect(health.isInDoubt).toBe(true);
  });

  test("a suspect is beyond doubt", () => {
    expect(suspect().health.isInDoubt).toBe(false);
  });
});

describe("clearing a suspect", () => {
  test("three good answers in a row clear it", () => {
    const { health } = suspect();
    health.answered(30, yardstick);
    health.answered(30, yardstick);
    health.failed(yardstick);
    health.answered(30, yardstick);
    health.answered(150, yardstick);
    expect(health.isSuspect).toBe(true);
    health.answered(30, yardstick);
    expect(health.isSuspect).toBe(false);
    expect(health.predictedMs(30, 400)).toBeLessThan(60);
  });

  test("answers that take far too long do not clear it", () => {
    const { health } = suspect();
    for (let answer = 0; answer < 10; answer++) health.answered(500, yardstick);
    expect(health.isSuspect).toBe(true);
  });

  test("every relapse asks for twice as many, up to a bound; a quiet minute forgives", () => {
    const { clock, health } = suspect();
    const clear = () => {
      let answers = 0;
      for (; health.isSuspect && answers < 100; answers++) health.answered(30, yardstick);
      return answers;
    };
    const relapse = () => health.timedOut(1_500, yardstick);
    expect(clear()).toBe(3);
    const needed = [1, 2, 3, 4].map(() => {
      relapse();
      return clear();
    });
    expect(needed).toEqual([6, 12, 24, 24]);
    clock.ms += readLimits.relapseWithinMs;
    relapse();
    expect(clear()).toBe(3);
  });

  test("without news one read is let through on trial after ten seconds, and only one (BH4)", () => {
    const { clock, health } = suspect();
    clock.ms += readLimits.suspicionMs - 1;
    expect(health.isSuspect).toBe(true);
    clock.ms += 1;
    expect(health.isSuspect).toBe(false);
    health.sent();
    expect(health.isSuspect).toBe(true);
    clock.ms += readLimits.suspicionMs;
    expect(health.isSuspect).toBe(false);
  });

  test("suspicion a minute old is dropped for good (BH4)", () => {
    const { clock, health } = suspect();
    clock.ms += readLimits.suspicionMaxMs;
    health.sent();
    expect(health.isSuspect).toBe(false);
    clock.ms += 1;
    expect(health.isSuspect).toBe(false);
  });
});

describe("prediction", () => {
  test("a replica nobody has asked is expected to be like its class", () => {
    // One answer in twenty is late, and costs the wait for silence.
    expect(replica().health.predictedMs(30, 400)).toBeCloseTo(30 + 0.05 * 400);
  });

  test("follows what answers take, by their logarithm: one straggler changes little", () => {
    const { health } = proven();
    const before = health.predictedMs(30, 400);
    health.answered(3_000, yardstick);
    expect(health.predictedMs(30, 400)).toBeLessThan(2.2 * before);
    for (let answer = 0; answer < 60; answer++) health.answered(90, yardstick);
    expect(health.averageMs).toBeGreaterThan(80);
  });

  test("counts late answers although hedges cut them short", () => {
    const { health } = proven();
    const before = health.predictedMs(30, 400);
    for (let round = 0; round < 40; round++) {
      health.abandoned(100, yardstick);
      health.answered(30, yardstick);
      health.answered(30, yardstick);
    }
    expect(health.predictedMs(30, 400)).toBeGreaterThan(2.5 * before);
  });

  test("an error counts as a long wait: who fails fast does not look fast (BH2)", () => {
    const { health } = proven();
    const before = health.predictedMs(30, 400);
    health.failed(yardstick);
    expect(health.predictedMs(30, 400)).toBeGreaterThan(before);
    health.failed(yardstick);
    health.failed(yardstick);
    expect(health.predictedMs(30, 400)).toBeGreaterThanOrEqual(yardstick.silenceMs);
  });

  test("fades towards the class while nothing is heard, so that nobody is shunned for long (BH3)", () => {
    const { clock, health } = proven();
    for (let answer = 0; answer < 100; answer++) health.answered(300, yardstick);
    const slow = health.predictedMs(30, 400);
    clock.ms += readLimits.averageDecayMs;
    expect(health.predictedMs(30, 400)).toBeLessThan(slow / 2);
    clock.ms += 5 * readLimits.averageDecayMs;
    expect(health.predictedMs(30, 400)).toBeLessThan(55);
  });

  test("what has faded is not remembered by the next answer", () => {
    const { clock, health } = proven();
    for (let answer = 0; answer < 100; answer++) health.answered(300, yardstick);
    clock.ms += 60_000;
    health.answered(30, yardstick);
    expect(health.predictedMs(30, 400)).toBeLessThan(60);
  });

  test("what makes a suspect does not fade (BH3)", () => {
    const { clock, health } = suspect();
    clock.ms += readLimits.suspicionMs - 1;
    expect(health.predictedMs(30, 400)).toBeGreaterThanOrEqual(yardstick.silenceMs);
  });

  test("requests in flight are counted until they end", () => {
    const { health } = replica();
    health.sent();
    health.sent();
    health.ended();
    expect(health.inFlight).toBe(1);
  });
});

describe("probes", () => {
  test("a new suspect is tried soon, then after ever longer pauses", () => {
    const { clock, health } = suspect();
    const pauses: number[] = [];
    for (let probe = 0; probe < 6; probe++) {
      const from = clock.ms;
      while (!health.isProbeDue) clock.ms += 10;
      pauses.push(clock.ms - from);
      health.probed();
      health.timedOut(400, yardstick);
    }
    expect(pauses[0]).toBeLessThanOrEqual(1_000);
    expect([...pauses].sort((one, other) => one - other)).toEqual(pauses);
    expect(pauses.at(-1)).toBe(readLimits.probePauseMaxMs);
  });

  test("after a good answer the next one follows within a second", () => {
    const { clock, health } = suspect();
    for (let probe = 0; probe < 5; probe++) health.timedOut(400, yardstick);
    health.answered(30, yardstick);
    clock.ms += readLimits.probeAgainMs;
    expect(health.isProbeDue).toBe(true);
  });
});
