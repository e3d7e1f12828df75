/**
 * Stories of producers: each batch is once in the log and in its order, whichever region writes and whatever is lost.
 */

import { describe, expect, test } from "vitest";
import { keySender } from "../../../lib/api/append-sender.ts";
import type { FencelineError } from "../../../lib/protocol/errors.ts";
import type { AppendAck, AppendRequest } from "../../../lib/protocol/log/operations.ts";
import { appendLimits } from "../../../lib/protocol/log/records/append-limits.ts";
import { LOG, type LogClient, LogWorld, recordOf } from "./log-world.ts";

const K = appendLimits.producerSnapshotEntries;

/** A batch of producer "p", unless `more` says otherwise. */
function send(
  client: LogClient,
  seq: number,
  texts: readonly string[],
  more: Partial<AppendRequest> & { epoch?: number; id?: string } = {},
): Promise<AppendAck> {
  const { epoch = 0, id = "p", ...request } = more;
  const sender = { id, epoch, seq };
  return client.appends.append({ log: LOG, records: texts.map(recordOf), sender, ...request });
}

/** What is the same in every answer to one batch. */
const positions = ({ start, last, epoch }: AppendAck) => ({ start, last, epoch });

const refused = (outcome: Promise<AppendAck>): Promise<FencelineError> =>
  outcome.then(
    (ack) => Promise.reject(new Error(`acknowledged at ${ack.start.seqNum}`)),
    (error) => error,
  );

const restored = (w: LogWorld) =>
  w.world.trace.flatMap((event) => (event.event === "producers-restored" ? [event] : []));

describe("what a producer is told", () => {
  test("a repeated batch is answered with its positions, and is once in the log", async () => {
    const w = await LogWorld.make();
    const p = w.client("P");
    await p.append("before");
    const first = await w.run(send(p, 0, ["a", "b"]));
    const again = await w.run(send(p, 0, ["a", "b"]));
    expect(first.duplicate).toBe(false);
    expect(again).toMatchObject({ ...positions(first), duplicate: true, tail: 3 });
    expect(again.durableIn).toBeUndefined();
    expect((await w.run(send(p, 2, ["c"]))).start.seqNum).toBe(3);
    expect(await p.read(0)).toEqual(["before", "a", "b", "c"]);
  });

  test("a gap, and an unknown producer that does not begin with 0, are 409 with expected and received", async () => {
    const w = await LogWorld.make();
    const p = w.client("P");
    await w.run(send(p, 0, ["a", "b"]));
    const gap = await w.run(refused(send(p, 3, ["d"])));
    expect(gap).toMatchObject({ code: "producer_seq_gap", sideEffects: "none", retryable: false });
    expect(gap.details).toEqual({ expected_seq: 2, received_seq: 3, known_producer: true });
    const unknown = await w.run(refused(send(p, 3, ["d"], { id: "other" })));
    expect(unknown.details).toEqual({ expected_seq: 0, received_seq: 3, known_producer: false });
    const across = await w.run(refused(send(p, 1, ["b", "c"])));
    expect(across.details).toMatchObject({ expected_seq: 2, received_seq: 1 });
    expect(await p.read(0)).toEqual(["a", "b"]);
  });

  test("a stale epoch is 403 with the current one; a new epoch begins with seq 0", async () => {
    const w = await LogWorld.make();
    const p = w.client("P");
    await w.run(send(p, 0, ["a"]));
    expect((await w.run(refused(send(p, 1, ["b"], { epoch: 4 })))).code).toBe("producer_seq_gap");
    await w.run(send(p, 0, ["b"], { epoch: 4 }));
    const stale = await w.run(refused(send(p, 1, ["z"], { epoch: 3 })));
    expect(stale).toMatchObject({ code: "producer_fenced", details: { current_epoch: 4 } });
    expect(await p.read(0)).toEqual(["a", "b"]);
  });

  test("other records under a seq that was used are refused, and so is what is far behind", async () => {
    const w = await LogWorld.make();
    const p = w.client("P");
    for (let seq = 0; seq < 7; seq++) await w.run(send(p, seq, [`r${seq}`]));
    const conflict = await w.run(refused(send(p, 6, ["other"])));
    expect(conflict).toMatchObject({ code: "idempotency_conflict", sideEffects: "none" });
    expect(conflict.details).toMatchObject({ start: { seq_num: 6 } });
    const passed = await w.run(refused(send(p, 1, ["r1"])));
    expect(passed.code).toBe("producer_seq_passed");
    expect(passed.details).toEqual({ expected_seq: 7, received_seq: 1, already_appended: true });
  });

  test("a duplicate is one whatever its match_seq_num says by now; a mismatch uses up no seq", async () => {
    const w = await LogWorld.make();
    const p = w.client("P");
    const conditional = (seq: number, text: string, matchSeqNum: number) =>
      send(p, seq, [text], { matchSeqNum } as Partial<AppendRequest>);
    await w.run(conditional(0, "a", 0));
    expect((await w.run(conditional(0, "a", 0))).duplicate).toBe(true);
    expect((await w.run(refused(conditional(1, "b", 9)))).code).toBe("seq_num_mismatch");
    expect((await w.run(conditional(1, "b", 1))).duplicate).toBe(false);
  });

  test("bad ids, epochs and seqs are told what is allowed", async () => {
    const w = await LogWorld.make();
    const p = w.client("P");
    const long = "x".repeat(appendLimits.senderIdLengthMax + 1);
    for (const id of ["", "a\nb", "é", long]) {
      expect((await w.run(refused(send(p, 0, ["a"], { id })))).message).toMatch(/producer\/id has 1 to 68/);
    }
    expect((await w.run(refused(send(p, -1, ["a"])))).message).toMatch(/producer\/seq is an integer from 0/);
    expect((await w.run(refused(send(p, 0, ["a"], { epoch: 1.5 })))).message).toMatch(/producer\/epoch/);
  });
});

