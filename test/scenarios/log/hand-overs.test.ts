/** Stories of what goes on in the owner's process while it hands a log over (OT2). */
import { expect, test } from "vitest";
import { region } from "../../../lib/protocol/ids.ts";
import { limits } from "../../../lib/protocol/limits.ts";
import { ownerLimits } from "../../../lib/protocol/log/ownership/owner-limits.ts";
import { LOG, LogWorld } from "./log-world.ts";

/** P in the east hands its log over to the west, whose election takes until `elected` is called. */
async function handingOver() {
  const w = await LogWorld.make({ leases: true, forwarding: true });
  const [p, q] = [w.client("P", "east"), w.client("Q", "west")];
  w.client("N", "north");
  expect(await p.append("a")).toEqual(["at 0"]);
  const election = w.faults.hold({ client: "P", port: "region", target: "west", call: "ask" });
  const moving = p.appends.transferOwner(LOG, region("west"));
  await w.world.clock.advance(100);
  expect(election.calls).toHaveLength(1);
  return { w, p, q, moving, elected: () => election.release() };
}

const owners = async (w: LogWorld) =>
  (await w.run(w.client("T", "north").reads.segments(LOG))).map(({ ownerRegion }) => ownerRegion);

/** What the owner's process did to leases and ledgers; questions whether it can own are none of it. */
const touched = (w: LogWorld, since: number) =>
  w.faults.log.slice(since).filter(({ client, port, call }) => {
    return client === "P" && (port === "bookie" || (port === "lease" && call === "write"));
  });

/** Longer than anybody waits for a lease, shorter than a hand-over may take. */
const LONG_MS = limits.leaseWaitMs + 1_000;
expect(LONG_MS).toBeLessThan(ownerLimits.transferTimeoutMs / 2);

test("OT2: appends wait while their log is handed over, ask for no lease, and follow it", async () => {
  const { w, p, q, moving, elected } = await handingOver();
  const before = w.faults.log.length;
  const waiting = p.sending("b", "c");
  const forwarded = q.sending("d");
  await w.world.clock.advance(LONG_MS);
  expect(touched(w, before)).toEqual([]);
  elected();
  expect(await w.run(moving)).toMatchObject({ owner: "west" });
  const told = await w.run(Promise.all([waiting, forwarded]));
  expect(told.flat().sort()).toEqual(["at 1", "at 2", "at 3"]);
  expect(await owners(w)).toEqual(["east", "west"]);
});

test("OT2: a hand-over waits for the one before it; no append slips through between them", async () => {
  const { w, p, moving, elected } = await handingOver();
  const second = p.appends.transferOwner(LOG, region("north"));
  await w.world.clock.advance(100);
  const before = w.faults.log.length;
  await w.world.clock.advance(LONG_MS / 2);
  const waiting = p.sending("b");
  await w.world.clock.advance(LONG_MS);
  expect(touched(w, before)).toEqual([]);
  elected();
  await w.run(Promise.all([moving, second]));
  expect(await w.run(waiting)).toEqual(["at 1"]);
  expect(await owners(w)).toEqual(["east", "west", "north"]);
});

test("OT2: a busy owner comes to an end with what it has, and hands the log over", async () => {
  const w = await LogWorld.make({ leases: true, forwarding: true });
  const p = w.client("P", "east");
  w.client("Q", "west");
  await p.append("a");
  // Each append takes a while, and there is always another one: the owner is never idle by itself.
  w.faults.at(
    { port: "bookie", call: "add" },
    "before",
    Number.POSITIVE_INFINITY,
    () => new Promise((resolve) => w.world.clock.startTimer(30, () => resolve())),
  );
  let isOver = false;
  const busy = [0, 1, 2].map(async (index) => {
    await new Promise<void>((resolve) => w.world.clock.startTimer(10 * index, resolve));
    while (!isOver) await p.sendingBatch([`busy ${index}`]);
  });
  await w.world.clock.advance(200);
  const startedMs = w.world.clock.nowMs();
  expect(await w.run(p.appends.transferOwner(LOG, region("west")))).toMatchObject({ owner: "west" });
  expect(w.world.clock.nowMs() - startedMs).toBeLessThan(500);
  isOver = true;
  await w.run(Promise.all(busy));
});
