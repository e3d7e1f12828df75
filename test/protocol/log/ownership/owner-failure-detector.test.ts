/** When a region's silence allows a takeover of its logs, as one process counts it in its region's table. */
import { expect, test } from "vitest";
import { MemoryLeaseStore } from "../../../../lib/adapters/memory/memory-lease-store.ts";
import { CallDenied } from "../../../../lib/protocol/errors.ts";
import { logIncarnation, newTenure, newWriteToken, region } from "../../../../lib/protocol/ids.ts";
import { limits } from "../../../../lib/protocol/limits.ts";
import {
  acquireLease,
  releaseLease,
  renewContested,
} from "../../../../lib/protocol/log/lease/lease-steps.ts";
import { OwnerFailureDetector } from "../../../../lib/protocol/log/ownership/owner-failure-detector.ts";
import { TestClock } from "../../../scenarios/test-clock.ts";
import { SeededRandom } from "../../../sim/seeded-random.ts";

const log = logIncarnation("orders");
const other = logIncarnation("bills");
const [east, west] = [region("east"), region("west")];
const HOUR_MS = 3_600_000;

/** A process that learnt long ago that the east owns both logs. */
function observer() {
  const clock = new TestClock();
  const asleepMs = { wall: 0, monotonic: 0 };
  const clocks = {
    nowMs: () => clock.nowMs() + asleepMs.wall,
    monotonicMs: () => clock.monotonicMs() + asleepMs.monotonic,
    startTimer: clock.startTimer.bind(clock),
  };
  const random = new SeededRandom(1, "detector");
  const store = new MemoryLeaseStore();
  const detector = new OwnerFailureDetector({ clock: clocks, random, leases: { store, holder: "" } });
  for (const one of [log, other]) detector.noteOwner(one, east);
  clock.jump(limits.ownerGuardMs);
  const fail = async (times: number, everyMs: number) => {
    for (let count = 0; count < times; count++) {
      if (count > 0) clock.jump(everyMs);
      await detector.countFailure(east);
    }
  };
  const hold = async () => {
    const lease = { holder: "", expiresAtMs: 0, clean: false, wanted: false, suspects: [], owed: [] };
    const tenure = newTenure(random);
    await store.write(log, "absent", { ...lease, tenure }, newWriteToken(random));
  };
  /** A writer of this region takes the log from the east, and notes it in its lease. */
  const takeOver = async () => {
    const ports = { leases: store, clock: clocks, random };
    const acquired = await acquireLease(ports, log, "taker", false);
    if (acquired.kind !== "acquired") throw new Error(acquired.kind);
    const renewal = await renewContested(ports, acquired.held, east);
    if (renewal.kind !== "kept") throw new Error(renewal.kind);
    await releaseLease(ports, renewal.held, { suspects: [] });
  };
  return {
    clock,
    asleepMs,
    store,
    detector,
    fail,
    hold,
    takeOver,
    isSilent: () => detector.isSilent(log, east),
  };
}

test("OF1: enough failures over enough time, neither alone", async () => {
  const few = observer();
  await few.fail(limits.ownerFailuresMin - 1, limits.ownerSilenceMs);
  expect(await few.isSilent()).toBe(false);
  const quick = observer();
  await quick.fail(100, 1);
  expect(await quick.isSilent()).toBe(false);
  const enough = observer();
  await enough.fail(limits.ownerFailuresMin, limits.ownerSilenceMs / 2);
  expect(await enough.isSilent()).toBe(true);
  expect(await enough.detector.isSilent(other, east)).toBe(true);
});

test("OF1: time that merely passes after enough failures at once is none that they lasted", async () => {
  const { clock, fail, isSilent } = observer();
  await fail(limits.ownerFailuresMin, 0);
  clock.jump(2 * limits.ownerSilenceMs);
  expect(await isSilent()).toBe(false);
  await fail(1, 0);
  expect(await isSilent()).toBe(true);
});

test("OF4: one answer between them, whatever it said, and it begins anew", async () => {
  const { clock, detector, fail, isSilent } = observer();
  await fail(limits.ownerFailuresMin, limits.ownerSilenceMs);
  detector.noteAnswer(east);
  expect(await isSilent()).toBe(false);
  await detector.flush();
  clock.jump(limits.ownerSilenceMs);
  await fail(limits.ownerFailuresMin - 1, limits.ownerSilenceMs);
  expect(await isSilent()).toBe(false);
  clock.jump(limits.ownerSilenceMs);
  await fail(1, 0);
  expect(await isSilent()).toBe(true);
});

test("OF1: failures far apart are not one outage", async () => {
  const { fail, isSilent } = observer();
  await fail(10, limits.ownerFailureGapMaxMs + 1);
  expect(await isSilent()).toBe(false);
});

test.each(["jump", "suspend"] as const)("OF1: an outage that is over is no silence (%s)", async (passes) => {
  const { clock, fail, isSilent } = observer();
  await fail(limits.ownerFailuresMin, limits.ownerSilenceMs);
  expect(await isSilent()).toBe(true);
  clock[passes](limits.ownerFailureGapMaxMs);
  expect(await isSilent()).toBe(false);
});

