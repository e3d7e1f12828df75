/** Which bookies take new copies last: quarantine by consecutive failures, and doubt (BH5 to BH8). */
import { describe, expect, test } from "vitest";
import type { Clock } from "../../../lib/protocol/deadline.ts";
import { type BookieId, bookieId } from "../../../lib/protocol/ids.ts";
import { limits } from "../../../lib/protocol/limits.ts";
import { placeEnsemble } from "../../../lib/protocol/placement/region-aware.ts";
import { BookieHealths, type QuarantineRules } from "../../../lib/protocol/reads/bookie-health.ts";
import { SeededRandom } from "../../sim/seeded-random.ts";
import { placed, regionsOf, request } from "../placement/topologies.ts";

const rules: QuarantineRules = {
  failuresInRow: 3,
  quarantineMs: 1_000,
  quarantineMsMax: 4_000,
  forgetAfterMs: 60_000,
};
const b = bookieId("b");

/** Moves when a test moves it; nothing here waits for it. */
class HandClock implements Clock {
  #monotonicMs = 5_000;
  wallMs = 1_700_000_000_000;

  nowMs = () => this.wallMs;
  monotonicMs = () => this.#monotonicMs;
  startTimer = (): never => {
    throw new Error("quarantine starts no timers");
  };
  advance(ms: number): void {
    this.#monotonicMs += ms;
    this.wallMs += ms;
  }
}

function quarantine(seed = 1) {
  const clock = new HandClock();
  const kept = new BookieHealths({ clock, random: new SeededRandom(seed, "quarantine") }, rules);
  const fail = (bookie: BookieId, times: number) => {
    for (let time = 0; time < times; time++) kept.of(bookie).callFailed();
  };
  /** How long the bookie stays from now on, to the nearest ms. */
  const stayMs = () => {
    let ms = 0;
    for (; kept.of(b).isQuarantined; ms++) clock.advance(1);
    return ms;
  };
  return { clock, kept, fail, stayMs };
}

