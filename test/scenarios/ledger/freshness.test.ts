/**
 * The one clock assumption (rule 15): what a process does that last read metadata consistently longer ago
 * than a quarter of the least seal age, because it was frozen or idle. By then fences and seals may be gone.
 */
import { describe, expect, test } from "vitest";
import { markDeleted, sweepEntries, sweepSeal } from "../../../lib/protocol/ledger/end-ledger.ts";
import { limits } from "../../../lib/protocol/limits.ts";
import { brokenPromises } from "../promises.ts";
import type { World } from "../world.ts";
import { noticesNoTime, only } from "./broken/wrong-clients.ts";
import { threeOfFour } from "./three-of-four.ts";

const aQuarterMs = limits.sealAgeMinMs / 4;

const readsOf = (w: World, client: string) => w.faults.count({ client, port: "metadata", call: "get" });

/** Others close the ledger, delete it, sweep it twice and forget it: nothing of it is left anywhere. */
async function collected(w: World, lastEntry: number): Promise<void> {
  await closedAndSwept(w, lastEntry);
  expect(await w.run(sweepSeal(w.ports("C"), w.theLedger()))).toEqual({ kind: "swept" });
  await expectNothingLeft(w);
}

/** As far as the first sweep; then the seal age is over at one stroke. */
async function closedAndSwept(w: World, lastEntry: number): Promise<void> {
  expect(await w.recover()).toMatchObject({ state: "CLOSED", lastEntry });
  await w.run(markDeleted(w.ports("C"), w.theLedger()));
  await w.run(sweepEntries(w.ports("C"), w.theLedger()));
  w.clock.jump(limits.sealAgeMs);
}

async function expectNothingLeft(w: World): Promise<void> {
  expect(await Promise.all(["B0", "B1", "B2"].map((name) => w.slot(name, 0)))).toEqual(
    Array(3).fill("nothing"),
  );
}

/** e0 is on B0 and B1, B2 is away; B1's OK is still under way. */
async function oneOkMissing(w: World) {
  const writer = await w.writer();
  w.cut("W", "B2");
  const ok = w.faults.hold({ client: "W", target: "B1", port: "bookie", call: "add" }, "after");
  const e0 = writer.send("e0");
  await w.idle();
  return { e0, ok, readsBefore: readsOf(w, "W") };
}

describe("rule 15: a writer thaws with its ACK set in hand", () => {
  test("a quarter of the least seal age later, it acknowledges nothing before it has read", async () => {
    const w = await threeOfFour();
    const { e0, ok } = await oneOkMissing(w);
    const read = w.faults.hold({ client: "W", port: "metadata", call: "get" });
    w.clock.jump(aQuarterMs);
    ok.release();
    await w.idle();
    expect([read.calls.length, w.acknowledged.length]).toEqual([1, 0]);
    read.release();
    expect(await w.run(e0)).toBe("acknowledged 0");
  });

  test("a millisecond earlier it need not read", async () => {
    const w = await threeOfFour();
    const { e0, ok, readsBefore } = await oneOkMissing(w);
    w.clock.jump(aQuarterMs - 1);
    ok.release();
    expect(await w.run(e0)).toBe("acknowledged 0");
    expect(readsOf(w, "W")).toBe(readsBefore);
  });

  test("frozen again during that read, it reads once more: what counts is when it began", async () => {
    const w = await threeOfFour();
    const { e0, ok, readsBefore } = await oneOkMissing(w);
    const reply = w.faults.hold({ client: "W", port: "metadata", call: "get" }, "after", 1);
    w.clock.jump(aQuarterMs);
    ok.release();
    await w.idle();
    w.clock.jump(aQuarterMs);
    w.cut("R", "B0", "B1", "B2");
    void w.recovery();
    await w.idle();
    reply.release();
    expect(await w.run(e0)).toBe("fenced, side effects possible");
    expect(readsOf(w, "W")).toBe(readsBefore + 2);
  });

  test("and a wall clock that went back counts as old", async () => {
    const w = await threeOfFour();
    const { e0, ok, readsBefore } = await oneOkMissing(w);
    w.clock.jump(-60_000);
    ok.release();
    expect(await w.run(e0)).toBe("acknowledged 0");
    expect(readsOf(w, "W")).toBe(readsBefore + 1);
  });

  test.each(["IN_RECOVERY", "CLOSED"])("the read says %s: fenced", async (state) => {
    const w = await threeOfFour();
    const { e0, ok } = await oneOkMissing(w);
    w.clock.jump(aQuarterMs);
    if (state === "IN_RECOVERY") w.cut("R", "B0", "B1", "B2");
    const recovery = w.recovery();
    await w.idle();
    expect(await w.ledger()).toMatchObject({ state });
    ok.release();
    expect(await w.run(e0)).toBe("fenced, side effects possible");
    if (state === "CLOSED") expect(await w.run(recovery)).toMatchObject({ lastEntry: 0 });
    expect(await brokenPromises(w)).toEqual([]);
  });

  test("the metadata is silent: it stops, outcome unknown", async () => {
    const w = await threeOfFour();
    const { e0, ok } = await oneOkMissing(w);
    w.clock.jump(aQuarterMs);
    w.faults.fail({ client: "W", port: "metadata" });
    ok.release();
    expect(await w.run(e0)).toBe("unavailable, side effects possible");
  });
});

