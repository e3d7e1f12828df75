/** When a region's silence allows a takeover of its logs, on the observer's own clock. */
import { expect, test } from "vitest";
import { logIncarnation, region } from "../../../../lib/protocol/ids.ts";
import { limits } from "../../../../lib/protocol/limits.ts";
import { isStale } from "../../../../lib/protocol/log/ownership/asking.ts";
import { OwnerEvidence } from "../../../../lib/protocol/log/ownership/owner-evidence.ts";
import { momentNow } from "../../../../lib/protocol/moment.ts";
import { TestClock } from "../../../scenarios/test-clock.ts";

const log = logIncarnation("orders");
const [east, west] = [region("east"), region("west")];

function evidence() {
  const clock = new TestClock();
  const seen = new OwnerEvidence(clock);
  seen.noteOwner(log, east);
  const fail = (times: number, everyMs: number) => {
    for (let count = 0; count < times; count++) {
      seen.noteFailure(east);
      clock.jump(everyMs);
    }
  };
  return { clock, seen, fail, isSilent: () => seen.isSilent(log, east) };
}

test("O1: enough failures over enough time, neither alone", () => {
  const few = evidence();
  few.fail(limits.ownerFailuresMin - 1, limits.ownerSilenceMs);
  expect(few.isSilent()).toBe(false);
  const quick = evidence();
  quick.clock.jump(limits.ownerGuardMs);
  quick.fail(100, 1);
  expect(quick.isSilent()).toBe(false);
  const enough = evidence();
  enough.fail(limits.ownerFailuresMin, limits.ownerSilenceMs / 2);
  expect(enough.isSilent()).toBe(true);
});

test("O1: one answer between them, whatever it said, and it begins anew", () => {
  const { seen, fail, isSilent } = evidence();
  fail(limits.ownerFailuresMin, limits.ownerSilenceMs);
  seen.noteAnswer(east);
  expect(isSilent()).toBe(false);
  fail(1, limits.ownerSilenceMs);
  expect(isSilent()).toBe(false);
});

test("O1: failures far apart are not one outage", () => {
  const { fail, isSilent } = evidence();
  fail(10, limits.ownerFailureGapMaxMs + 1);
  expect(isSilent()).toBe(false);
});

test("O1: a call that was sent before the last answer, and fails after it, is no failure", () => {
  const { clock, seen, isSilent } = evidence();
  const askedAtMs = clock.monotonicMs();
  clock.jump(20_000);
  seen.noteAnswer(east);
  for (let count = 0; count < limits.ownerFailuresMin; count++) {
    clock.jump(limits.ownerSilenceMs);
    seen.noteFailure(east, askedAtMs);
  }
  expect(isSilent()).toBe(false);
});

test.each(["jump", "suspend"] as const)("O1: an outage that is over is no silence (%s)", (passes) => {
  const { clock, fail, isSilent } = evidence();
  fail(limits.ownerFailuresMin, limits.ownerSilenceMs);
  expect(isSilent()).toBe(true);
  clock[passes](limits.ownerFailureGapMaxMs);
  expect(isSilent()).toBe(false);
});

test.each(["wall", "monotonic"] as const)(
  "O1: nor is one from before a freeze, if the %s clock tells it",
  (which) => {
    const clock = new TestClock();
    const asleepMs = { wall: 0, monotonic: 0 };
    const seen = new OwnerEvidence({
      nowMs: () => clock.nowMs() + asleepMs.wall,
      monotonicMs: () => clock.monotonicMs() + asleepMs.monotonic,
      startTimer: (delayMs, fire) => clock.startTimer(delayMs, fire),
    });
    seen.noteOwner(log, east);
    const fail = (times: number) => {
      for (let count = 0; count < times; count++) {
        seen.noteFailure(east);
        clock.jump(limits.ownerSilenceMs);
      }
    };
    fail(limits.ownerFailuresMin);
    expect(seen.isSilent(log, east)).toBe(true);
    asleepMs[which] = 3_600_000;
    expect(seen.isSilent(log, east)).toBe(false);
    fail(1); // it begins anew
    expect(seen.isSilent(log, east)).toBe(false);
    fail(limits.ownerFailuresMin - 1);
    expect(seen.isSilent(log, east)).toBe(true);
    asleepMs[which] = -3_600_000;
    expect(seen.isSilent(log, east)).toBe(false);
  },
);

test.each(["wall", "monotonic"] as const)(
  "F3: a question from before a freeze is stale by the %s clock alone",
  (which) => {
    const nowMs = { wall: 5, monotonic: 5 };
    const clock = {
      nowMs: () => nowMs.wall,
      monotonicMs: () => nowMs.monotonic,
      startTimer: () => ({ cancel: () => {} }),
    };
    const asking = {
      answer: Promise.resolve(true),
      sentAt: momentNow(clock),
      failedFor: new Set<typeof log>(),
    };
    expect(isStale(clock, asking)).toBe(false);
    nowMs[which] += limits.ownerFailureGapMaxMs + 1;
    expect(isStale(clock, asking)).toBe(true);
  },
);

test("O2: an owner that was seen just now is left alone, however silent its region is", () => {
  const { clock, seen, fail } = evidence();
  seen.noteOwner(log, west);
  fail(limits.ownerFailuresMin, limits.ownerSilenceMs);
  seen.noteOwner(log, east);
  expect(seen.isSilent(log, east)).toBe(false);
  clock.jump(limits.ownerGuardMs);
  expect(seen.isSilent(log, east)).toBe(true);
  expect(seen.isSilent(log, west)).toBe(false);
});

test("a region that answered lately need not be asked; a failure ends that", () => {
  const { clock, seen } = evidence();
  expect(seen.wasHeard(east)).toBe(false);
  seen.noteAnswer(east);
  expect(seen.wasHeard(east)).toBe(true);
  seen.noteFailure(east);
  expect(seen.wasHeard(east)).toBe(false);
  seen.noteAnswer(east);
  clock.jump(limits.ownerHeardMs);
  expect(seen.wasHeard(east)).toBe(false);
});