describe("an Idempotency-Key", () => {
  const keyed = (client: LogClient, key: string, ...texts: string[]) =>
    client.appends.append({ log: LOG, records: texts.map(recordOf), sender: keySender(key) });

  test("the same key and records: the same positions; other records are refused", async () => {
    const w = await LogWorld.make();
    const p = w.client("P");
    const first = await w.run(keyed(p, "k1", "a", "b"));
    const q = w.client("Q", "west");
    expect(await w.run(keyed(q, "k1", "a", "b"))).toMatchObject({ ...positions(first), duplicate: true });
    for (const other of [["a"], ["a", "c"], ["a", "b", "c"]]) {
      const error = await w.run(refused(keyed(q, "k1", ...other)));
      expect(error).toMatchObject({ code: "idempotency_conflict", retryable: false, sideEffects: "none" });
    }
    expect((await w.run(keyed(q, "k2", "a", "b"))).duplicate).toBe(false);
    // A producer of that name is somebody else.
    expect((await w.run(send(q, 0, ["x"], { id: "k1" }))).duplicate).toBe(false);
    expect(await q.read(0)).toEqual(["a", "b", "a", "b", "x"]);
  });

  test("a retry that gives its records another timestamp is the same batch", async () => {
    const w = await LogWorld.make();
    const p = w.client("P");
    const stamped = (timestampMs: number) =>
      p.appends.append({
        log: LOG,
        records: [{ ...recordOf("a"), timestampMs }],
        sender: keySender("k"),
      });
    const first = await w.run(stamped(5));
    expect(await w.run(stamped(6))).toMatchObject({ ...positions(first), duplicate: true });
  });
});

