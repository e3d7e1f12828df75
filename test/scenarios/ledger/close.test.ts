/** Stories of the writer's own close (rule 9): the seal, what is outstanding, who else is at the ledger. */
import { describe, expect, test } from "vitest";
import { entryId } from "../../../lib/protocol/ids.ts";
import { closeCleanly } from "../../../lib/protocol/ledger/end-ledger.ts";
import { brokenPromises } from "../promises.ts";
import type { Adder, World } from "../world.ts";
import { each, neverReadsAgain, only, sealsNothing } from "./broken/wrong-clients.ts";
import { threeOfFour } from "./three-of-four.ts";

const close = (w: World, { writer }: Adder) => w.run(writer.close());

describe("S13 (rule 9): the writer closes cleanly at 0, and a reader still takes the ledger for open", () => {
  async function story(w: World) {
    const writer = await w.writer();
    const reader = w.reader("T");
    expect(await w.read(reader, 0)).toBe("nothing-yet");
    expect(await writer.add("e0")).toBe("acknowledged 0");
    expect(await w.read(reader, 0)).toBe("e0");
    expect(await close(w, writer)).toMatchObject({ state: "CLOSED", lastEntry: 0 });
    return await w.read(reader, 1);
  }

  test("it learns the end", async () => {
    const w = await threeOfFour();
    expect(await story(w)).toBe("beyond-end");
    expect(await brokenPromises(w)).toEqual([]);
  });

  test("the seal alone stops even a reader that never asks the metadata again", async () => {
    const w = await threeOfFour({ client: only("T", neverReadsAgain) });
    expect(await story(w)).toBe("undecided");
    expect(await brokenPromises(w)).toEqual([]);
  });

  test("without seal and without metadata read a closed ledger passes for a tail", async () => {
    const w = await threeOfFour({ client: each({ T: neverReadsAgain, W: sealsNothing }) });
    await story(w);
    expect(await brokenPromises(w)).toEqual(['"nothing yet" of entry 1, closed before']);
  });
});

describe("S13 (rule 9): the writer closes cleanly, and another process takes itself for the writer", () => {
  async function story(w: World) {
    const writer = await w.writer();
    const thawed = await w.otherWriter("Z");
    expect(await close(w, writer)).toMatchObject({ state: "CLOSED", lastEntry: -1 });
    return await thawed.add("z0");
  }

  test("no bookie is fenced, and yet its first add is refused: the slot is sealed", async () => {
    const w = await threeOfFour();
    expect(await story(w)).toBe("fenced, side effects possible");
    expect(await brokenPromises(w)).toEqual([]);
  });

  test("without a seal it is acknowledged behind the end", async () => {
    const w = await threeOfFour({ client: only("W", sealsNothing) });
    await story(w);
    expect(await brokenPromises(w)).toEqual(["entry 0 was acknowledged, the ledger ends at -1"]);
  });

  test("it was the writer, has replaced bookies and acknowledged: the close does not go past it", async () => {
    const w = await threeOfFour({ bookies: ["B0", "B1", "B2", "B3", "B4"] });
    const writer = await w.writer();
    const other = await w.otherWriter("Z");
    for (const target of ["B1", "B2"]) w.faults.fail({ client: "Z", target, port: "bookie" });
    expect(await other.add("z0")).toBe("acknowledged 0");
    expect(await w.ensembles()).toEqual({ 0: "B0 B3 B4" });
    expect(await close(w, writer)).toMatchObject({ state: "CLOSED", lastEntry: 0 });
    expect(await brokenPromises(w)).toEqual([]);
  });
});

