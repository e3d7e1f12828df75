/** Stories of callers with little patience: they are answered in time, and their answers are true. */
import { expect, test } from "vitest";
import { type FencelineError, unavailable } from "../../../lib/protocol/errors.ts";
import { region } from "../../../lib/protocol/ids.ts";
import { limits } from "../../../lib/protocol/limits.ts";
import type { AppendRequest } from "../../../lib/protocol/log/operations.ts";
import { LOG, type LogClient, LogWorld, recordOf } from "./log-world.ts";

const PATIENCE_MS = 600;

async function ownedByEast() {
  const w = await LogWorld.make({ leases: true, forwarding: true });
  const [p, q] = [w.client("P", "east"), w.client("Q", "west")];
  expect(await p.append("a")).toEqual(["at 0"]);
  return { w, p, q };
}

/** The error of an append with that much patience, and how long it took. */
async function impatient(w: LogWorld, client: LogClient, more: Partial<AppendRequest> = {}) {
  const startedMs = w.world.clock.nowMs();
  const request = { log: LOG, records: [recordOf("late")], timeoutMs: PATIENCE_MS, ...more };
  const error: FencelineError = await w.run(client.appends.append(request).then(String, (reason) => reason));
  return { error, tookMs: w.world.clock.nowMs() - startedMs };
}

const NOTHING_SENT = { code: "not_ready", sideEffects: "none", retryable: true };

/** What hangs while the append is on its way, and for how long that would go on by itself. */
const hanging: readonly (readonly [string, (w: LogWorld) => { release(): void }])[] = [
  ["the look-up of the name", (w) => w.faults.hold({ client: "Q", port: "metadata" })],
  ["the look-up of the owner", (w) => w.faults.hold({ client: "Q", port: "metadata", about: w.elections })],
  [
    "the lease table, asked for evidence",
    (w) => {
      w.faults.fail({ client: "Q", port: "region", call: "canOwn" }, "before", 1);
      return w.faults.hold({ client: "Q", port: "lease" });
    },
  ],
  ["the owner, asked whether it can own", (w) => w.faults.hold({ client: "Q", port: "region" })],
];

test.each(hanging)("%s hangs: an answer in time, and nothing is sent later", async (what, hold) => {
  const { w, q } = await ownedByEast();
  const isWarm = what.startsWith("the lease");
  if (isWarm) {
    await q.append("b");
    await w.world.clock.advance(limits.ownerHeardMs);
  }
  const held = hold(w);
  const { error, tookMs } = await impatient(w, q);
  expect(error).toMatchObject(NOTHING_SENT);
  expect(tookMs).toBe(PATIENCE_MS);
  held.release();
  await w.world.clock.advance(10_000);
  expect(await w.client("T", "north").read(0)).toEqual(isWarm ? ["a", "b"] : ["a"]);
});

test("a hand-over that takes longer than the caller waits: an answer in time, without effect", async () => {
  const { w, p } = await ownedByEast();
  const election = w.faults.hold({ client: "P", port: "region", target: "west", call: "ask" });
  const moving = p.appends.transferOwner(LOG, region("west"));
  await w.world.clock.advance(100);
  const { error, tookMs } = await impatient(w, p);
  expect(error).toMatchObject(NOTHING_SENT);
  expect(tookMs).toBe(PATIENCE_MS);
  election.release();
  await w.run(moving);
  await w.world.clock.advance(10_000);
  expect(await w.client("T", "north").read(0)).toEqual(["a"]);
});

test("APR2: what may have been delivered before metadata hung is unknown, and said in time", async () => {
  const { w, q } = await ownedByEast();
  await q.append("b");
  w.faults.at({ client: "Q", port: "region", call: "append" }, "after", 1, () => {
    w.faults.hold({ client: "Q", port: "metadata" });
    throw unavailable("no answer");
  });
  const { error, tookMs } = await impatient(w, q, { sender: { id: "p", epoch: 0, seq: 0 } });
  expect(error).toMatchObject({ code: "unknown_outcome", sideEffects: "possible" });
  expect(tookMs).toBeLessThanOrEqual(PATIENCE_MS);
});

test("APR2: a failure that the lease table does not take down keeps nobody beyond their time", async () => {
  const { w, q } = await ownedByEast();
  await q.append("b");
  w.faults.at({ client: "Q", port: "region", call: "append" }, "before", 1, () => {
    w.faults.hold({ client: "Q", port: "lease" });
    throw unavailable("no answer");
  });
  const { error, tookMs } = await impatient(w, q);
  expect(error).toMatchObject({ code: "unknown_outcome", sideEffects: "possible" });
  expect(tookMs).toBeLessThanOrEqual(PATIENCE_MS);
});

test("PA2: sent, found not recorded and out of time before its next turn: truly without effect", async () => {
  const { w, p, q } = await ownedByEast();
  // Its entry reaches nobody; the west takes over meanwhile, so the east learns that it is not recorded.
  w.faults.hold({ client: "P", port: "bookie", call: "add" });
  const startedMs = w.world.clock.nowMs();
  const request = { log: LOG, records: [recordOf("late")], timeoutMs: 15_000 };
  const waiting = p.appends.append(request).then(String, (reason) => reason);
  await w.idle();
  w.faults.hold({ client: "Q", port: "region", target: "east" });
  expect(await q.append("q")).toEqual(["at 1"]);
  // From here on the east finds that out, and cannot look for the next owner.
  w.faults.hold({ client: "P", port: "metadata", call: "query" });
  expect(await w.run(waiting)).toMatchObject({ ...NOTHING_SENT, details: { phase: "waiting" } });
  expect(w.world.clock.nowMs() - startedMs).toBe(15_000);
  expect(w.world.trace).toContainEqual(expect.objectContaining({ event: "writer-stopped" }));
  expect(await w.client("T", "north").read(0)).toEqual(["a", "q"]);
});