describe("quarantine", () => {
  test("BH5: three failures in a row, and an answer between them begins a new row", () => {
    const { kept, fail } = quarantine();
    fail(b, 2);
    kept.of(b).callAnswered();
    fail(b, 2);
    expect(kept.of(b).isQuarantined).toBe(false);
    fail(b, 1);
    expect(kept.of(b).isQuarantined).toBe(true);
    expect(kept.of(bookieId("c")).isQuarantined).toBe(false);
  });

  test("BH5: stays around the set time, at random, twice as long each time up to the longest", () => {
    const stays: number[][] = [];
    for (let seed = 1; seed <= 40; seed++) {
      const { fail, stayMs } = quarantine(seed);
      fail(b, 3);
      const first = stayMs();
      const longer: number[] = [];
      for (let time = 0; time < 3; time++) {
        fail(b, 1);
        longer.push(stayMs());
      }
      stays.push([first, ...longer]);
    }
    const column = (index: number) => stays.map((row) => row[index] ?? 0);
    for (const [index, meanMs] of [1_000, 2_000, 4_000, 4_000].entries()) {
      const all = column(index);
      expect(Math.min(...all)).toBeGreaterThanOrEqual(meanMs / 2);
      expect(Math.max(...all)).toBeLessThanOrEqual(1.5 * meanMs + 1);
      // Processes that saw it fail together come back apart.
      expect(new Set(all).size).toBeGreaterThan(30);
    }
  });

  test("BH5: failures while it is in do not prolong the stay", () => {
    const [alone, hit] = [quarantine(5), quarantine(5)];
    alone.fail(b, 3);
    hit.fail(b, 10);
    expect(hit.stayMs()).toBe(alone.stayMs());
  });

  test("BH6: an answer ends it at once, and forgets", () => {
    const { kept, fail } = quarantine();
    fail(b, 3);
    kept.of(b).callAnswered();
    expect(kept.of(b).isQuarantined).toBe(false);
    fail(b, 2);
    expect(kept.of(b).isQuarantined).toBe(false);
  });

  test("BH6: what failed long ago is forgotten, also by how long it stayed last", () => {
    const { clock, kept, fail, stayMs } = quarantine();
    fail(b, 3);
    stayMs();
    fail(b, 1);
    stayMs();
    clock.advance(rules.forgetAfterMs);
    fail(b, 2);
    expect(kept.of(b).isQuarantined).toBe(false);
    fail(b, 1);
    expect(stayMs()).toBeLessThanOrEqual(1_501);
  });

  test("BH7: a silent one is doubtful for a while, or until it answers; that is no failure", () => {
    const { clock, kept, fail } = quarantine();
    for (let time = 0; time < 5; time++) kept.of(b).keptWaiting();
    expect(kept.of(b).isSilent).toBe(true);
    expect(kept.doubtful([b, bookieId("c")])).toEqual(new Set([b]));
    fail(b, 2);
    expect(kept.of(b).isQuarantined).toBe(false);
    kept.of(b).callAnswered();
    expect(kept.doubtful([b])).toEqual(new Set());
    kept.of(b).keptWaiting();
    clock.advance(limits.suspectMs);
    expect(kept.of(b).isSilent).toBe(false);
    expect(kept.doubtful([b])).toEqual(new Set());
  });

  test("a clock that jumped makes all of it too old: a suspended host begins anew", () => {
    for (const jumpMs of [-1, 60_000]) {
      const { clock, kept, fail } = quarantine();
      fail(b, 3);
      kept.of(b).keptWaiting();
      clock.wallMs += jumpMs;
      expect([kept.of(b).isQuarantined, kept.of(b).isSilent, kept.of(b).isDoubtful]).toEqual([
        false,
        false,
        false,
      ]);
      fail(b, 2);
      expect(kept.of(b).isQuarantined).toBe(false);
    }
  });

  test("BH8: a bookie that goes into quarantine is a suspect of reads, until it answers the one or the other", () => {
    const yardstick = { usualMs: 30, lateMs: 70, silenceMs: 400 };
    const { kept, fail } = quarantine();
    fail(b, 2);
    expect(kept.of(b).isSuspect).toBe(false);
    fail(b, 1);
    expect(kept.of(b).isSuspect).toBe(true);
    for (let answer = 0; answer < 3; answer++) kept.of(b).answered(30, yardstick);
    expect([kept.of(b).isSuspect, kept.of(b).isQuarantined]).toEqual([false, true]);
    fail(bookieId("c"), 3);
    kept.of(bookieId("c")).callAnswered();
    expect([kept.of(bookieId("c")).isSuspect, kept.of(bookieId("c")).isDoubtful]).toEqual([false, false]);
  });

  test("BH8: a suspect of reads takes new copies last, without quarantine; reads' answers leave that as it is", () => {
    const yardstick = { usualMs: 30, lateMs: 70, silenceMs: 400 };
    const { kept, fail } = quarantine();
    kept.of(b).timedOut(1_500, yardstick);
    expect([...kept.doubtful([b])]).toEqual([b]);
    expect(kept.of(b).isQuarantined).toBe(false);
    fail(b, 3);
    for (let answer = 0; answer < 100; answer++) kept.of(b).answered(30, yardstick);
    expect(kept.of(b).isQuarantined).toBe(true);
  });

  test("rules that make no sense are refused", () => {
    const ports = { clock: new HandClock(), random: new SeededRandom(1, "x") };
    expect(() => new BookieHealths(ports, { ...rules, failuresInRow: 0 })).toThrow("a beginning and an end");
    expect(() => new BookieHealths(ports, { ...rules, quarantineMsMax: 10 })).toThrow("longest stay");
    expect(() => new BookieHealths(ports, { ...rules, forgetAfterMs: 10 })).toThrow("after they end");
  });
});

describe("placement with quarantine", () => {
  const cloud = regionsOf([2, 2, 2], 2);

  test("a region that is registered but out of reach is not chosen again and again", () => {
    const { kept, fail } = quarantine();
    for (const { id, place } of cloud) if (place.region === "r3") fail(id, 3);
    const quarantined = kept.doubtful(cloud.map(({ id }) => id));
    const ensemble = placed(placeEnsemble(request(cloud, "4/4/3 m2", { quarantined })));
    expect(ensemble.map(({ place }) => place.region)).not.toContain("r3");
  });

  test("however many are in: placed whenever it could be without quarantine, in all 64 cases", () => {
    for (let bits = 0; bits < 2 ** cloud.length; bits++) {
      const { kept, fail } = quarantine();
      for (const [index, { id }] of cloud.entries()) if ((bits >> index) % 2 === 1) fail(id, 3);
      const quarantined = kept.doubtful(cloud.map(({ id }) => id));
      const members = placed(placeEnsemble(request(cloud, "4/4/3 m2", { quarantined })));
      const sound = cloud.filter(({ id }) => !quarantined.has(id));
      // Four members, at most two of each region: as many sound ones as that allows.
      const most = ["r1", "r2", "r3"]
        .map((name) => Math.min(2, sound.filter(({ place }) => place.region === name).length))
        .reduce((sum, count) => sum + count, 0);
      expect(members.filter(({ id }) => !quarantined.has(id))).toHaveLength(Math.min(4, most));
    }
  });
});
