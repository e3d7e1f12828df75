/** Conditional appends: judged at their place in the pipeline, answered only when the verdict is certain. */
import { expect, test } from "vitest";
import type { FencelineError } from "../../../../lib/protocol/errors.ts";
import { seqNum } from "../../../../lib/protocol/ids.ts";
import { LOG, type LogClient, LogWorld, recordOf, told } from "../../../scenarios/log/log-world.ts";

async function refusal(
  w: LogWorld,
  client: LogClient,
  texts: string[],
  match: number,
  key?: string,
): Promise<FencelineError> {
  return await w.run(
    client.sendingBatch(texts, match, key).then(
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

const KEYLESS = /nobody can say, since it has no Idempotency-Key: give one, the same in each attempt/;

test("a mismatch names expected and actual, and says what a sender would have told", async () => {
  const w = await LogWorld.make();
  const p = w.client("P");
  await w.run(p.sendingBatch(["a", "b"], 0));
  for (const client of [p, w.client("Q", "west")]) {
    const again = await refusal(w, client, ["a", "b"], 0);
    expect(again).toMatchObject({ code: "seq_num_mismatch", retryable: false, sideEffects: "none" });
    expect(again.details).toEqual({ expected_seq_num: 0, actual_seq_num: 2 });
    expect(again.message).toMatch(KEYLESS);
    const other = await refusal(w, client, ["a", "b"], 0, "k");
    expect(other.message).toMatch(/no attempt at this append is recorded, .* within the 5 minutes/);
    const ahead = await refusal(w, client, ["z"], 9);
    expect(ahead.details).toEqual({ expected_seq_num: 9, actual_seq_num: 2 });
    expect(ahead.message).toMatch(/the next record gets 2; read from 2 on and decide again$/);
  }
});

test("a repetition is a duplicate wherever the log ends by now; equal records of another's are no win", async () => {
  const w = await LogWorld.make();
  const [p, q] = [w.client("P"), w.client("Q", "west")];
  const first = await w.run(p.sendingBatch(["lock"], 0, "mine"));
  await p.append("later");
  for (const client of [p, q, w.client("new", "north")]) {
    const again = await w.run(client.sendingBatch(["lock"], 0, "mine"));
    expect(again).toMatchObject({ start: first.start, last: first.last, duplicate: true, tail: 2 });
    expect(again).not.toHaveProperty("durableIn");
    expect((await refusal(w, client, ["lock"], 0, "theirs")).code).toBe("seq_num_mismatch");
  }
  // Both in one entry: neighbours keep their own senders.
  await w.run(Promise.all([p.sendingBatch(["x"], 2, "x1"), p.sendingBatch(["x"], 3, "x2")]));
  expect(await w.run(q.sendingBatch(["x"], 3, "x2"))).toMatchObject({
    start: { seqNum: 3 },
    duplicate: true,
  });
  expect((await refusal(w, q, ["x"], 3, "x3")).code).toBe("seq_num_mismatch");
  expect((await refusal(w, q, ["y"], 4, "x2")).code).toBe("idempotency_conflict");
});

test("a condition that failed is not noted: the same key is judged anew, and wins where its condition holds", async () => {
  const w = await LogWorld.make();
  const [p, q] = [w.client("P"), w.client("Q", "west")];
  await p.append("a");
  expect((await refusal(w, p, ["b"], 2, "k")).code).toBe("seq_num_mismatch");
  await p.append("between");
  expect(await w.run(q.sendingBatch(["b"], 2, "k"))).toMatchObject({
    start: { seqNum: 2 },
    duplicate: false,
  });
  expect(await w.run(p.sendingBatch(["b"], 9, "k"))).toMatchObject({ start: { seqNum: 2 }, duplicate: true });
  // Other records under a key whose condition failed are no conflict, nor is a producer's seq used up.
  expect((await refusal(w, p, ["c"], 9, "j")).code).toBe("seq_num_mismatch");
  expect(await w.run(p.sendingBatch(["d"], 3, "j"))).toMatchObject({
    start: { seqNum: 3 },
    duplicate: false,
  });
  expect(await p.read(0)).toEqual(["a", "between", "b", "d"]);
});

test("an attempt in doubt that recovery finds is a duplicate, through another region too", async () => {
  for (const moment of ["before", "after"] as const) {
    const w = await LogWorld.make();
    const p = w.client("P");
    await p.append("a");
    const stuck = w.faults.hold({ client: "P", port: "bookie", call: "add" }, moment);
    const first = told(p.sendingBatch(["b"], 1, "mine"));
    await w.idle();
    const again = await w.run(w.client("Q", "west").sendingBatch(["b"], 1, "mine"));
    expect(again).toMatchObject({ start: { seqNum: 1 }, duplicate: moment === "after" });
    expect((await refusal(w, w.client("T", "north"), ["b"], 1, "theirs")).code).toBe("seq_num_mismatch");
    stuck.release();
    expect(await w.run(first)).toBe("at 1");
    expect(await w.client("U", "north").read(0)).toEqual(["a", "b"]);
  }
});

test("a gap and a stale epoch are said before the condition is looked at", async () => {
  const w = await LogWorld.make();
  const p = w.client("P");
  const code = (epoch: number, seq: number, match: number) =>
    w.run(
      p.appends
        .append({
          log: LOG,
          records: [recordOf("r")],
          matchSeqNum: seqNum(match),
          sender: { id: "p", epoch, seq },
        })
        .then(
          ({ start }) => `at ${start.seqNum}`,
          (error) => error.code,
        ),
    );
  expect(await code(1, 0, 0)).toBe("at 0");
  expect(await code(1, 5, 9)).toBe("producer_seq_gap");
  expect(await code(0, 0, 9)).toBe("producer_fenced");
  expect(await code(1, 1, 9)).toBe("seq_num_mismatch");
  expect(await code(1, 1, 1)).toBe("at 1");
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
          sender: { id: "p", epoch: 0, seq },
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
