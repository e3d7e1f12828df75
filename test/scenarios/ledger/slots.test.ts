/** Stories of single slots: what an add, a recovery read and a copy are worth (rules 1 to 4, 13). */
import { describe, expect, test } from "vitest";
import { brokenPromises } from "../promises.ts";
import type { World } from "../world.ts";
import { CheckThenPut, FencesOnly, ReadsPlainly, RecoveredIsOk } from "./broken/wrong-bookies.ts";
import { countsRecovered, only } from "./broken/wrong-clients.ts";
import { threeOfFour } from "./three-of-four.ts";

describe("S01 (rules 1, 3): B1 has looked for a fence; its put lands after recovery read the slot", () => {
  async function story(w: World) {
    const writer = await w.writer();
    const put = w.faults.hold({ client: "W", target: "B1", port: "store", call: "putIfAbsent", about: 0 });
    w.cut("W", "B2");
    w.cut("R", "B0");
    const e0 = writer.send("e0");
    await w.idle();
    const readOfB2 = w.faults.hold({ client: "R", target: "B2", port: "bookie", call: "recoveryRead" });
    const recovery = w.recovery();
    await w.idle();
    put.release();
    await w.idle();
    readOfB2.release();
    expect(await w.run(recovery)).toMatchObject({ state: "CLOSED", lastEntry: -1 });
    return await w.run(e0);
  }

  test("the put finds the Tombstone: fenced", async () => {
    const w = await threeOfFour();
    expect(await story(w)).toBe("fenced, side effects possible");
    expect([await w.slot("B0", 0), await w.slot("B1", 0)]).toEqual(["original", "tombstone"]);
    expect(await brokenPromises(w)).toEqual([]);
  });

  test("with check-then-put and no Tombstones e0 is acknowledged and lost", async () => {
    const w = await threeOfFour({ bookie: (fields) => new CheckThenPut(fields) });
    await story(w);
    expect(await brokenPromises(w)).toEqual(["entry 0 was acknowledged, the ledger ends at -1"]);
  });
});

describe("S02 (rule 3): an add reaches B2 after the recovery read there and before the fence", () => {
  async function story(w: World) {
    const writer = await w.writer();
    const addAtB2 = w.faults.hold({ client: "W", target: "B2", port: "bookie" });
    w.cut("W", "B1");
    const e0 = writer.send("e0");
    w.faults.hold({ client: "R", target: "B2", port: "bookie", call: "fence" });
    w.faults.hold({ client: "R", target: "B0", port: "bookie", call: "recoveryRead" });
    const readOfB1 = w.faults.hold({ client: "R", target: "B1", port: "bookie", call: "recoveryRead" });
    const recovery = w.recovery();
    await w.idle();
    addAtB2.release();
    await w.idle();
    readOfB1.release();
    expect(await w.run(recovery)).toMatchObject({ state: "CLOSED", lastEntry: -1 });
    return await w.run(e0);
  }

  test("the read itself has fenced B2 and taken its slot", async () => {
    const w = await threeOfFour();
    expect(await story(w)).toBe("fenced, side effects possible");
    expect(await w.slot("B2", 0)).toBe("tombstone");
    expect(await brokenPromises(w)).toEqual([]);
  });

  test("with a read that only reads e0 is acknowledged and lost", async () => {
    const w = await threeOfFour({ bookie: (fields) => new ReadsPlainly(fields) });
    await story(w);
    expect(await brokenPromises(w)).toEqual(["entry 0 was acknowledged, the ledger ends at -1"]);
  });
});

