/** Conditional appends: judged at their place in the pipeline, told only when they are certain. */
import { expect, test } from "vitest";
import type { FencelineError } from "../../../../lib/protocol/errors.ts";
import { entryId, segmentNumber, seqNum } from "../../../../lib/protocol/ids.ts";
import { seqNumMismatch } from "../../../../lib/protocol/log/appending/seq-num-mismatch.ts";
import type { LogIdentity } from "../../../../lib/protocol/log/log-identity.ts";
import { formatDlsn } from "../../../../lib/protocol/log/records/dlsn.ts";
import type { BatchProducer, EntryBatch } from "../../../../lib/protocol/log/records/entry-batches.ts";
import { LOG, type LogClient, LogWorld, recordOf, told } from "../../../scenarios/log/log-world.ts";

async function refusal(
  w: LogWorld,
  client: LogClient,
  texts: string[],
  match: number,
  token?: string,
): Promise<FencelineError> {
  return await w.run(
    client.sendingBatch(texts, match, token).then(
      () => Promise.reject(new Error("it succeeded")),
      (error) => error,
    ),
  );
}

test("conditions are compared with the place in the pipeline, not with what is acknowledged", async () => {
  const w = await LogWorld.make();
  const p = w.client("P");
  const sent = [
    told(p.sendingBatch(["a", "b"], 0)),
    told(p.sendingBatch(["c"], 2)),
    told(p.sendingBatch(["d"], 2)),
    told(p.sendingBatch(["e"], 3)),
  ];
  expect(await w.run(Promise.all(sent))).toEqual([
    "at 0",
    "at 2",
    "seq_num_mismatch, side effects none",
    "at 3",
  ]);
});

test("a mismatch names expected and actual, and whether the caller's own attempt took the place", async () => {
  const w = await LogWorld.make();
  const p = w.client("P");
  const ack = await w.run(p.sendingBatch(["a", "b"], 0, "t1"));
  const there = {
    expected_seq_num: 0,
    actual_seq_num: 2,
    start: { seq_num: 0, dlsn: formatDlsn(ack.start.dlsn), timestamp: ack.start.timestampMs },
    last: { seq_num: 1, dlsn: formatDlsn(ack.last.dlsn), timestamp: ack.last.timestampMs },
  };
  for (const client of [p, w.client("Q", "west")]) {
    const again = await refusal(w, client, ["a", "b"], 0, "t1");
    expect(again).toMatchObject({ code: "seq_num_mismatch", retryable: false, sideEffects: "none" });
    expect(again.details).toEqual({ ...there, already_appended: true });
    expect(again.message).toMatch(/earlier attempt at this very append .* nothing is left to do/);
  }
  for (const other of [["a", "c"], ["a"], ["b"]]) {
    const { details } = await refusal(w, p, other, 0, "t1");
    expect(details).toEqual({ expected_seq_num: 0, actual_seq_num: 2 });
  }
  expect((await refusal(w, p, ["b"], 1, "t1")).details).not.toHaveProperty("already_appended");
  expect((await refusal(w, p, ["z"], 9, "t1")).details).toEqual({ expected_seq_num: 9, actual_seq_num: 2 });
});

test("of two callers that append the same to one place, one wins and the other is told no win", async () => {
  for (const [own, others, words] of [
    ["t1", "t2", /appended by another than this append; read from 0 on/],
    ["t1", undefined, /only an append_token tells/],
    [undefined, "t2", /appended by another than this append/],
    [undefined, undefined, /only an append_token tells/],
  ] as const) {
    const w = await LogWorld.make();
    const [p, q] = [w.client("P"), w.client("Q", "west")];
    expect(await w.run(told(p.sendingBatch(["mine"], 0, own)))).toBe("at 0");
    const { details, message } = await refusal(w, q, ["mine"], 0, others);
    expect(details).toMatchObject({ equal_records: true, actual_seq_num: 1, start: { seq_num: 0 } });
    expect(details).not.toHaveProperty("already_appended");
    expect(message).toMatch(words);
    // Both in one entry: neighbours keep their own tokens.
    const both = [p.sendingBatch(["x"], 1, "x1"), p.sendingBatch(["x"], 2, "x2")];
    await w.run(Promise.all(both));
    expect((await refusal(w, q, ["x"], 1, "x2")).details).toMatchObject({ equal_records: true });
    expect((await refusal(w, q, ["x"], 2, "x2")).details).toMatchObject({ already_appended: true });
  }
});

test("an attempt in doubt that recovery finds is told as the caller's own, through another region too", async () => {
  const w = await LogWorld.make();
  const p = w.client("P");
  await p.append("a");
  const stuck = w.faults.hold({ client: "P", port: "bookie", call: "add" }, "after");
  const first = told(p.sendingBatch(["b"], 1, "t1"));
  await w.idle();
  const again = await refusal(w, w.client("Q", "west"), ["b"], 1, "t1");
  expect(again.details).toMatchObject({ already_appended: true, start: { seq_num: 1 } });
  expect((await refusal(w, w.client("T", "north"), ["b"], 1, "t2")).details).toMatchObject({
    equal_records: true,
  });
  stuck.release();
  expect(await w.run(first)).toBe("at 1");
  expect(await w.client("U", "north").read(0)).toEqual(["a", "b"]);
});

