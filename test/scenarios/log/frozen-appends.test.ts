/**
 * An append by Idempotency-Key freezes at any call, another attempt at it is acknowledged, and the first one
 * thaws when the log has long forgotten the key.
 */

import { describe, expect, test } from "vitest";
import { keySender } from "../../../lib/api/append-sender.ts";
import { limits } from "../../../lib/protocol/limits.ts";
import { appendLimits } from "../../../lib/protocol/log/records/append-limits.ts";
import { EXHAUSTIVE } from "../../cpu-bound.ts";
import { freezeAt, freezes } from "../freeze.ts";
import { LOG, type LogClient, LogWorld, recordOf } from "./log-world.ts";

const keyed = (client: LogClient, key: string) =>
  client.appends.append({ log: LOG, records: [recordOf(key)], sender: keySender(key) });

/** P in the east owns the log, and Q in the west has forwarded to it a while ago. */
async function forwarding() {
  const w = await LogWorld.make({ leases: true, forwarding: true });
  const [p, q] = [w.client("P", "east"), w.client("Q", "west")];
  expect(await p.append("a")).toEqual(["at 0"]);
  expect(await q.append("b")).toEqual(["at 1"]);
  await p.release();
  await w.world.clock.advance(2 * limits.ownerGuardMs + limits.ownerHeardMs);
  return { w, p, q };
}

/** "k" is acknowledged elsewhere, and forgotten. */
async function recordedAndForgotten(w: LogWorld, p: LogClient) {
  expect((await w.run(keyed(p, "k"))).duplicate).toBe(false);
  w.world.clock.jump(appendLimits.producerKeepMs + 1);
  await w.run(keyed(p, "other"));
  await p.release();
}

test("DL3: frozen in a look at the owner's silence, it is forwarded no more", async () => {
  const { w, p, q } = await forwarding();
  w.faults.fail({ client: "Q", port: "region", call: "canOwn" }, "before", 1);
  const failing = { log: LOG, records: [recordOf("lost")], timeoutMs: limits.ownerRetryPauseMs };
  await w.run(q.appends.append(failing).catch(() => undefined));
  const look = w.faults.hold({ client: "Q", port: "lease", call: "readFailures" }, "after");
  const first = keyed(q, "k").catch((error) => error.code);
  await w.idle();
  expect(look.calls).not.toEqual([]);
  await recordedAndForgotten(w, p);
  look.release();
  expect(await w.run(first)).toBe("not_ready");
  expect(await w.client("T", "north").read(0)).toEqual(["a", "b", "k", "other"]);
});

test("DL3: frozen while the owner answers that it cannot own, it takes nothing over", async () => {
  const { w, p, q } = await forwarding();
  expect(await q.append("c")).toEqual(["at 2"]); // heard a moment ago
  await p.release();
  const isDown = w.faults.fail({ client: "P", port: "lease" });
  const answer = w.faults.hold({ client: "Q", port: "region", call: "append" }, "after");
  const first = keyed(q, "k").catch((error) => error.code);
  await w.world.clock.advance(limits.ownerWatchMs / 2);
  expect(answer.calls).not.toEqual([]);
  isDown();
  await recordedAndForgotten(w, p);
  answer.release();
  expect(await w.run(first)).toBe("not_ready");
  expect(await w.client("T", "north").read(0)).toEqual(["a", "b", "c", "k", "other"]);
});

describe.each([
  ["the owner's region", "east"],
  ["another region", "west"],
])("DL3: frozen in %s", (_, where) => {
  test.each(freezes)(
    "%s any call (its clocks %s): the record is in the log once",
    EXHAUSTIVE,
    async (moment, passes) => {
      for (let at = 0; at < 60; at++) {
        const w = await LogWorld.make({ leases: true, forwarding: true });
        const p = w.client("P", "east");
        expect(await p.append("a")).toEqual(["at 0"]);
        await p.release();
        const calls = (["lease", "metadata", "bookie"] as const).map((port) => ({ client: "Z", port }));
        const ice = freezeAt(w.faults, calls, moment, at);
        const first = keyed(w.client("Z", where), "k").catch(() => undefined);
        await w.world.clock.advance(200);
        if (!ice.isFrozen()) return expect(at).toBeGreaterThan(2);
        const again = await w.run(keyed(p, "k"));
        w.world.clock[passes](appendLimits.producerKeepMs + 1);
        await w.run(keyed(p, "other"));
        await p.release();
        ice.thaw();
        await w.run(first);
        await w.world.clock.advance(60_000);
        const log = await w.client("T", "north").read(0);
        expect(
          log.filter((text) => text === "k"),
          `call ${at}`,
        ).toHaveLength(1);
        expect(log[again.start.seqNum], `call ${at}`).toBe("k");
      }
    },
  );
});
