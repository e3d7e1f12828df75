/** Stories of opening and rolling: which writer may number records, and what becomes of the others. */

import { expect, test } from "vitest";
import { seqNum } from "../../../lib/protocol/ids.ts";
import { logKey, segmentKey } from "../../../lib/protocol/items.ts";
import { completeSegment } from "../../../lib/protocol/log/chain/segment-end.ts";
import { LOG, LogWorld } from "./log-world.ts";
import { LateWrites } from "./metadata-tricks.ts";

/** Every segment is full after one batch. */
const ONE_BATCH = { segmentBytesMax: 1 };

test("T01 (25, 31): an opener that thaws below the trim point wins, fails the check, and is removed", async () => {
  const w = await LogWorld.make(ONE_BATCH);
  const p = w.client("P");
  const q = w.client("Q", "west");
  const frozen = w.faults.hold({ client: "Q", call: "write", about: w.elections });
  const late = q.sending("q");
  await w.idle();
  expect(await p.append("p0", "p1")).toEqual(["at 0", "at 1"]);
  await w.trim(1);
  expect(await w.audit()).toEqual([0]);
  frozen.release();
  expect(await w.run(late)).toEqual(["at 2"]);
  const zombie = (await w.chain())[0];
  expect(await w.ledgerState(zombie)).toBe("DELETED");
  expect(await w.audit()).toEqual([0]);
  expect(Object.keys(await w.chain())).toEqual(["1", "2"]);
  expect(await w.client("T", "north").read(1)).toEqual(["p1", "q"]);
});

test("T14 (33f): a reader at a zombie's segment below the trim point is told 'trimmed'", async () => {
  const w = await LogWorld.make(ONE_BATCH);
  const frozen = w.faults.hold({ client: "Q", call: "write", about: w.elections });
  const late = w.client("Q", "west").sending("q");
  await w.idle();
  await w.client("P").append("p0", "p1");
  await w.trim(1);
  expect(await w.audit()).toEqual([0]);
  const checks = w.faults.hold({ client: "Q", call: "get", about: logKey(w.log).partition });
  frozen.release();
  await w.idle();
  expect(Object.keys(await w.chain())).toEqual(["0", "1"]);
  expect(await w.client("T", "north").readOrError(0)).toBe("position_trimmed");
  checks.release();
  expect(await w.run(late)).toEqual(["at 2"]);
});

test("T03 (24): an opener that dies after its win leaves its very place to the next one", async () => {
  const w = await LogWorld.make();
  w.faults.hold({ client: "P", port: "bookie", call: "add" });
  void w.client("P").sending("lost with its sender");
  await w.idle();
  const before = await w.chain();
  expect(await w.client("Q", "west").append("q")).toEqual(["at 0"]);
  const after = await w.chain();
  expect(Object.keys(after)).toEqual(["0"]);
  expect(after[0]).not.toBe(before[0]);
});

test("T04 (24): of two that replace one empty segment only one does; the other goes behind it", async () => {
  const w = await LogWorld.make();
  w.faults.hold({ client: "P", port: "bookie", call: "add" });
  void w.client("P").sending("lost with its sender");
  await w.idle();
  const q = w.faults.hold({ client: "Q", call: "write", about: w.elections });
  const r = w.faults.hold({ client: "R", call: "write", about: w.elections });
  const fromQ = w.client("Q", "west").sending("q");
  const fromR = w.client("R", "north").sending("r");
  await w.idle();
  q.release();
  expect(await w.run(fromQ)).toEqual(["at 0"]);
  r.release();
  expect(await w.run(fromR)).toEqual(["at 1"]);
  expect(await w.client("T").read(0)).toEqual(["q", "r"]);
});