describe("S03 (rules 3, 13): a late add is refused at B1, and a reader looks at what it left there", () => {
  async function story(w: World) {
    const writer = await w.writer();
    const addAtB1 = w.faults.hold({ client: "W", target: "B1", port: "bookie" });
    w.cut("W", "B2");
    const e0 = writer.send("e0");
    w.cut("R", "B0");
    const readOfB2 = w.faults.hold({ client: "R", target: "B2", port: "bookie", call: "recoveryRead" });
    const recovery = w.recovery();
    await w.idle();
    addAtB1.release();
    expect(await w.run(e0)).toBe("fenced, side effects possible");
    const said = await w.read(w.reader(), 0);
    readOfB2.release();
    expect(await w.run(recovery)).toMatchObject({ state: "CLOSED", lastEntry: -1 });
    return said;
  }

  test("it left nothing, for the slot was taken", async () => {
    const w = await threeOfFour();
    expect(await story(w)).toBe("undecided");
    expect(await w.slot("B1", 0)).toBe("tombstone");
    expect(await brokenPromises(w)).toEqual([]);
  });

  test("with fences alone the reader returns an entry that is lost", async () => {
    const w = await threeOfFour({ bookie: (fields) => new FencesOnly(fields) });
    await story(w);
    expect(await brokenPromises(w)).toEqual(["entry 0 was returned, the ledger ends at -1"]);
  });
});

/** e0 is on B0 alone. R1 has read it there and is slow; R0 closes at -1. Returns R1's late write-back. */
async function closedUnderSlowRecovery(w: World): Promise<() => Promise<void>> {
  w.faults.hold({ client: "R1", target: "B1", port: "bookie", call: "recoveryRead", about: 0 });
  w.faults.hold({ client: "R1", target: "B2", port: "bookie", call: "recoveryRead", about: 0 });
  const writeBack = w.faults.hold({ client: "R1", port: "bookie", call: "recoveryAdd", about: 0 });
  const slow = w.recovery("R1");
  await w.idle();
  expect(writeBack.calls.map((call) => call.target)).toEqual(["B0", "B1", "B2"]);
  w.cut("R0", "B0");
  expect(await w.run(w.recovery("R0"))).toMatchObject({ state: "CLOSED", lastEntry: -1 });
  return async () => {
    expect(await w.slot("B1", 0)).toBe("tombstone");
    writeBack.release();
    await w.idle();
    expect(await w.slot("B1", 0)).toBe("recovered");
    expect(await w.run(slow)).toMatchObject({ state: "CLOSED", lastEntry: -1 });
  };
}

describe("S04 (rule 13): an old reader sees an Original and a Recovered copy of a dropped entry", () => {
  async function story(w: World) {
    const writer = await w.writer();
    const reader = w.reader("T");
    expect(await w.read(reader, 0)).toBe("nothing-yet");
    w.cut("W", "B1", "B2");
    void writer.send("e0");
    const writeBackLate = await closedUnderSlowRecovery(w);
    await writeBackLate();
    return await w.read(reader, 0);
  }

  test("the Recovered copy does not count", async () => {
    const w = await threeOfFour();
    expect(await story(w)).toBe("beyond-end");
    expect(await brokenPromises(w)).toEqual([]);
  });

  test("a reader that counts it returns an entry that is lost", async () => {
    const w = await threeOfFour({ client: only("T", countsRecovered) });
    await story(w);
    expect(await brokenPromises(w)).toEqual(["entry 0 was returned, the ledger ends at -1"]);
  });
});

describe("S05 (rule 2): B1's put lost to the Tombstone, and now its entry is there, Recovered", () => {
  async function story(w: World) {
    const writer = await w.writer();
    const atB1 = { client: "W", target: "B1", port: "store", about: 0 } as const;
    const put = w.faults.hold({ ...atB1, call: "putIfAbsent" });
    const look = w.faults.hold({ ...atB1, call: "get" });
    w.cut("W", "B2");
    const e0 = writer.send("e0");
    await w.idle();
    const writeBackLate = await closedUnderSlowRecovery(w);
    put.release();
    await w.idle();
    expect(look.calls).toHaveLength(1);
    await writeBackLate();
    look.release();
    return await w.run(e0);
  }

  test("it is not OK: fenced", async () => {
    const w = await threeOfFour();
    expect(await story(w)).toBe("fenced, side effects possible");
    expect(await brokenPromises(w)).toEqual([]);
  });

  test("taken for OK, e0 is acknowledged behind the end", async () => {
    const w = await threeOfFour({ bookie: (fields) => new RecoveredIsOk(fields) });
    await story(w);
    expect(await brokenPromises(w)).toEqual(["entry 0 was acknowledged, the ledger ends at -1"]);
  });
});
