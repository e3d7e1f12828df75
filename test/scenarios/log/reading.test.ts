/** Stories of readers: across replaced and closed segments, with answers of any age. */
import { expect, test } from "vitest";
import { logName } from "../../../lib/protocol/ids.ts";
import { ledgerKey, logNameKey } from "../../../lib/protocol/items.ts";
import type { MetadataStore, Versioned } from "../../../lib/protocol/ports.ts";
import { EXHAUSTIVE } from "../../cpu-bound.ts";
import { LOG, LogWorld } from "./log-world.ts";
import { AnyOldState, OldAnswers } from "./metadata-tricks.ts";

/** A log whose only segment is empty: its opener died before it sent anything. */
async function withEmptySegment(w: LogWorld): Promise<void> {
  w.faults.hold({ client: "dead", port: "bookie", call: "add" });
  void w.client("dead").sending("lost with its sender");
  await w.idle();
}

test("T10 (33b): a reader in an empty segment that is replaced finds the record at its key", async () => {
  const w = await LogWorld.make({ segmentBytesMax: 1 });
  await withEmptySegment(w);
  const empty = (await w.chain())[0];
  const t = w.client("T", "north");
  const held = w.faults.hold({ client: "T", call: "get", about: ledgerKey(empty as never).partition });
  const reading = t.reads.read({ log: "orders" as never, from: 0 as never, limit: 9, consistency: "strong" });
  await w.idle();
  expect(held.calls).toHaveLength(1);
  expect(await w.client("P", "west").append("p0", "p1")).toEqual(["at 0", "at 1"]);
  held.release();
  expect((await w.run(reading)).records.map(({ seqNum }) => seqNum)).toEqual([0, 1]);
});

test("T11 (33e): no 'nothing yet' from an empty segment, once the last, that was replaced", async () => {
  const w = await LogWorld.make();
  await withEmptySegment(w);
  const old = new OldAnswers(w.world.metadata);
  const t = w.client("T", "north", (store) => old.through(store));
  expect(await t.answer(0)).toMatchObject({ records: [], upToDate: true });
  await old.hold(w.elections);
  expect(await w.client("P", "west").append("p0")).toEqual(["at 0"]);
  expect(await t.read(0)).toEqual(["p0"]);
});

test("T13 (33e): a reader at the end of a closed last segment is told that it is up to date", async () => {
  const w = await LogWorld.make({ segmentBytesMax: 1 });
  const p = w.client("P");
  await p.append("p0");
  w.faults.hold({ client: "P", call: "write", about: w.elections });
  void p.sending("the roll that never ends");
  await w.idle();
  expect(await w.ledgerState((await w.chain())[0])).toBe("CLOSED");
  const t = w.client("T", "north");
  expect(await t.answer(0)).toMatchObject({ next: 1, tail: 1, upToDate: true });
  expect(await t.tail()).toBe(1);
});

test("33a, 33d, 33e: with queries as old as the empty log a reader finds what came since", async () => {
  const w = await LogWorld.make({ segmentBytesMax: 1 });
  const old = new OldAnswers(w.world.metadata);
  await old.hold(w.elections);
  const t = w.client("T", "north", (store) => old.through(store));
  expect(await t.answer(0)).toMatchObject({ records: [], tail: 0, upToDate: true });
  await w.client("P").append("p0", "p1", "p2");
  expect(await t.read(0)).toEqual(["p0", "p1", "p2"]);
  expect(await t.tail()).toBe(3);
  old.release();
  expect(await t.read(2)).toEqual(["p2"]);
});

test("33: whatever earlier states stale queries show, strong reads are exact", EXHAUSTIVE, async () => {
  let state = 7;
  const draw = (bound: number) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * bound);
  };
  const w = await LogWorld.make({ segmentBytesMax: 1 });
  const anyOld = new AnyOldState(w.world.metadata, draw);
  const stuck = w.faults.hold({ client: "dead", port: "bookie", call: "add" });
  void w.client("dead").sending("lost with its sender");
  await w.idle();
  await w.client("P", "west").append("r0", "r1", "r2", "r3");
  for (const name of ["dead too", "dead as well"]) {
    w.faults.hold({ client: name, port: "bookie", call: "add" });
    void w.client(name).sending("lost with its sender");
    await w.idle();
  }
  await w.client("Q", "north").append("r4");
  stuck.release();
  for (let round = 0; round < 150; round++) {
    const t = w.client(`T${round}`, "north", (store) => anyOld.through(store));
    const from = draw(6);
    expect(await t.read(from)).toEqual(["r0", "r1", "r2", "r3", "r4"].slice(from));
    expect(await t.tail()).toBe(5);
  }
  expect(w.world.trace.filter(({ event }) => event === "log-alarm")).toEqual([]);
});

test("33b: stale answers that name replaced segments in turn do not send a reader round", async () => {
  const w = await LogWorld.make();
  const replaced: Versioned[][] = [[], []];
  const partition = w.elections;
  for (const [turn, found] of replaced.entries()) {
    w.faults.hold({ client: `dead ${turn}`, port: "bookie", call: "add" });
    void w.client(`dead ${turn}`).sending("lost with its sender");
    await w.idle();
    found.push(...(await w.world.metadata.query({ partition, order: "ascending", limit: 1 }, "consistent")));
  }
  await w.client("P", "west").append("p");
  let turn = 0;
  const inTurn = (store: MetadataStore): MetadataStore => ({
    ...store,
    query: async (query, consistency) =>
      consistency === "stale" ? (replaced[turn++ % 2] ?? []) : await store.query(query, consistency),
  });
  expect(await w.client("T", "north", inTurn).read(0)).toEqual(["p"]);
  expect(turn).toBeLessThan(5);
});

test("who asks after its creation finds a log, also beside one who asked before", async () => {
  const w = await LogWorld.make();
  const late = logName("late");
  const t = w.client("T", "north");
  const name = { client: "T", call: "get", about: logNameKey(late).partition };
  const stale = w.faults.hold(name, "after");
  const early = t.reads.tail(late, "strong").catch(({ code }) => code);
  await w.idle();
  stale.release();
  const consistent = w.faults.hold(name, "after");
  await w.idle();
  await w.run(w.client("P").appends.createLog(late, w.config));
  const reading = t.reads.tail(late, "strong");
  await w.idle();
  consistent.release();
  expect(await w.run(early)).toBe("log_not_found");
  expect(await w.run(reading)).toMatchObject({ tail: 0, upToDate: true });
});

test("the segments of a log are those of its present life", async () => {
  const w = await LogWorld.make();
  const t = w.client("T", "north");
  await w.client("P").append("old");
  expect(await t.read(0)).toEqual(["old"]);
  await w.deleteAndCreateAgain();
  await w.client("Q").append("new");
  expect(await w.run(t.reads.segments(LOG))).toHaveLength(1);
  expect(await t.read(0)).toEqual(["new"]);
});