describe("S14 (rule 9): e0 is on B0 and B1, replies late; a reader has it; the writer closes", () => {
  async function story(w: World) {
    const writer = await w.writer();
    w.cut("W", "B2");
    const replies = w.faults.hold({ client: "W", port: "bookie", call: "add" }, "after");
    const e0 = writer.send("e0");
    await w.idle();
    expect(await w.read(w.reader(), 0)).toBe("e0");
    return { writer, replies, e0 };
  }

  test("the close waits for what is outstanding", async () => {
    const w = await threeOfFour();
    const { writer, replies, e0 } = await story(w);
    const closing = writer.writer.close();
    await w.idle();
    expect(await w.ledger()).toMatchObject({ state: "OPEN" });
    replies.release();
    expect(await w.run(closing)).toMatchObject({ state: "CLOSED", lastEntry: 0 });
    expect(await w.run(e0)).toBe("acknowledged 0");
    expect(await brokenPromises(w)).toEqual([]);
  });

  test("the replies never come and no bookie can be replaced: it closes by recovery, at 0", async () => {
    const w = await threeOfFour({ bookies: ["B0", "B1", "B2"] });
    const { writer, e0 } = await story(w);
    expect(await close(w, writer)).toMatchObject({ state: "CLOSED", lastEntry: 0 });
    expect(await w.run(e0)).toBe("insufficient_regions, side effects possible");
    expect(await brokenPromises(w)).toEqual([]);
  });

  test("a close that leaves it out all the same loses what the reader returned", async () => {
    const w = await threeOfFour({ client: only("W", sealsNothing) });
    const { writer } = await story(w);
    const ports = w.ports("W");
    const tooLow = { lastEntry: entryId(-1), length: 0 };
    expect(await w.run(closeCleanly(ports, writer.writer.ledger, tooLow))).toMatchObject({ lastEntry: -1 });
    expect(await brokenPromises(w)).toEqual(["entry 0 was returned, the ledger ends at -1"]);
  });
});

test("a seal that meets an occupied slot is not clean: the close goes to recovery (rule 9)", async () => {
  const w = await threeOfFour();
  const writer = await w.writer();
  const other = await w.otherWriter("Z");
  expect(await other.add("z0")).toBe("acknowledged 0");
  expect(await close(w, writer)).toMatchObject({ state: "CLOSED", lastEntry: 0 });
  expect(w.trace).toContainEqual(expect.objectContaining({ event: "ledger-closed", by: "recovery" }));
  expect(await brokenPromises(w)).toEqual([]);
});

test("two of three bookies are sealed, the third is occupied: a clean close (rule 9)", async () => {
  const w = await threeOfFour();
  const writer = await w.writer();
  const other = await w.otherWriter("Z");
  w.cut("Z", "B1", "B2");
  const z0 = other.send("z0");
  await w.idle();
  expect(await close(w, writer)).toMatchObject({ state: "CLOSED", lastEntry: -1 });
  expect(w.trace).toContainEqual(expect.objectContaining({ event: "ledger-closed", by: "writer" }));
  expect(await w.run(z0)).toMatch(/^insufficient_regions|^fenced/);
  expect(await brokenPromises(w)).toEqual([]);
});

test("IN_RECOVERY comes before the close: the writer leaves the end to recovery (rule 9)", async () => {
  const w = await threeOfFour();
  const writer = await w.writer();
  await writer.add("e0");
  const closeWrite = w.faults.hold({ client: "W", port: "metadata", call: "write" });
  const closing = writer.writer.close();
  await w.idle();
  const stopped = w.faults.hold({ client: "R", port: "bookie" });
  const recovery = w.recovery();
  await w.idle();
  expect(await w.ledger()).toMatchObject({ state: "IN_RECOVERY" });
  closeWrite.release();
  expect(await w.run(closing)).toMatchObject({ state: "CLOSED", lastEntry: 0 });
  stopped.release();
  expect(await w.run(recovery)).toMatchObject({ state: "CLOSED", lastEntry: 0 });
  const closes = w.trace.filter((event) => event.event === "ledger-closed");
  expect(closes).toEqual([expect.objectContaining({ by: "recovery", lastEntry: 0 })]);
  expect(await brokenPromises(w)).toEqual([]);
});