test("a producer or key that the log has forgotten is still known by its batch at the expected place", async () => {
  const own = { kind: "key", id: "k", epoch: 0, seq: 0, content: 1, arrivedAtMs: 2 } as const;
  const record = { ...recordOf("a"), seqNum: seqNum(0), timestampMs: 1 };
  const dlsn = { segment: segmentNumber(1), entry: entryId(0), slot: 0 };
  const tellOf = async (producer: BatchProducer | undefined, stands: EntryBatch) => {
    const append = { records: [recordOf("a")], appendToken: undefined, producer };
    const places = { expected: seqNum(0), actual: seqNum(1) };
    const log = { name: LOG } as LogIdentity;
    const there = { records: [{ ...record, dlsn }], batches: new Map([[seqNum(0), stands]]) };
    const { details } = await seqNumMismatch(log, append, places, async () => there);
    return [details.already_appended, details.equal_records];
  };
  // A repetition arrives later than the first one, and that makes it no other.
  expect(await tellOf(own, { count: 1, producer: { ...own, arrivedAtMs: 9 } })).toEqual([true, undefined]);
  for (const change of [{ kind: "producer" }, { id: "j" }, { epoch: 1 }, { seq: 1 }] as const) {
    expect(await tellOf(own, { count: 1, producer: { ...own, ...change } })).toEqual([undefined, true]);
  }
  expect(await tellOf(own, { count: 1 })).toEqual([undefined, true]);
  expect(await tellOf(undefined, { count: 1, producer: own })).toEqual([undefined, true]);
  expect(await tellOf(own, { count: 2, producer: own })).toEqual([undefined, undefined]);
});

test("a token stands alone, with a condition, and is one", async () => {
  const w = await LogWorld.make();
  const { appends } = w.client("P");
  const request = { log: LOG, records: [recordOf("a")] };
  for (const [more, words] of [
    [{ appendToken: "t" }, /goes with match_seq_num/],
    [{ appendToken: "", matchSeqNum: seqNum(0) }, /append_token has 1 to 64/],
    [{ appendToken: "a b", matchSeqNum: seqNum(0) }, /append_token has 1 to 64/],
    [{ appendToken: "t", matchSeqNum: seqNum(0), idempotencyKey: "k" }, /leave append_token out/],
    [
      { appendToken: "t", matchSeqNum: seqNum(0), producer: { id: "p", epoch: 0, seq: 0 } },
      /leave append_token out/,
    ],
  ] as const) {
    const error = await w.run(appends.append({ ...request, ...more }).catch((reason) => reason));
    expect(error).toMatchObject({ code: "invalid_request", message: expect.stringMatching(words) });
  }
});

test("a mismatch is not told while what is before it may still fail; then it is judged again", async () => {
  const w = await LogWorld.make();
  const p = w.client("P");
  await p.append("a");
  const stuck = w.faults.hold({ client: "P", port: "bookie", call: "add" });
  let answered = false;
  const doubted = told(p.sendingBatch(["b", "c"], 1));
  const behind = told(p.sendingBatch(["d"], 2)).finally(() => {
    answered = true;
  });
  await w.idle();
  expect(answered).toBe(false);
  expect(await w.client("Q", "west").append("q")).toEqual(["at 1"]);
  stuck.release();
  expect(await w.run(Promise.all([doubted, behind]))).toEqual([
    "seq_num_mismatch, side effects none",
    "at 2",
  ]);
  expect(await w.client("T", "north").read(0)).toEqual(["a", "q", "d"]);
});

test("a writer that was superseded unawares does not refuse a condition that holds", async () => {
  const w = await LogWorld.make();
  const p = w.client("P");
  await p.append("a");
  await w.client("Q", "west").append("b");
  expect(await w.run(told(p.sendingBatch(["c"], 2)))).toBe("at 2");
  await w.client("Q", "west").append("d");
  expect((await refusal(w, p, ["z"], 3)).details).toMatchObject({ actual_seq_num: 4 });
});

test("a writer that was superseded unawares tells no gap to a producer that went on elsewhere", async () => {
  const w = await LogWorld.make();
  const [p, q] = [w.client("P"), w.client("Q", "west")];
  const send = (client: LogClient, seq: number) =>
    w.run(
      told(
        client.appends.append({
          log: LOG,
          records: [recordOf(`r${seq}`)],
          producer: { id: "p", epoch: 0, seq },
        }),
      ),
    );
  expect(await send(p, 0)).toBe("at 0");
  expect(await send(q, 1)).toBe("at 1");
  expect(await send(q, 2)).toBe("at 2");
  expect(await send(p, 3)).toBe("at 3");
  expect(await send(q, 5)).toBe("producer_seq_gap, side effects none");
  expect(await w.client("T", "north").read(0)).toEqual(["r0", "r1", "r2", "r3"]);
});
