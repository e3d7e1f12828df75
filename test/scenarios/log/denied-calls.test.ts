/**
 * Stories of a region that may not call the others: its role or its credentials are wrong. Nothing it meets
 * says that an owner is dead, so it takes no log away, and says what is wrong.
 */
import { expect, test } from "vitest";
import { CallDenied } from "../../../lib/protocol/errors.ts";
import { region } from "../../../lib/protocol/ids.ts";
import { limits } from "../../../lib/protocol/limits.ts";
import { pause } from "../../../lib/protocol/waiting.ts";
import { LOG, LogWorld } from "./log-world.ts";

/** P in the east owns the log; Q in the west may not call, or may not make that one call. */
async function deniedInWest(call?: string) {
  const w = await LogWorld.make({ leases: true, forwarding: true });
  const p = w.client("P", "east");
  expect(await p.append("a")).toEqual(["at 0"]);
  const q = w.client("Q", "west");
  const state = { isDenied: true };
  const denied = { client: "Q", port: "region", ...(call === undefined ? {} : { call }) } as const;
  w.faults.at(denied, "before", Number.POSITIVE_INFINITY, () => {
    if (state.isDenied) throw new CallDenied("Q may not");
  });
  return { w, p, q, state };
}

const owners = async (w: LogWorld) =>
  (await w.run(w.client("T", "north").reads.segments(LOG))).map(({ ownerRegion }) => ownerRegion);

const outcome = (w: LogWorld, call: Promise<unknown>) =>
  w.run(
    call.then(
      () => "done",
      (error) => error,
    ),
  );

test.each([undefined, "canOwn", "append"])(
  "APR5: denied (%s), however often and long: told at once, and the owner keeps its log",
  async (call) => {
    const { w, p, q, state } = await deniedInWest(call);
    for (let time = 0; time < 3 * limits.ownerFailuresMin; time++) {
      const startedMs = w.world.clock.nowMs();
      expect(await outcome(w, q.sendingBatch(["lost"]))).toMatchObject({
        code: "unavailable",
        message: "Q may not",
        retryable: false,
        sideEffects: "none",
      });
      expect(w.world.clock.nowMs() - startedMs).toBeLessThan(limits.ownerAskTimeoutMs);
      await w.world.clock.advance(limits.ownerSilenceMs / 2);
    }
    expect(await w.leaseTable("west").readFailures(region("east"))).toBeUndefined();
    expect(await owners(w)).toEqual(["east"]);
    state.isDenied = false;
    expect(await q.append("b")).toEqual(["at 1"]);
    expect(await p.append("c")).toEqual(["at 2"]);
    expect(await owners(w)).toEqual(["east"]);
  },
);

test("APR5: questions that are denied while an append is under way say nothing: its answer counts", async () => {
  const { w, q, state } = await deniedInWest("canOwn");
  state.isDenied = false;
  expect(await q.append("b")).toEqual(["at 1"]);
  state.isDenied = true;
  const held = w.faults.hold({ client: "Q", port: "region", call: "append" });
  const before = w.faults.count({ client: "Q", port: "region", call: "canOwn" });
  const sending = q.sending("c");
  for (let time = 0; time < 2 * limits.ownerFailuresMin; time++) {
    await w.world.clock.advance(limits.ownerAskTimeoutMs);
  }
  const asked = w.faults.count({ client: "Q", port: "region", call: "canOwn" }) - before;
  expect(asked).toBeGreaterThan(limits.ownerFailuresMin);
  held.release();
  expect(await w.run(sending)).toEqual(["at 2"]);
  expect(await owners(w)).toEqual(["east"]);
});

test("APR5: an owner that may not be asked to settle is left alone: its ledger stays open", async () => {
  const { w, p, q } = await deniedInWest();
  expect(await outcome(w, q.appends.settle(LOG))).toBeInstanceOf(CallDenied);
  expect(await w.ledgerState((await w.chain())[0])).toBe("OPEN");
  expect(await p.append("b")).toEqual(["at 1"]);
  expect(Object.keys(await w.chain())).toEqual(["0"]);
});

test("APR5: a transfer that would have to ask is refused, and moves nothing", async () => {
  const { w, q } = await deniedInWest();
  expect(await outcome(w, q.appends.transferOwner(LOG, region("west")))).toBeInstanceOf(CallDenied);
  expect(await owners(w)).toEqual(["east"]);
});

test.each(["west", "north"])(
  "APR4, APR5: a draining region that may not call %s leaves its log to another one",
  async (target) => {
    const w = await LogWorld.make({ leases: true, forwarding: true });
    const p = w.client("P", "east");
    for (const name of ["west", "north"]) w.client(name, name);
    expect(await p.append("a")).toEqual(["at 0"]);
    w.faults.at({ client: "P", port: "region", target }, "before", Number.POSITIVE_INFINITY, () => {
      throw new CallDenied("P may not");
    });
    const states = { bookies: new Map(), regions: new Map([[region("east"), "draining" as const]]) };
    p.ports.topology.states = () => states;
    expect(await p.append("b")).toEqual(["at 1"]);
    const other = target === "west" ? "north" : "west";
    expect((await owners(w)).at(-1)).toBe(other);
  },
);

test("APR5: denied late, when nobody waits for that question any more: the owner keeps its log", async () => {
  const { w, state } = await deniedInWest();
  state.isDenied = false;
  w.faults.at({ port: "region", target: "east" }, "before", Number.POSITIVE_INFINITY, async () => {
    await pause(w.world.clock, limits.ownerAskTimeoutMs + limits.ownerRetryPauseMs);
    throw new CallDenied("the west may not");
  });
  for (let time = 0; time < limits.ownerFailuresMin; time++) {
    const q = w.client(`Q${time}`, "west");
    expect(await outcome(w, q.sendingBatch(["lost"]))).toMatchObject({ sideEffects: "none" });
    await q.release();
  }
  expect(await owners(w)).toEqual(["east"]);
});
