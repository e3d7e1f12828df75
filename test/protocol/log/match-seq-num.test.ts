/** Conditional appends: judged at their place in the pipeline, told only when they are certain. */
import { expect, test } from "vitest";
import type { FencelineError } from "../../../lib/protocol/errors.ts";
import { formatDlsn } from "../../../lib/protocol/log/dlsn.ts";
import { LOG, type LogClient, LogWorld, recordOf, told } from "../../scenarios/log/log-world.ts";

async function refusal(
  w: LogWorld,
  client: LogClient,
  texts: string[],
  match: number,
): Promise<FencelineError> {
  return await w.run(
    client.sendingBatch(texts, match).then(
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

test("a mismatch names expected and actual, and whether the very batch stands there already", async () => {
  const w = await LogWorld.make();
  const p = w.client("P");
  const ack = await w.run(p.sendingBatch(["a", "b"], 0));
  const again = await refusal(w, w.client("Q", "west"), ["a", "b"], 0);
  expect(again).toMatchObject({ code: "seq_num_mismatch", retryable: false, sideEffects: "none" });
  expect(again.details).toMatchObject({
    expected_seq_num: 0,
    actual_seq_num: 2,
    already_appended: true,
    start: { seq_num: 0, dlsn: formatDlsn(ack.start.dlsn), timestamp: ack.start.timestampMs },
    last: { seq_num: 1, dlsn: formatDlsn(ack.last.dlsn) },
  });
  for (const other of [["a", "c"], ["a"], ["b"]]) {
    expect((await refusal(w, p, other, 0)).details).toEqual({ expected_seq_num: 0, actual_seq_num: 2 });
  }
  expect((await refusal(w, p, ["b"], 1)).details).not.toHaveProperty("already_appended");
  expect((await refusal(w, p, ["z"], 9)).details).toEqual({ expected_seq_num: 9, actual_seq_num: 2 });
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