describe("at the same time", () => {
  test("two attempts of one batch in one queue: one is recorded, both get its positions", async () => {
    const w = await LogWorld.make();
    const p = w.client("P");
    const [one, two] = await w.run(Promise.all([send(p, 0, ["a"]), send(p, 0, ["a"])]));
    expect([one.duplicate, two.duplicate]).toEqual([false, true]);
    expect(positions(two)).toEqual(positions(one));
    expect(await p.read(0)).toEqual(["a"]);
  });

  test("a duplicate is not told while its original may still be lost; then it takes its place", async () => {
    const w = await LogWorld.make();
    const p = w.client("P");
    await p.append("x");
    // The original reaches nobody, and a rival closes the ledger.
    const nowhere = w.faults.hold({ client: "P", port: "bookie", call: "add" });
    const attempts = [send(p, 0, ["a"]), send(p, 0, ["a"])] as const;
    let told = 0;
    for (const attempt of attempts) void attempt.then(() => told++);
    await w.idle();
    expect(await w.client("Q", "west").append("q")).toEqual(["at 1"]);
    expect(told).toBe(0);
    nowhere.release();
    const [one, two] = await w.run(Promise.all(attempts));
    expect(one).toMatchObject({ start: { seqNum: 2 }, duplicate: false });
    expect(two).toMatchObject({ ...positions(one), duplicate: true });
    expect(await w.client("T", "north").read(0)).toEqual(["x", "q", "a"]);
  });

  test("batches of one producer in flight keep their order through a lost segment", async () => {
    const w = await LogWorld.make();
    const p = w.client("P");
    await p.append("x");
    const nowhere = w.faults.hold({ client: "P", port: "bookie", call: "add" });
    const flying = ["a", "b", "c", "d"].map((text, seq) => send(p, seq, [text]));
    await w.idle();
    await w.client("Q", "west").append("q");
    nowhere.release();
    const acks = await w.run(Promise.all(flying));
    expect(acks.map(({ start }) => start.seqNum)).toEqual([2, 3, 4, 5]);
  });
});

describe("the state survives", () => {
  test("a takeover by another region: the answer was lost, the retry gets the original positions", async () => {
    const w = await LogWorld.make();
    const p = w.client("P");
    await p.append("x");
    const replies = w.faults.hold({ client: "P", port: "bookie", call: "add" }, "after");
    const first = send(p, 0, ["a", "b"]);
    await w.idle();
    const q = w.client("Q", "west");
    const retry = await w.run(send(q, 0, ["a", "b"]));
    expect(retry).toMatchObject({ start: { seqNum: 1 }, duplicate: true, epoch: 1, ownerRegion: "west" });
    replies.lose();
    // The zombie finds its batch recorded: by the same entry.
    expect(positions(await w.run(first))).toEqual(positions(retry));
    expect(await w.client("T", "north").read(0)).toEqual(["x", "a", "b"]);
  });

  test("an entry that recovery did not find is not part of it: the retry is appended", async () => {
    const w = await LogWorld.make();
    const p = w.client("P");
    await w.run(send(p, 0, ["a"]));
    const nowhere = w.faults.hold({ client: "P", port: "bookie", call: "add" });
    const zombie = send(p, 1, ["b"]);
    await w.idle();
    const q = w.client("Q", "west");
    const retry = await w.run(send(q, 1, ["b"]));
    expect(retry).toMatchObject({ start: { seqNum: 1 }, duplicate: false });
    // The zombie's own attempt goes on in the next segment, and finds that the retry was first.
    nowhere.release();
    expect(await w.run(zombie)).toMatchObject({ ...positions(retry), duplicate: true });
    expect(await w.client("T", "north").read(0)).toEqual(["a", "b"]);
  });

  test("rolls: the first entry of each segment is a snapshot", async () => {
    const w = await LogWorld.make({ segmentBytesMax: 1 });
    const p = w.client("P");
    await w.run(send(p, 0, ["r0"]));
    const second = await w.run(send(p, 1, ["r1"]));
    for (const seq of [2, 3]) await w.run(send(p, seq, [`r${seq}`]));
    await p.append("plain", "plain");
    expect(restored(w)).toEqual([]);
    const q = w.client("Q", "west");
    const again = await w.run(send(q, 1, ["r1"]));
    expect(again).toMatchObject({ ...positions(second), duplicate: true });
    expect(restored(w)).toMatchObject([{ firstEntry: 0, lastEntry: 0 }]);
    expect(await w.run(send(q, 4, ["r4"]))).toMatchObject({ start: { seqNum: 6 }, duplicate: false });
  });

  test("a takeover of an empty segment, again and again", async () => {
    const w = await LogWorld.make();
    const p = w.client("P");
    const first = await w.run(send(p, 0, ["a"]));
    for (const name of ["Q1", "Q2", "Q3"]) {
      const dead = w.faults.hold({ client: name, port: "bookie", call: "add" });
      void w
        .client(name, "west")
        .sending("lost with its sender")
        .catch(() => undefined);
      await w.idle();
      expect(dead.calls.length).toBeGreaterThan(0);
    }
    const ack = await w.run(send(w.client("R", "north"), 0, ["a"]));
    expect(ack).toMatchObject({ ...positions(first), duplicate: true });
    expect((await w.run(send(w.client("S", "east"), 1, ["b"]))).start.seqNum).toBe(1);
  });

  test("a takeover reads the last snapshot and less than K entries, however long the log is", async () => {
    const w = await LogWorld.make();
    const p = w.client("P");
    for (let seq = 0; seq < 3 * K + 5; seq++) await w.run(send(p, seq, [`r${seq}`]));
    const reads = () => w.faults.count({ client: "Q", port: "bookie", call: "read" });
    const before = reads();
    const ack = await w.run(send(w.client("Q", "west"), 3 * K + 5, ["next"]));
    expect(ack).toMatchObject({ start: { seqNum: 3 * K + 5 }, duplicate: false });
    const [event] = restored(w);
    expect(event).toMatchObject({ firstEntry: 3 * K, lastEntry: 3 * K + 4 });
    expect(reads() - before).toBeLessThan(K);
  });

  test("a log without producers pays for none: nothing is read back, nothing is written", async () => {
    const w = await LogWorld.make();
    await w.client("P").append("a", "b");
    await w.client("Q", "west").append("c");
    expect(restored(w)).toEqual([]);
  });
});