test.each([
  ["wall", HOUR_MS],
  ["monotonic", HOUR_MS],
  ["wall", -HOUR_MS],
] as const)(
  "OF1: nor is one from before a freeze, if the %s clock alone moved by %i",
  async (which, byMs) => {
    const { asleepMs, fail, isSilent } = observer();
    await fail(limits.ownerFailuresMin, limits.ownerSilenceMs);
    expect(await isSilent()).toBe(true);
    asleepMs[which] = byMs;
    expect(await isSilent()).toBe(false);
  },
);

test("OF5: what was counted long ago is no part of this outage", async () => {
  const { clock, fail, isSilent } = observer();
  await fail(limits.ownerFailuresMin, limits.ownerSilenceMs);
  clock.jump(HOUR_MS);
  await fail(1, 0); // its own failure is fresh, what was counted is not
  expect(await isSilent()).toBe(false);
  clock.jump(limits.ownerSilenceMs);
  await fail(limits.ownerFailuresMin - 1, limits.ownerSilenceMs);
  expect(await isSilent()).toBe(true);
});

test("OF3: the item names no more failures than are needed, and is left as it is until it ages", async () => {
  const { clock, store, fail } = observer();
  await fail(limits.ownerFailuresMin, limits.ownerSilenceMs);
  const full = await store.readFailures(east);
  expect(full?.failures.failures).toHaveLength(limits.ownerFailuresMin);
  await fail(50, 1);
  expect(await store.readFailures(east)).toEqual(full);
  clock.jump(limits.ownerSilenceMs);
  await fail(50, 1);
  const refreshed = await store.readFailures(east);
  expect(refreshed?.version.revision).toBe((full?.version.revision ?? 0) + 1);
  expect(refreshed?.failures.failures).toEqual(full?.failures.failures);
});

test("OF2: failures that turn out to be the asker's own fault are taken back, and the next question ends", async () => {
  const { clock, detector, fail, isSilent } = observer();
  const denied = new CallDenied("the west may not");
  await fail(limits.ownerFailuresMin, limits.ownerSilenceMs);
  detector.noteDenied(east, denied);
  await detector.flush();
  expect(await isSilent()).toBe(false);
  expect(() => detector.checkDenied(east)).toThrow(denied);
  expect(() => detector.checkDenied(east)).not.toThrow(); // once
  detector.noteDenied(east, denied);
  clock.suspend(limits.ownerFailureGapMaxMs);
  expect(() => detector.checkDenied(east)).not.toThrow(); // what was denied before a freeze
});

test("OF6: an owner that was seen just now is left alone, however silent its region is", async () => {
  const { clock, detector, fail } = observer();
  detector.noteOwner(log, west);
  await fail(limits.ownerFailuresMin, limits.ownerSilenceMs);
  detector.noteOwner(log, east);
  expect(await detector.isSilent(log, east)).toBe(false);
  clock.jump(limits.ownerGuardMs);
  expect(await detector.isSilent(log, east)).toBe(true);
  expect(await detector.isSilent(log, west)).toBe(false);
});

test("OF7: a log that was taken from a region is left to it for longer each time; its others are not", async () => {
  const { clock, detector, fail, hold, takeOver, isSilent } = observer();
  await hold();
  const keepFailing = () => fail(2, limits.ownerSilenceMs);
  await fail(limits.ownerFailuresMin, limits.ownerSilenceMs);
  const aloneMs: number[] = [];
  for (let time = 0; time < 4; time++) {
    await takeOver();
    const fromMs = clock.nowMs();
    while (!(await isSilent())) {
      await keepFailing();
      expect(await detector.isSilent(other, east)).toBe(true);
    }
    aloneMs.push(clock.nowMs() - fromMs);
  }
  expect(aloneMs.map((ms) => Math.round(ms / limits.ownerGuardMs))).toEqual([4, 16, 60, 60]);
});

test("OF7: an owner that a takeover found alive has to fall silent anew", async () => {
  const { clock, detector, fail, isSilent } = observer();
  await fail(limits.ownerFailuresMin, limits.ownerSilenceMs);
  await detector.contested(log, east);
  expect(await detector.isSilent(other, east)).toBe(false);
  clock.jump(limits.ownerGuardMs);
  await fail(limits.ownerFailuresMin, limits.ownerSilenceMs);
  expect(await isSilent()).toBe(true);
});

test("a region without its lease table takes nothing over", async () => {
  const { detector, store, fail, isSilent } = observer();
  await fail(limits.ownerFailuresMin, limits.ownerSilenceMs);
  store.readFailures = () => Promise.reject(new Error("the table is down"));
  expect(await isSilent()).toBe(false);
  await detector.countFailure(east); // and throws nothing
});

test("a region that answered lately need not be asked; a failure ends that", async () => {
  const { clock, detector, fail } = observer();
  expect(detector.wasHeard(east)).toBe(false);
  detector.noteAnswer(east);
  expect(detector.wasHeard(east)).toBe(true);
  await fail(1, 0);
  expect(detector.wasHeard(east)).toBe(false);
  detector.noteAnswer(east);
  clock.jump(limits.ownerHeardMs);
  expect(detector.wasHeard(east)).toBe(false);
});

test.each([
  ["wall", HOUR_MS],
  ["monotonic", HOUR_MS],
  ["wall", -HOUR_MS],
] as const)("nor was one heard lately that answered before a freeze (%s clock by %i)", (which, byMs) => {
  const { asleepMs, detector } = observer();
  detector.noteAnswer(east);
  asleepMs[which] = byMs;
  expect(detector.wasHeard(east)).toBe(false);
});