test("T12 (26, 28): an abandoned ledger's put lands late; its segment is empty and replaced", async () => {
  const w = await LogWorld.make();
  const late = new LateWrites();
  const p = w.client("P", "east", (store) => late.through(store));
  late.start(w.elections);
  expect(await p.append("p")).toEqual(["not_ready, side effects none"]);
  late.stop();
  expect(await late.land()).toMatchObject({ kind: "written" });
  expect(await w.ledgerState((await w.chain())[0])).toBe("DELETED");
  const t = w.client("T", "north");
  expect(await t.answer(0)).toMatchObject({ records: [], tail: 0, upToDate: true });
  expect(await w.client("Q", "west").append("q")).toEqual(["at 0"]);
  expect(await late.land()).toMatchObject({ kind: "conflict" });
  expect(await t.read(0)).toEqual(["q"]);
});

test("26: a win whose reply was lost is a win, also if the item was completed since", async () => {
  const w = await LogWorld.make();
  const election = { client: "P", about: w.elections };
  w.faults.fail({ ...election, call: "write" }, "after", 1);
  w.faults.at({ ...election, call: "get" }, "before", 2, async () => {
    const stored = await w.world.metadata.get(segmentKey(w.log, seqNum(0)), "consistent");
    const completion = { end: seqNum(0), lastEntry: -1, lastTimestampMs: 0, bytes: 0 };
    if (stored?.item.kind === "segment") await w.put(stored.key, { ...stored.item, completion });
  });
  expect(await w.client("P").append("p")).toEqual(["at 0"]);
  expect(w.world.trace.filter(({ event }) => event === "ledger-created")).toHaveLength(1);
  expect(await w.client("T", "north").read(0)).toEqual(["p"]);
});

test("T15 (34): a late completion of a replaced segment leaves the item to its new ledger", async () => {
  const w = await LogWorld.make();
  w.faults.hold({ client: "P", port: "bookie", call: "add" });
  void w.client("P").sending("lost with its sender");
  await w.idle();
  const old = (await w.chain())[0];
  const q = w.client("Q", "west");
  await q.append("q");
  const now = (await w.chain())[0];
  const completion = { end: seqNum(7), lastEntry: 6, lastTimestampMs: 0, bytes: 0 };
  await completeSegment(q.ports, w.log, { first: seqNum(0), ledgerId: old as never }, completion);
  expect((await w.chain())[0]).toBe(now);
  const [segment] = await w.run(q.reads.segments(LOG));
  expect(segment?.completion).toBeUndefined();
  expect(await w.client("T", "north").read(0)).toEqual(["q"]);
});

test("T16 (22): with a record in flight too, an opener takes the end from a closed ledger", async () => {
  const w = await LogWorld.make();
  const p = w.client("P");
  await p.append("p0");
  const stuck = w.faults.hold({ client: "P", port: "bookie", call: "add", target: "B1" });
  const alsoStuck = w.faults.hold({ client: "P", port: "bookie", call: "add", target: "B2" });
  const inFlight = p.sending("p1");
  await w.idle();
  const first = (await w.chain())[0];
  let stateAtElection = "";
  w.faults.at({ client: "Q", call: "write", about: w.elections }, "before", 1, async () => {
    stateAtElection = await w.ledgerState(first);
  });
  const q = await w.client("Q", "west").append("q");
  expect(stateAtElection).toBe("CLOSED");
  stuck.release();
  alsoStuck.release();
  const [outcome] = await w.run(inFlight);
  const read = await w.client("T", "north").read(0);
  expect([outcome, q[0]].sort()).toEqual(["at 1", "at 2"]);
  expect(read.indexOf("p1")).toBe(Number(outcome?.slice("at ".length)));
  expect(read).toHaveLength(3);
});

test("25, 27: an owner superseded and trimmed away rolls below the trim point, then appends", async () => {
  const w = await LogWorld.make(ONE_BATCH);
  const p = w.client("P");
  await p.append("p0");
  const q = w.client("Q", "west");
  expect(await q.append("q1", "q2")).toEqual(["at 1", "at 2"]);
  await w.trim(2);
  expect(await w.audit()).toEqual([0, 1]);
  expect(await p.append("p3")).toEqual(["at 3"]);
  expect(await w.client("T", "north").read(2)).toEqual(["q2", "p3"]);
});