describe("handing the lease on (18, 19)", () => {
  test("each process of a region knows what the others appended", async () => {
    const w = await LogWorld.make({ leases: true });
    const first: AppendAck[] = [];
    for (let seq = 0; seq < 6; seq++) {
      const client = w.client(`P${seq}`);
      first.push(await w.run(send(client, seq, [`r${seq}`])));
      const again = await w.run(send(client, Math.max(0, seq - 1), [`r${Math.max(0, seq - 1)}`]));
      expect(again).toMatchObject({
        ...positions(first[Math.max(0, seq - 1)] as AppendAck),
        duplicate: true,
      });
      await client.release();
    }
    expect(w.world.trace.filter(({ event }) => event === "segment-resumed")).toHaveLength(5);
    expect(w.world.trace.filter(({ event }) => event === "recovery-started")).toEqual([]);
  });

  test("who comes back reads only what was added since", async () => {
    const w = await LogWorld.make({ leases: true });
    const [p, q] = [w.client("P"), w.client("Q")];
    for (let seq = 0; seq < 10; seq++) await w.run(send(p, seq, [`r${seq}`]));
    await p.release();
    await w.run(send(q, 10, ["r10"]));
    await w.run(send(q, 11, ["r11"]));
    await q.release();
    expect(await w.run(send(p, 11, ["r11"]))).toMatchObject({ start: { seqNum: 11 }, duplicate: true });
    expect(restored(w)).toMatchObject([
      { firstEntry: 0, lastEntry: 9 },
      { firstEntry: 10, lastEntry: 11 },
    ]);
    // Its table is whole: the next one is expected, nothing is known twice.
    expect((await w.run(send(p, 12, ["r12"]))).duplicate).toBe(false);
    await p.release();
    await q.append("plain");
    await q.release();
    expect((await w.run(send(w.client("R"), 13, ["r13"]))).duplicate).toBe(false);
  });
});

