/** Stories of logs that are trimmed up to their tail, and still remember who appended. */
import { expect, test } from "vitest";
import { region } from "../../../lib/protocol/ids.ts";
import { LOG, type LogClient, LogWorld, recordOf } from "./log-world.ts";

const send = (client: LogClient, seq: number, text: string) => {
  const producer = { id: "p", epoch: 0, seq };
  return client.appends.append({ log: LOG, records: [recordOf(text)], sender: producer });
};

/** A segment with a record, trimmed, and behind it one that was settled and holds no record. */
async function settledAndTrimmed() {
  const w = await LogWorld.make({ leases: true, forwarding: true, segmentBytesMax: 1 });
  const [p, q] = [w.client("P", "east"), w.client("Q", "west")];
  const first = await w.run(send(p, 0, "a"));
  await w.run(p.appends.settle(LOG)); // rolls, and settles in the new segment
  await w.trim(1);
  return { w, p, q, first };
}

test("31: before a segment of control entries alone nothing goes: one that holds nothing may replace it (24)", async () => {
  const { w, p, q, first } = await settledAndTrimmed();
  expect(await w.audit()).toEqual([]);
  await w.run(p.appends.transferOwner(LOG, region("west"))); // west's segment takes over the item
  expect(await w.run(send(q, 0, "a"))).toMatchObject({
    start: first.start,
    last: first.last,
    duplicate: true,
  });
  expect(await w.run(send(q, 1, "b"))).toMatchObject({ start: { seqNum: 1 }, duplicate: false });
});

test("31: behind control entries a record is enough", async () => {
  const { w, p } = await settledAndTrimmed();
  expect(await w.run(send(p, 1, "b"))).toMatchObject({ start: { seqNum: 1 } });
  expect(await w.audit()).toEqual([0]);
  await p.release();
  expect(await w.run(send(w.client("R", "east"), 0, "a"))).toMatchObject({ duplicate: true });
});
