/** Stories of answers that one process has heard, and that failures of its own counting must not outlive. */
import { expect, test } from "vitest";
import { type LogIncarnation, logName, region } from "../../../lib/protocol/ids.ts";
import { limits } from "../../../lib/protocol/limits.ts";
import { OwnerCalls } from "../../../lib/protocol/log/ownership/owner-calls.ts";
import { OwnerEvidence } from "../../../lib/protocol/log/ownership/owner-evidence.ts";
import { countFailure, judgeSilence } from "../../../lib/protocol/log/ownership/owner-silence.ts";
import { LogWorld } from "./log-world.ts";

const east = region("east");
const OTHER = logName("other");

/** Two logs of the east, and what Q in the west asks of it. */
async function askedFromWest() {
  const w = await LogWorld.make({ leases: true, forwarding: true });
  const p = w.client("P", "east");
  expect(await p.append("a")).toEqual(["at 0"]);
  const other = (await w.run(p.appends.createLog(OTHER, w.config))).description.log;
  const { ports } = w.client("Q", "west");
  if (ports.regions === undefined) throw new Error("Q reaches other regions");
  const calls = new OwnerCalls(ports, ports.regions, new OwnerEvidence(ports.clock));
  for (const log of [w.log, other]) calls.noteOwner(log, east);
  await w.world.clock.advance(limits.ownerGuardMs);
  const table = { leases: w.leaseTable("west"), clock: ports.clock, random: ports.random };
  const failures = async (log: LogIncarnation) =>
    (await table.leases.read(log))?.lease.ownerSilence?.failures ?? 0;
  return { w, clock: w.world.clock, calls, other, table, failures };
}

const question = { client: "Q", port: "region", call: "canOwn" } as const;

test("O1: a question that fails after an answer counts for none of the logs that wait for it", async () => {
  const { w, clock, calls, other, failures } = await askedFromWest();
  w.faults.hold(question);
  const asked = [calls.canOwn(w.log, east), calls.canOwn(other, east)];
  await clock.advance(limits.ownerAskTimeoutMs / 2);
  await calls.request(
    { name: OTHER, log: other, config: w.config },
    east,
    { kind: "settle", log: OTHER },
    100,
  );
  expect(await w.run(Promise.all(asked))).toEqual([undefined, undefined]);
  expect([await failures(w.log), await failures(other)]).toEqual([0, 0]);
});

test("Q2: a question's answer wipes what was counted of each log that waits for it", async () => {
  const { w, clock, calls, other, table } = await askedFromWest();
  for (const log of [w.log, other]) await w.run(countFailure(table, log, east));
  const held = w.faults.hold(question);
  const asked = [calls.canOwn(w.log, east), calls.canOwn(other, east)];
  await clock.advance(limits.ownerAskTimeoutMs / 2);
  held.release();
  expect(await w.run(Promise.all(asked))).toEqual([true, true]);
  await w.run(calls.told());
  for (const log of [w.log, other]) expect(await w.run(judgeSilence(table, log, east))).toBe("heard");
});

test("Q2: an answer behind a failure is told, however lately one was told before it", async () => {
  const { w, clock, calls } = await askedFromWest();
  const answers = async (canOwn: boolean | undefined, thenMs: number) => {
    if (canOwn === undefined) w.faults.fail(question, "before", 1);
    expect(await w.run(calls.canOwn(w.log, east))).toBe(canOwn);
    await clock.advance(thenMs);
  };
  await answers(true, 50); // told: nothing was counted
  await answers(undefined, limits.ownerSilenceMs / 2);
  await answers(undefined, limits.ownerSilenceMs / 4);
  await answers(true, limits.ownerSilenceMs / 4);
  await answers(undefined, 0);
  expect(await w.run(calls.isSilent(w.log, east))).toBe(false);
});

test.each(["jump", "suspend"] as const)(
  "F3: what an owner said before the asker froze is not what it says now (%s)",
  async (passes) => {
    const { w, clock } = await askedFromWest();
    const { ports } = w.client("Z", "west");
    if (ports.regions === undefined) throw new Error("Z reaches other regions");
    const answers: ((canOwn: boolean) => void)[] = [];
    const canOwn = () => new Promise<boolean>((resolve) => answers.push(resolve));
    const calls = new OwnerCalls(ports, { ...ports.regions, canOwn }, new OwnerEvidence(ports.clock));
    const asked = calls.canOwn(w.log, east);
    clock[passes](limits.ownerFailureGapMaxMs + 1);
    answers[0]?.(false);
    const askedAgain = calls.canOwn(w.log, east);
    answers[1]?.(true);
    expect(await w.run(Promise.all([asked, askedAgain]))).toEqual([undefined, true]);
  },
);