describe("a segment without an entry", () => {
  test("that was left clean does not forget (19): the next holder looks before it", async () => {
    const w = await LogWorld.make({ leases: true });
    const first = await w.run(send(w.client("P", "west"), 0, ["a"]));
    const q = w.client("Q");
    // Q opens the next segment for an append that runs out of patience before it is sent.
    const opening = w.faults.hold({ client: "Q", port: "metadata", call: "write", about: w.elections });
    const late = refused(q.appends.append({ log: LOG, records: [recordOf("late")], timeoutMs: 100 }));
    expect((await w.run(late)).sideEffects).toBe("none");
    opening.release();
    await w.idle();
    await q.release();
    const again = await w.run(send(w.client("R"), 0, ["a"]));
    expect(w.world.trace.some(({ event }) => event === "segment-resumed")).toBe(true);
    expect(again).toMatchObject({ ...positions(first), duplicate: true });
  });

  test("keeps what is before it from the auditor, until it holds a record (31)", async () => {
    const w = await LogWorld.make();
    const first = await w.run(send(w.client("P"), 0, ["a"]));
    const dead = w.faults.hold({ client: "Q", port: "bookie", call: "add" });
    void w.client("Q", "west").sending("lost with its sender");
    await w.idle();
    expect(dead.calls.length).toBeGreaterThan(0);
    await w.trim(1);
    expect(await w.audit()).toEqual([]);
    const r = w.client("R", "north");
    expect(await w.run(send(r, 0, ["a"]))).toMatchObject({ ...positions(first), duplicate: true });
    await w.run(send(r, 1, ["b"]));
    expect(await w.audit()).toEqual([0]);
    const s = w.client("S", "west");
    const trimmed = await w.run(send(s, 0, ["a"]));
    expect(trimmed).toMatchObject({ ...positions(first), duplicate: true });
    expect((await w.run(send(s, 2, ["c"]))).start.seqNum).toBe(2);
  });
});

describe("two regions", () => {
  /** P in the east owns the log; Q in the west forwards to it. */
  async function ownedByEast() {
    const w = await LogWorld.make({ leases: true, forwarding: true });
    const p = w.client("P", "east");
    await p.append("x");
    return { w, p, q: w.client("Q", "west") };
  }

  test("the owner's region is lost with an append in doubt; its producer retries in another region", async () => {
    const { w, p, q } = await ownedByEast();
    // Durable, but the answer never leaves the east: neither to the caller nor to the forwarding region.
    const answers = w.faults.hold({ client: "P", port: "bookie", call: "add" }, "after");
    const lost = send(p, 0, ["a", "b"]);
    await w.idle();
    w.faults.hold({ client: "Q", port: "region", target: "east" });
    const started = w.world.clock.nowMs();
    const retry = await w.run(send(q, 0, ["a", "b"]));
    expect(w.world.clock.nowMs() - started).toBeLessThan(5_000);
    expect(retry).toMatchObject({ start: { seqNum: 1 }, last: { seqNum: 2 }, duplicate: true, epoch: 1 });
    expect(retry.ownerRegion).toBe("west");
    expect((await w.run(send(q, 2, ["c"]))).start.seqNum).toBe(3);
    answers.lose();
    await w.run(lost.catch(() => undefined));
    expect(await w.client("T", "north").read(0)).toEqual(["x", "a", "b", "c"]);
  });

  test("a forwarded append with a producer whose answer is lost is tried again, and is once in the log", async () => {
    const { w, q } = await ownedByEast();
    w.faults.fail({ client: "Q", port: "region", call: "append" }, "after", 2);
    expect(await w.run(send(q, 0, ["a"]))).toMatchObject({ start: { seqNum: 1 }, duplicate: true });
    w.faults.fail({ client: "Q", port: "region", call: "append" }, "after", 1);
    const key = { log: LOG, records: [recordOf("k")], sender: keySender("k") };
    expect(await w.run(q.appends.append(key))).toMatchObject({ start: { seqNum: 2 }, duplicate: true });
    expect(await q.read(0)).toEqual(["x", "a", "k"]);
  });

  test("what may have been delivered is never told as without effect", async () => {
    const { w, p, q } = await ownedByEast();
    await q.append("y");
    w.faults.fail({ client: "Q", port: "region", call: "append" }, "after");
    const error = await w.run(refused(send(q, 0, ["a"], { timeoutMs: 400 })));
    expect(error).toMatchObject({ code: "unknown_outcome", sideEffects: "possible" });
    expect(await p.read(0)).toEqual(["x", "y", "a"]);
  });
});
