/**
 * Stories of takeovers that come to nothing: the taker freezes at any call of one, and thaws when the owner
 * has long gone on; or something else gets in its way, and the owner is as dead as before.
 */
import { expect, test } from "vitest";
import { unavailable } from "../../../lib/protocol/errors.ts";
import { limits } from "../../../lib/protocol/limits.ts";
import { ownerLimits } from "../../../lib/protocol/log/ownership/owner-limits.ts";
import { EXHAUSTIVE } from "../../cpu-bound.ts";
import { freezeAt, freezes } from "../freeze.ts";
import { LOG, LogWorld, recordOf } from "./log-world.ts";

/** P in the east owns the log, and Q in the west does not reach it until `state` says so. */
async function cutOff() {
  const w = await LogWorld.make({ leases: true, forwarding: true });
  const p = w.client("P", "east");
  expect(await p.append("a")).toEqual(["at 0"]);
  const state = { isCut: true };
  w.faults.at({ client: "Q", port: "region", target: "east" }, "before", Number.POSITIVE_INFINITY, () => {
    if (state.isCut) throw unavailable("east is down", "none");
  });
  return { w, p, q: w.client("Q", "west"), state };
}

const owners = async (w: LogWorld) =>
  (await w.run(w.client("T", "north").reads.segments(LOG))).map(({ ownerRegion }) => ownerRegion);

test.each(freezes)(
  "APR3: frozen %s any call of a takeover (its clocks %s), it takes nothing from an owner that goes on",
  EXHAUSTIVE,
  async (moment, passes) => {
    let tookOver = false;
    for (let at = 0; !tookOver; at++) {
      const { w, p, q, state } = await cutOff();
      const ports = ["lease", "metadata", "bookie", "region"] as const;
      const calls = ports.map((port) => ({ client: "Q", port }));
      const ice = freezeAt(w.faults, calls, moment, at);
      const taking = q.sending("b");
      for (let waited = 0; !ice.isFrozen() && waited < 5_000; waited += 50) await w.world.clock.advance(50);
      tookOver = (await owners(w)).includes(q.ports.region);
      w.world.clock[passes](3_600_000);
      state.isCut = false;
      if (!tookOver) expect((await p.append("p"))[0]).toMatch(/^at /);
      ice.thaw();
      await w.run(taking);
      await w.world.clock.advance(limits.appendDeadlineMs);
      if (!tookOver) expect(new Set(await owners(w)), `call ${at}`).toEqual(new Set(["east"]));
    }
  },
);

test.each(["jump", "suspend"] as const)(
  "OF1: silence from before a freeze (its clocks %s) is none in the next append",
  async (passes) => {
    const { w, q, state } = await cutOff();
    const { clock } = w.world;
    state.isCut = false;
    expect(await q.append("b")).toEqual(["at 1"]);
    await clock.advance(limits.ownerHeardMs + limits.ownerGuardMs);
    state.isCut = true;
    for (let failure = 0; failure < limits.ownerFailuresMin; failure++) {
      const request = { log: LOG, records: [recordOf("lost")], timeoutMs: limits.ownerRetryPauseMs };
      await w.run(q.appends.append(request).catch(() => undefined));
      await clock.advance(limits.ownerSilenceMs / 2);
    }
    state.isCut = false;
    clock[passes](3_600_000);
    expect(await q.append("c")).toEqual(["at 2"]); // forwarded
    expect(await owners(w)).toEqual(["east"]);
  },
);

test("OF7: a takeover that fails for another reason does not say that the owner was found alive", async () => {
  const { w, q } = await cutOff();
  const { clock } = w.world;
  const writes = { client: "Q", port: "metadata", call: "write" } as const;
  const held = w.faults.hold(writes);
  const first = q.sending("first");
  while (held.calls.length === 0) await clock.advance(50);
  const second = q.sending("second"); // it finds the owner silent while the first one takes over
  await clock.advance(500);
  const mended = w.faults.fail(writes);
  held.lose();
  await clock.advance(300);
  mended();
  const startedMs = clock.nowMs();
  await w.run(Promise.all([first, second]));
  expect((await q.append("third"))[0]).toMatch(/^at /);
  expect(clock.nowMs() - startedMs).toBeLessThan(ownerLimits.recoveryUsualMs);
  expect((await w.leaseTable("west").read(w.log))?.lease.contest?.times).toBe(1); // that it succeeded
  expect(await owners(w)).toEqual(["east", "west"]);
});

test("OF7: regions that are cut from each other have the log in turn, each time for longer", async () => {
  const { w, p, q } = await cutOff();
  w.faults.at({ client: "P", port: "region", target: "west" }, "before", Number.POSITIVE_INFINITY, () => {
    throw unavailable("west is down", "none");
  });
  const sent: Promise<unknown>[] = [];
  for (let turn = 0; turn < 240; turn++) {
    sent.push(p.sending(`east ${turn}`), q.sending(`west ${turn}`));
    await w.world.clock.advance(500);
  }
  await w.run(Promise.allSettled(sent));
  const changes = (await owners(w)).filter((owner, index, all) => owner !== all[index - 1]);
  expect(changes.length).toBeGreaterThan(2);
  expect(changes.length).toBeLessThan(12);
}, 60_000);
