/** Quarantine by consecutive failures (H1 to H5). */
import { describe, expect, test } from "vitest";
import type { Clock } from "../../../lib/protocol/clock.ts";
import { type BookieId, bookieId } from "../../../lib/protocol/ids.ts";
import { limits } from "../../../lib/protocol/limits.ts";
import { placeEnsemble } from "../../../lib/protocol/placement/place-ensemble.ts";
import { Quarantine, type QuarantineRules } from "../../../lib/protocol/placement/quarantine.ts";
import { SeededRandom } from "../../sim/seeded-random.ts";
import { placed, regionsOf, request } from "./topologies.ts";

const rules: QuarantineRules = {
  failuresInRow: 3,
  quarantineMs: 1_000,
  quarantineMsMax: 4_000,
  forgetAfterMs: 60_000,
};
const b = bookieId("b");

/** Moves when told to; nothing here waits for it. */
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
  }
}

function quarantine(seed = 1) {
  const clock = new HandClock();
  const kept = new Quarantine({ clock, random: new SeededRandom(seed, "quarantine") }, rules);
  const fail = (bookie: BookieId, times: number) => {
    for (let time = 0; time < times; time++) kept.failed(bookie);
  };
  /** How long the bookie stays from now on, to the nearest ms. */
  const stayMs = () => {
    let ms = 0;
    for (; kept.has(b); ms++) clock.advance(1);
    return ms;
  };
  return { clock, kept, fail, stayMs };
}

describe("quarantine", () => {
  test("H1: three failures in a row, and an answer between them begins a new row", () => {
    const { kept, fail } = quarantine();
    fail(b, 2);
    kept.answered(b);
    fail(b, 2);
    expect(kept.has(b)).toBe(false);
    fail(b, 1);
    expect(kept.has(b)).toBe(true);
    expect(kept.among([b, bookieId("c")])).toEqual(new Set([b]));
  });

  test("H2: stays around the set time, at random, twice as long each time up to the longest", () => {
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

  test("H2: failures while it is in do not prolong the stay", () => {
    const [alone, hit] = [quarantine(5), quarantine(5)];
    alone.fail(b, 3);
    hit.fail(b, 10);
    expect(hit.stayMs()).toBe(alone.stayMs());
  });

  test("H3: an answer ends it at once, and forgets", () => {
    const { kept, fail } = quarantine();
    fail(b, 3);
    kept.answered(b);
    expect(kept.has(b)).toBe(false);
    fail(b, 2);
    expect(kept.has(b)).toBe(false);
  });

  test("H4: what failed long ago is forgotten, also by how long it stayed last", () => {
    const { clock, kept, fail, stayMs } = quarantine();
    fail(b, 3);
    stayMs();
    fail(b, 1);
    stayMs();
    clock.advance(rules.forgetAfterMs);
    fail(b, 2);
    expect(kept.has(b)).toBe(false);
    fail(b, 1);
    expect(stayMs()).toBeLessThanOrEqual(1_501);
  });

  test("H5: a silent one is doubtful for a while, or until it answers; that is no failure", () => {
    const { clock, kept, fail } = quarantine();
    for (let time = 0; time < 5; time++) kept.silent(b);
    expect(kept.isSilent(b)).toBe(true);
    expect(kept.doubtful([b, bookieId("c")])).toEqual(new Set([b]));
    fail(b, 2);
    expect(kept.has(b)).toBe(false);
    kept.answered(b);
    expect(kept.doubtful([b])).toEqual(new Set());
    kept.silent(b);
    clock.advance(limits.suspectMs);
    expect(kept.isSilent(b)).toBe(false);
    expect(kept.doubtful([b])).toEqual(new Set());
  });

  test("a wall clock that jumps does not matter", () => {
    const { clock, kept, fail } = quarantine();
    fail(b, 3);
    clock.wallMs -= 3_600_000;
    expect(kept.has(b)).toBe(true);
  });

  test("rules that make no sense are refused", () => {
    const ports = { clock: new HandClock(), random: new SeededRandom(1, "x") };
    expect(() => new Quarantine(ports, { ...rules, failuresInRow: 0 })).toThrow("a beginning and an end");
    expect(() => new Quarantine(ports, { ...rules, quarantineMsMax: 10 })).toThrow("longest stay");
    expect(() => new Quarantine(ports, { ...rules, forgetAfterMs: 10 })).toThrow("after they end");
  });
});

describe("placement with quarantine", () => {
  const cloud = regionsOf([2, 2, 2], 2);

  test("a region that is registered but out of reach is not chosen again and again", () => {
    const { kept, fail } = quarantine();
    for (const { id, place } of cloud) if (place.region === "r3") fail(id, 3);
    const quarantined = kept.among(cloud.map(({ id }) => id));
    const ensemble = placed(placeEnsemble(request(cloud, "4/4/3 m2", { quarantined })));
    expect(ensemble.map(({ place }) => place.region)).not.toContain("r3");
  });

  test("however many are in: placed whenever it could be without quarantine, in all 64 cases", () => {
    for (let bits = 0; bits < 2 ** cloud.length; bits++) {
      const { kept, fail } = quarantine();
      for (const [index, { id }] of cloud.entries()) if ((bits >> index) % 2 === 1) fail(id, 3);
      const quarantined = kept.among(cloud.map(({ id }) => id));
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
