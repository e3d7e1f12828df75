/** Stories of collection (rule 15): what may go, when, and who is still on the way. */
import { describe, expect, test } from "vitest";
import { markDeleted, sweepEntries } from "../../../lib/protocol/ledger/end-ledger.ts";
import { brokenPromises } from "../promises.ts";
import type { World } from "../world.ts";
import { ReadsWithoutFence, SweepsSeals, SweepsSealsAndReadsWithoutFence } from "./broken/wrong-bookies.ts";
import { threeOfFour } from "./three-of-four.ts";

const firstSweep = (w: World, client = "C") => w.run(sweepEntries(w.ports(client), w.theLedger()));

async function deleted(w: World): Promise<void> {
  expect(await w.run(markDeleted(w.ports("C"), w.theLedger()))).toMatchObject({ state: "DELETED" });
}

describe("S17 (rule 15): e0 is on B0; closed at -1, deleted, swept; then B1's delayed put lands", () => {
  async function story(w: World) {
    const writer = await w.writer();
    w.cut("W", "B2");
    const put = w.faults.hold({ client: "W", target: "B1", port: "store", call: "putIfAbsent" });
    const e0 = writer.send("e0");
    await w.idle();
    w.cut("R", "B0");
    expect(await w.recover()).toMatchObject({ state: "CLOSED", lastEntry: -1 });
    await deleted(w);
    expect(await firstSweep(w)).toEqual({ kind: "swept" });
    put.release();
    return await w.run(e0);
  }

  test("the seal is still there: fenced", async () => {
    const w = await threeOfFour();
    expect(await story(w)).toBe("fenced, side effects possible");
    expect(await w.slot("B1", 0)).toBe("tombstone");
    expect(await brokenPromises(w)).toEqual([]);
  });

  test("with the seal swept, e0 is acknowledged behind the end", async () => {
    const w = await threeOfFour({ bookie: (fields) => new SweepsSeals(fields) });
    await story(w);
    expect(await brokenPromises(w)).toEqual(["entry 0 was acknowledged, the ledger ends at -1"]);
  });
});

describe("S18 (rules 3, 15): no fence reached B2; closed at -1, deleted, swept; then an add does", () => {
  async function story(w: World) {
    const writer = await w.writer();
    w.cut("W", "B1");
    const add = w.faults.hold({ client: "W", target: "B2", port: "bookie" });
    const e0 = writer.send("e0");
    await w.idle();
    w.faults.hold({ client: "R", target: "B2", port: "bookie", call: "fence" });
    w.faults.hold({ client: "R", target: "B0", port: "bookie", call: "recoveryRead" });
    expect(await w.recover()).toMatchObject({ state: "CLOSED", lastEntry: -1 });
    await deleted(w);
    expect(await firstSweep(w)).toEqual({ kind: "swept" });
    add.release();
    return await w.run(e0);
  }

  test.each([
    ["the read has fenced it, and the seal is there", undefined],
    ["with the fence left out, the seal still refuses the add", ReadsWithoutFence],
    ["with the seal swept, the fence of the read still refuses it", SweepsSeals],
  ])("%s", async (_, Wrong) => {
    const w = await threeOfFour(Wrong === undefined ? {} : { bookie: (fields) => new Wrong(fields) });
    expect(await story(w)).toBe("fenced, side effects possible");
    expect(await brokenPromises(w)).toEqual([]);
  });

  test("with both left out, e0 is acknowledged behind the end", async () => {
    const w = await threeOfFour({ bookie: (fields) => new SweepsSealsAndReadsWithoutFence(fields) });
    await story(w);
    expect(await brokenPromises(w)).toEqual(["entry 0 was acknowledged, the ledger ends at -1"]);
  });
});

describe("S19 (rule 15): e0 is on B0; closed at -1, swept; a late add reaches B1; an old reader", () => {
  async function story(w: World) {
    const writer = await w.writer();
    const reader = w.reader("T");
    expect(await w.read(reader, 0)).toBe("nothing-yet");
    w.cut("W", "B2");
    const add = w.faults.hold({ client: "W", target: "B1", port: "bookie" });
    const e0 = writer.send("e0");
    await w.idle();
    w.cut("R", "B0");
    expect(await w.recover()).toMatchObject({ state: "CLOSED", lastEntry: -1 });
    await deleted(w);
    w.faults.fail({ client: "C", target: "B0", call: "deleteEntries" });
    expect(await firstSweep(w)).toEqual({ kind: "incomplete", silent: ["B0"] });
    add.release();
    expect(await w.run(e0)).toBe("fenced, side effects possible");
    return await w.read(reader, 0);
  }

  test("the add found the seal and left nothing", async () => {
    const w = await threeOfFour();
    expect(await story(w)).toBe("deleted");
    expect([await w.slot("B0", 0), await w.slot("B1", 0)]).toEqual(["original", "tombstone"]);
    expect(await brokenPromises(w)).toEqual([]);
  });

  test("with the seal swept, the reader returns an entry that never was", async () => {
    const w = await threeOfFour({ bookie: (fields) => new SweepsSeals(fields) });
    await story(w);
    expect(await brokenPromises(w)).toEqual(["entry 0 was returned, the ledger ends at -1"]);
  });
});