describe("rule 15: a writer's put lands when its ledger was closed without it, deleted and forgotten", () => {
  async function story(w: World) {
    const writer = await w.writer();
    w.cut("W", "B2");
    const put = w.faults.hold({ client: "W", target: "B1", port: "bookie", call: "add" });
    const e0 = writer.send("e0");
    await w.idle();
    const asleep = w.freeze("W");
    w.faults.hold({ client: "R", target: "B0", port: "bookie", call: "recoveryRead", about: 0 }, "before", 2);
    await collected(w, -1);
    asleep.thaw();
    put.release();
    return await w.run(e0);
  }

  test("B1 knows of no fence and says OK, and the writer acknowledges nothing", async () => {
    const w = await threeOfFour();
    expect(await story(w)).toBe("fenced, side effects possible");
    expect(await w.slot("B1", 0)).toBe("original");
    expect(await brokenPromises(w)).toEqual([]);
  });

  test("a writer that did not notice the time acknowledges an entry that is lost", async () => {
    const w = await threeOfFour({ client: only("W", noticesNoTime) });
    await story(w);
    expect(await brokenPromises(w)).toEqual(["entry 0 was acknowledged, the ledger ends at -1"]);
  });
});

describe("rule 15: a reader's metadata is a quarter of the least seal age old", () => {
  async function withOldMetadata(w: World) {
    const writer = await w.writer();
    await writer.add("e0", "e1");
    const reader = w.reader("T");
    expect(await w.read(reader, 0)).toBe("e0");
    return reader;
  }

  test("it answers nothing before it has read again, not even a confirmed entry", async () => {
    const w = await threeOfFour();
    const reader = await withOldMetadata(w);
    const read = w.faults.hold({ client: "T", port: "metadata", call: "get" });
    w.clock.jump(aQuarterMs);
    const said = w.reading(reader, 0);
    await w.idle();
    expect([read.calls.length, w.readerSaid.length]).toEqual([1, 1]);
    read.release();
    expect(await w.run(said)).toBe("e0");
  });

  test("a millisecond earlier it need not read", async () => {
    const w = await threeOfFour();
    const reader = await withOldMetadata(w);
    const before = readsOf(w, "T");
    w.clock.jump(aQuarterMs - 1);
    expect(await w.read(reader, 0)).toBe("e0");
    expect(readsOf(w, "T")).toBe(before);
  });

  test("frozen between a bookie's answer and its own, it reads again first", async () => {
    const w = await threeOfFour();
    const reader = await withOldMetadata(w);
    const before = readsOf(w, "T");
    const answers = w.faults.hold({ client: "T", port: "bookie", call: "read" }, "after");
    const said = w.reading(reader, 0);
    await w.idle();
    w.clock.jump(aQuarterMs);
    answers.release();
    expect(await w.run(said)).toBe("e0");
    expect(readsOf(w, "T")).toBe(before + 1);
  });

  test("without metadata it answers with an error", async () => {
    const w = await threeOfFour();
    const reader = await withOldMetadata(w);
    w.clock.jump(aQuarterMs);
    w.faults.fail({ client: "T", port: "metadata" });
    await expect(w.read(reader, 0)).rejects.toMatchObject({ code: "unavailable" });
  });
});

describe("rule 15: adds that were delayed for a month land on B0 and B1 when the ledger is forgotten", () => {
  async function story(w: World) {
    const writer = await w.writer();
    const reader = w.reader("T");
    expect(await w.read(reader, 0)).toBe("nothing-yet");
    const adds = w.faults.hold({ client: "W", port: "bookie", call: "add" });
    void writer.send("e0");
    await w.idle();
    w.freeze("W");
    await collected(w, -1);
    adds.release();
    await w.idle();
    expect(await w.slot("B0", 0)).toBe("original");
    return await w.read(reader, 0);
  }

  test("a reader that thaws finds the ledger gone", async () => {
    const w = await threeOfFour();
    expect(await story(w)).toBe("missing");
    expect(await brokenPromises(w)).toEqual([]);
  });

  test("a reader that did not notice the time returns an entry that never was", async () => {
    const w = await threeOfFour({ client: only("T", noticesNoTime) });
    await story(w);
    expect(await brokenPromises(w)).toEqual(["entry 0 was returned, the ledger ends at -1"]);
  });

  test("of two reads that thaw, the one with the old metadata does not live on what the other has read", async () => {
    const w = await threeOfFour();
    const writer = await w.writer();
    const reader = w.reader("T");
    expect(await w.read(reader, 0)).toBe("nothing-yet");
    const adds = w.faults.hold({ client: "W", port: "bookie", call: "add" });
    void writer.send("e0");
    const slots = w.faults.hold({ client: "T", port: "bookie", call: "read" });
    const old = w.reading(reader, 0);
    await w.idle();
    w.freeze("W");
    await closedAndSwept(w, -1);
    // No timer fires from here on: the old read's requests are still open.
    const forgotten = sweepSeal(w.ports("C"), w.theLedger());
    await w.idle();
    expect(await forgotten).toEqual({ kind: "swept" });
    adds.release();
    const other = w.reading(reader, 1);
    await w.idle();
    expect(await other).toBe("missing");
    slots.release();
    expect(await w.run(old)).toBe("missing");
    expect(await brokenPromises(w)).toEqual([]);
  });
});
