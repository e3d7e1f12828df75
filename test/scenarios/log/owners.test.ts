/** Stories of logs that a region owns: forwarding, refusals, and takeovers on evidence alone. */

import { describe, expect, test } from "vitest";
import { keySender } from "../../../lib/api/append-sender.ts";
import { FencelineError, unavailable } from "../../../lib/protocol/errors.ts";
import { seqNum } from "../../../lib/protocol/ids.ts";
import { limits } from "../../../lib/protocol/limits.ts";
import type { LogClient } from "./log-world.ts";
import { LOG, LogWorld, recordOf } from "./log-world.ts";

/** P in the east owns the log and has appended "a". */
async function ownedByEast() {
  const w = await LogWorld.make({ leases: true, forwarding: true });
  const p = w.client("P", "east");
  expect(await p.append("a")).toEqual(["at 0"]);
  return { w, p, q: w.client("Q", "west") };
}

const owners = async (w: LogWorld) =>
  (await w.run(w.client("T", "north").reads.segments(LOG))).map(({ ownerRegion }) => ownerRegion);

/** The error of an append that must be refused. */
const refusal = (w: LogWorld, client: LogClient, route: "forward" | "refuse" = "forward") =>
  w.run(
    client.appends.append({ log: LOG, records: [recordOf("x")], route }).then(
      (ack) => Promise.reject(new Error(`acknowledged at ${ack.start.seqNum}`)),
      (error) => error,
    ),
  );

/** What is sent to the region is refused before it is delivered. */
const refusing = (w: LogWorld, region: string, client = "Q") =>
  w.faults.at({ client, port: "region", target: region }, "before", Number.POSITIVE_INFINITY, () => {
    throw unavailable(`${region} is down`, "none");
  });

describe("forwarding", () => {
  test("an append in another region goes to the owner once, and the answer names the owner", async () => {
    const { w, q } = await ownedByEast();
    const ack = await w.run(q.sendingBatch(["b"]));
    expect(ack).toMatchObject({ start: { seqNum: 1 }, ownerRegion: "east" });
    expect(await owners(w)).toEqual(["east"]);
    expect(w.faults.count({ client: "Q", port: "bookie" })).toBe(0);
  });

  test("a warm asker needs no metadata and no question before the append", async () => {
    const { w, q } = await ownedByEast();
    await q.append("b");
    const before = w.faults.log.length;
    await q.append("c");
    const calls = w.faults.log.slice(before).filter(({ client }) => client === "Q");
    expect(calls.map(({ port, call }) => `${port} ${call}`)).toEqual(["region append"]);
  });

  test("a caller that prefers no forwarding is refused with the owner's name", async () => {
    const { w, p, q } = await ownedByEast();
    expect(await refusal(w, q, "refuse")).toMatchObject({
      code: "not_owner",
      sideEffects: "none",
      details: { owner: "east" },
    });
    const served = p.appends.append({ log: LOG, records: [recordOf("b")], route: "refuse" });
    expect((await w.run(served)).start.seqNum).toBe(1);
  });

  test("a stale asker is refused, reads again, and goes to the right owner: forwarded, never forwarded on", async () => {
    const { w, p, q } = await ownedByEast();
    await q.append("b");
    refusing(w, "east", "N");
    const n = w.client("N", "north");
    expect(await n.append("n")).toEqual(["at 2"]);
    expect(await q.append("c")).toEqual(["at 3"]);
    expect(await owners(w)).toEqual(["east", "north"]);
    expect(w.faults.count({ client: "P", port: "region", call: "append" })).toBe(0);
    // The former owner finds out by the fence, and forwards too.
    expect(await p.append("d")).toEqual(["at 4"]);
    expect(await n.read(0)).toEqual(["a", "b", "n", "c", "d"]);
  });

  test("the owner's own error is the caller's: over capacity or a mismatch is no silence", async () => {
    const { w, q } = await ownedByEast();
    const error = await w.run(q.sendingBatch(["b"], 7).catch((reason) => reason));
    expect(error).toMatchObject({ code: "seq_num_mismatch", details: { actual_seq_num: 1 } });
    expect(await owners(w)).toEqual(["east"]);
  });

  test("an append that may have been delivered is unknown_outcome, and in the log once at most", async () => {
    const { w, q } = await ownedByEast();
    w.faults.fail({ client: "Q", port: "region", call: "append" }, "after", 1);
    expect(await q.append("b")).toEqual(["unknown_outcome, side effects possible"]);
    expect(await q.append("c")).toEqual(["at 2"]);
    expect(await q.read(0)).toEqual(["a", "b", "c"]);
  });

  test("a copy that waits at the owner lands later: the advice to repeat it holds, or is not given", async () => {
    const recorded = { start: { seqNum: 1 }, duplicate: true };
    const cases = [
      [{ matchSeqNum: seqNum(1) }, /same match_seq_num 1, .* nobody can say/, { code: "seq_num_mismatch" }],
      [{ sender: keySender("k") }, /again with the same Idempotency-Key/, recorded],
      [{ matchSeqNum: seqNum(1), sender: keySender("k") }, /again with the same Idempotency-Key/, recorded],
      [{ sender: { id: "p", epoch: 0, seq: 0 } }, /producer and seq, and it counts once/, recorded],
      [{}, /a plain append is not safe to repeat, not even after a read that does not find it/, undefined],
    ] as const;
    for (const [more, words, repeated] of cases) {
      const { w, q } = await ownedByEast();
      const held = w.faults.hold({ client: "P", port: "bookie", call: "add" });
      const answer = w.faults.hold({ client: "Q", port: "region", call: "append" }, "after");
      const request = { log: LOG, records: [recordOf("b")], ...more };
      const error = await w.run(q.appends.append({ ...request, timeoutMs: 3_000 }).catch((reason) => reason));
      expect([error.code, error.message]).toEqual(["unknown_outcome", expect.stringMatching(words)]);
      expect(error.message).not.toMatch(/read the tail/);
      answer.lose();
      held.release();
      await w.idle();
      if (repeated !== undefined) {
        expect(await w.run(q.appends.append(request).catch((reason) => reason))).toMatchObject(repeated);
      }
      expect(await q.read(0)).toEqual(["a", "b"]);
    }
  });

  test("the caller's patience goes with it", async () => {
    const { w, q } = await ownedByEast();
    w.faults.hold({ client: "P", port: "bookie" });
    const started = w.world.clock.nowMs();
    const request = { log: LOG, records: [recordOf("b")], timeoutMs: 3_000 };
    const error = await w.run(q.appends.append(request).catch((reason) => reason));
    expect(error).toMatchObject({ code: "unknown_outcome" });
    expect(w.world.clock.nowMs() - started).toBeLessThanOrEqual(3_000);
  });

  test("the deadline goes with it: the owner answers in time for its answer to come back", async () => {
    const { w, q } = await ownedByEast();
    w.faults.hold({ client: "P", port: "bookie" });
    const answers = w.faults.hold({ client: "Q", port: "region", call: "append" }, "after");
    const request = { log: LOG, records: [recordOf("b")], timeoutMs: 3_000 };
    const refused = q.appends.append(request).catch((reason) => reason);
    await w.world.clock.advance(request.timeoutMs - limits.forwardMarginMs);
    expect(answers.calls).toHaveLength(1);
    answers.release();
    expect(await w.run(refused)).toMatchObject({ code: "unknown_outcome" });
  });
});

