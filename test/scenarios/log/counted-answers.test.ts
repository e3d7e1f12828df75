/** Stories of answers that one process has heard, and that failures of its own counting must not outlive. */
import { expect, test } from "vitest";
import { logName, region } from "../../../lib/protocol/ids.ts";
import { limits } from "../../../lib/protocol/limits.ts";
import { OwnerCalls } from "../../../lib/protocol/log/ownership/owner-calls.ts";
import { OwnerFailureDetector } from "../../../lib/protocol/log/ownership/owner-failure-detector.ts";
import { LogWorld } from "./log-world.ts";

const east = region("east");
const OTHER = logName("other");

/** Two logs of the east, and what Q in the west asks of it. */
async function askedFromWest() {
  const w = await LogWorld.make({ leases: true, forwarding: true });
  const p = w.client("P", "east");
  expect(await p.append("a")).toEqual(["at 0"]);
  const other = (await w.run(p.appends.createLog(OTHER, w.config))).description.incarnation;
  const { ports } = w.client("Q", "west");
  if (ports.regions === undefined) throw new Error("Q reaches other regions");
  const detector = new OwnerFailureDetector(ports);
  const calls = new OwnerCalls(ports, ports.regions, detector);
  for (const log of [w.log, other]) detector.noteOwner(log, east);
  await w.world.clock.advance(limits.ownerGuardMs);
  const failures = async () => (await w.leaseTable("west").readFailures(east))?.failures.failures.length;
  return { w, clock: w.world.clock, calls, detector, other, failures };
}

const question = { client: "Q", port: "region", call: "canOwn" } as const;

test("OF2: a question that fails after an answer counts for none of those who wait for it", async () => {
  const { w, clock, calls, other, failures } = await askedFromWest();
  w.faults.hold(question);
  const asked = [calls.canOwn(w.log, east), calls.canOwn(other, east)];
  await clock.advance(limits.ownerAskTimeoutMs / 2);
  await calls.request(
    { name: OTHER, incarnation: other, config: w.config },
    east,
    { kind: "settle", log: OTHER },
    100,
  );
  expect(await w.run(Promise.all(asked))).toEqual([undefined, undefined]);
  expect(await failures()).toBeUndefined();
});

test("OF2: an append that its owner does not answer is no failure, and makes the region doubtful", async () => {
  const { w, clock, calls, detector, failures } = await askedFromWest();
  detector.noteAnswer(east);
  w.faults.hold({ client: "Q", port: "region", call: "append" }, "before", limits.ownerFailuresMin);
  const log = { name: logName("orders"), incarnation: w.log, config: w.config };
  const request = { log: log.name, records: [{ headers: [], body: Uint8Array.of(1) }] };
  for (let time = 0; time < limits.ownerFailuresMin; time++) {
    const deadline = { isOver: false, leftMs: limits.ownerWatchMs / 2 };
    await expect(w.run(calls.forward(log, east, request, deadline))).rejects.toThrow();
    expect(detector.wasHeard(east)).toBe(false);
    await clock.advance(limits.ownerSilenceMs);
  }
  expect(await failures()).toBeUndefined();
});

test("OC1: a question that several logs' appends wait for fails once", async () => {
  const { w, clock, calls, other, failures } = await askedFromWest();
  w.faults.hold(question);
  const asked = [calls.canOwn(w.log, east)];
  await clock.advance(limits.ownerAskTimeoutMs / 2);
  asked.push(calls.canOwn(other, east), calls.canOwn(w.log, east));
  expect(await w.run(Promise.all(asked))).toEqual([undefined, undefined, undefined]);
  expect(await failures()).toBe(1);
});

test("OF4: a question's answer removes what was counted, for every log of the region", async () => {
  const { w, clock, calls, detector, other, failures } = await askedFromWest();
  for (let time = 0; time < limits.ownerFailuresMin; time++) {
    await clock.advance(limits.ownerSilenceMs / 2);
    await w.run(detector.countFailure(east));
  }
  for (const log of [w.log, other]) expect(await w.run(calls.isSilent(log, east))).toBe(true);
  expect(await w.run(calls.canOwn(w.log, east))).toBe(true);
  await w.run(detector.flush());
  expect(await failures()).toBe(0);
  for (const log of [w.log, other]) expect(await w.run(calls.isSilent(log, east))).toBe(false);
});

test("OF4: an answer behind a failure is told, however lately one was told before it", async () => {
  const { w, clock, calls } = await askedFromWest();
  const answers = async (canOwn: boolean | undefined, thenMs: number) => {
    if (canOwn === undefined) w.faults.fail(question, "before", 1);
    expect(await w.run(calls.canOwn(w.log, east))).toBe(canOwn);
    await clock.advance(thenMs);
  };
  await answers(true, 50); // returned: nothing was counted
  await answers(undefined, limits.ownerSilenceMs / 2);
  await answers(undefined, limits.ownerSilenceMs / 4);
  await answers(true, limits.ownerSilenceMs / 4);
  await answers(undefined, 0);
  expect(await w.run(calls.isSilent(w.log, east))).toBe(false);
});

test.each(["jump", "suspend"] as const)(
  "OC2: what an owner said before the asker froze is not what it says now (%s)",
  async (passes) => {
    const { w, clock } = await askedFromWest();
    const { ports } = w.client("Z", "west");
    if (ports.regions === undefined) throw new Error("Z reaches other regions");
    const answers: ((canOwn: boolean) => void)[] = [];
    const canOwn = () => new Promise<boolean>((resolve) => answers.push(resolve));
    const calls = new OwnerCalls(ports, { ...ports.regions, canOwn }, new OwnerFailureDetector(ports));
    const asked = calls.canOwn(w.log, east);
    clock[passes](limits.ownerFailureGapMaxMs + 1);
    answers[0]?.(false);
    const askedAgain = calls.canOwn(w.log, east);
    answers[1]?.(true);
    expect(await w.run(Promise.all([asked, askedAgain]))).toEqual([undefined, true]);
  },
);

test.each(["jump", "suspend"] as const)(
  "OC2: a question from before a freeze is no sign of life when its answer comes, and no failure (%s)",
  async (passes) => {
    const { w, clock, calls, detector, failures } = await askedFromWest();
    const held = w.faults.hold(question);
    const asked = calls.canOwn(w.log, east);
    await w.idle();
    clock[passes](3_600_000);
    held.release();
    expect(await w.run(asked)).toBeUndefined();
    expect(detector.wasHeard(east)).toBe(false);
    expect(await failures()).toBeUndefined();
  },
);