describe("takeover", () => {
  test("OF1: 'too much to do' is an answer, also while no question is answered", async () => {
    const { w, p, q } = await ownedByEast();
    expect(await q.append("b")).toEqual(["at 1"]);
    const append = p.appends.append.bind(p.appends);
    p.appends.append = () => Promise.reject(new FencelineError("over_capacity", { message: "too much" }));
    const silence = w.faults.fail({ client: "Q", port: "region", call: "canOwn" });
    for (let round = 0; round < 2 * limits.ownerFailuresMin; round++) {
      expect(await q.append("c")).toEqual(["over_capacity, side effects none"]);
      await w.world.clock.advance(limits.ownerSilenceMs / 2);
    }
    p.appends.append = append;
    silence();
    expect(await q.append("c")).toEqual(["at 2"]);
    expect(await owners(w)).toEqual(["east"]);
  });

  test.each(["refusing", "silent"] as const)("a %s owner is taken over within seconds", async (manner) => {
    const { w, q } = await ownedByEast();
    if (manner === "refusing") refusing(w, "east");
    else w.faults.hold({ client: "Q", port: "region", target: "east" });
    const started = w.world.clock.nowMs();
    expect(await q.append("b")).toEqual(["at 1"]);
    expect(w.world.clock.nowMs() - started).toBeLessThan(4_000);
    expect(w.world.clock.nowMs() - started).toBeGreaterThanOrEqual(limits.ownerSilenceMs);
    expect(await owners(w)).toEqual(["east", "west"]);
  });

  test("one failure is no evidence", async () => {
    const { w, q } = await ownedByEast();
    w.faults.fail({ client: "Q", port: "region", target: "east" }, "before", 2);
    expect(await q.append("b")).toEqual(["at 1"]);
    expect(await owners(w)).toEqual(["east"]);
  });

  test("appends that wait for one question learn of one failure, however many they are", async () => {
    const { w, q } = await ownedByEast();
    w.faults.hold({ client: "Q", port: "region", call: "canOwn" }, "before", limits.ownerFailuresMin - 1);
    const told = await q.append("b", "c", "d", "e");
    expect([...told].sort()).toEqual(["at 1", "at 2", "at 3", "at 4"]);
    expect(await owners(w)).toEqual(["east"]);
  });

  test("forwards that fail long after the owner answered others take nothing over", async () => {
    const { w, q } = await ownedByEast();
    await q.append("b");
    w.faults.hold({ client: "Q", port: "region", call: "append" }, "before", limits.ownerFailuresMin);
    const lost: Promise<string[]>[] = [];
    for (let count = 0; count < limits.ownerFailuresMin; count++) {
      lost.push(q.sending("lost"));
      await w.world.clock.advance(limits.ownerSilenceMs / 2);
    }
    await w.world.clock.advance(limits.appendDeadlineMs - limits.ownerSilenceMs * 2);
    expect(await q.append("c")).toEqual(["at 2"]);
    await w.run(Promise.all(lost));
    expect(await q.append("d")).toEqual(["at 3"]);
    expect(await owners(w)).toEqual(["east"]);
  });

  test("a takeover that meets a new segment of the owner ends, and the owner is left alone longer", async () => {
    const { w, p, q } = await ownedByEast();
    refusing(w, "east");
    // Whenever Q has fenced the owner, the owner has opened the next segment before Q can.
    const electing = { client: "Q", port: "metadata", call: "write", about: w.elections } as const;
    let contests = 0;
    w.faults.at(electing, "before", Number.POSITIVE_INFINITY, async () => {
      contests += 1;
      await p.sendingBatch([`p${contests}`]);
    });
    const started = w.world.clock.nowMs();
    expect(await q.append("b")).toEqual([expect.stringContaining("not_ready, side effects none")]);
    expect(w.world.clock.nowMs() - started).toBeGreaterThan(limits.appendDeadlineMs - 2_000);
    // In twenty seconds: one at once, one after four seconds; the next would come after sixteen.
    expect(contests).toBeGreaterThan(0);
    expect(contests).toBeLessThan(4);
    expect(new Set(await owners(w))).toEqual(new Set(["east"]));
  });

  test("a takeover is noted by its writer under its lease, once, before the append is sent", async () => {
    const { w, q } = await ownedByEast();
    refusing(w, "east");
    const noted: (string | undefined)[] = [];
    w.faults.at({ client: "Q", call: "add" }, "before", Number.POSITIVE_INFINITY, async () => {
      noted.push((await w.leaseTable("west").read(w.log))?.lease.contest?.region);
    });
    expect(await q.append("b")).toEqual(["at 1"]);
    expect(new Set(noted)).toEqual(new Set(["east"]));
    // The acquire, and the note.
    expect(w.faults.count({ client: "Q", port: "lease", call: "write", about: w.log })).toBe(2);
  });

  test("an owner that refuses is alive: its refusals, slow as they may be, take nothing over", async () => {
    const { w, q } = await ownedByEast();
    for (let round = 0; round < 8; round++) {
      w.faults.fail({ client: "Q", port: "region", call: "canOwn" }, "before", 1);
      await w.world.clock.advance(limits.ownerHeardMs);
      const error = await w.run(q.sendingBatch(["b"], 7).catch((reason) => reason));
      expect(error.code).toBe("seq_num_mismatch");
    }
    expect(await owners(w)).toEqual(["east"]);
  });

  test("an owner whose lease table is down says so, and is taken over at once", async () => {
    const { w, q } = await ownedByEast();
    w.faults.fail({ client: "P", port: "lease" });
    const started = w.world.clock.nowMs();
    expect(await q.append("b")).toEqual(["at 1"]);
    expect(w.world.clock.nowMs() - started).toBeLessThan(1_000);
    expect(await owners(w)).toEqual(["east", "west"]);
  });

  test.each(["draining", "lost"] as const)(
    "an owner that operators call %s is taken over at once",
    async (state) => {
      const { w, p, q } = await ownedByEast();
      const states = { bookies: new Map(), regions: new Map([[p.ports.region, state]]) };
      q.ports.topology.states = () => states;
      expect(await q.append("b")).toEqual(["at 1"]);
      expect(await owners(w)).toEqual(["east", "west"]);
    },
  );

  test("two regions that cannot reach each other do not fence each other in turn", async () => {
    const { w, p, q } = await ownedByEast();
    refusing(w, "east", "Q");
    refusing(w, "west", "P");
    const texts = (name: string) => Array.from({ length: 20 }, (_, index) => `${name}${index}`);
    const writing = async (client: LogClient, name: string) => {
      for (const text of texts(name)) await client.sendingBatch([text]);
    };
    await w.run(Promise.all([writing(p, "p"), writing(q, "q")]));
    expect((await owners(w)).length).toBeLessThan(12);
    const log = await w.client("T", "north").read(0);
    expect(log.filter((text) => text.startsWith("p"))).toEqual(texts("p"));
    expect(log.filter((text) => text.startsWith("q"))).toEqual(texts("q"));
  });

  test("an owner frozen in an append finds after its thaw that it is not the owner", async () => {
    const { w, p, q } = await ownedByEast();
    const frozen = w.faults.hold({ client: "P", port: "bookie", call: "add" });
    const late = p.sending("frozen");
    await w.idle();
    w.faults.hold({ client: "Q", port: "region", target: "east" });
    expect(await q.append("q")).toEqual(["at 1"]);
    w.world.clock.jump(3_600_000);
    frozen.release();
    const [outcome = ""] = await w.run(late);
    const log = await w.client("T", "north").read(0);
    expect(log.slice(0, 2)).toEqual(["a", "q"]);
    const found = log.filter((text) => text === "frozen").length;
    expect(outcome.startsWith("at ") ? [1] : [0, 1]).toContain(found);
  });
});
