/** Stories of recovery: where it starts, whom it asks, what it writes back, how it closes (10 to 12). */
import { describe, expect, test } from "vitest";
import { entryId } from "../../../lib/protocol/ids.ts";
import { brokenPromises } from "../promises.ts";
import { World, type WorldFields } from "../world.ts";
import { TombstonesForEver, WritesNothingBack } from "./broken/wrong-bookies.ts";
import {
  asksReplacement,
  countsTheDead,
  leavesLocalFragmentsOut,
  only,
  overwritesMetadata,
  startsTooLow,
} from "./broken/wrong-clients.ts";
import { threeOfFour } from "./three-of-four.ts";

describe("S06 (rule 11): e4 is on B0 and slow B2; recovery has put B3 in B0's place for e0 to e3", () => {
  async function story(w: World) {
    const writer = await w.writer();
    w.cut("W", "B1");
    await w.run(Promise.all(["e0", "e1", "e2", "e3", "e4"].map((text) => writer.send(text))));
    w.freeze("W");
    w.cut("R", "B0");
    w.faults.fail({ client: "R", target: "B2", call: "recoveryAdd" });
    w.faults.hold({ client: "R", target: "B2", call: "recoveryRead", about: 4 }, "before", 1);
    return await w.recover();
  }

  test("e4 is asked of B0, B1 and B2, and found at B2's second try", async () => {
    const w = await threeOfFour();
    expect(await story(w)).toMatchObject({ state: "CLOSED", lastEntry: 4 });
    expect(await w.ensembles()).toEqual({ 0: "B3 B1 B2" });
    expect(await brokenPromises(w)).toEqual([]);
  });

  test("asked of B3 in place of B0, e4 is lost", async () => {
    const w = await threeOfFour({ client: only("R", asksReplacement("B0", "B3", 4)) });
    await story(w);
    expect(await brokenPromises(w)).toEqual(["entry 4 was acknowledged, the ledger ends at 3"]);
  });
});

describe("S07 (rule 10): e0 is on B0 and B1; from e1 on B3 replaces B0; no bookie knows a LAC", () => {
  async function story(w: World) {
    const writer = await w.writer();
    w.faults.fail({ client: "W", target: "B0", port: "bookie", about: 1 });
    w.faults.fail({ client: "W", target: "B2", port: "bookie" });
    await w.run(Promise.all([writer.send("e0"), writer.send("e1")]));
    expect(await w.ensembles()).toEqual({ 0: "B0 B1 B2", 1: "B3 B1 B2" });
    w.freeze("W");
    w.cut("R", "B1");
    expect(await w.run(w.bookie("R", "B3").tail(w.theLedger()))).toMatchObject({
      highest: { header: { entryId: 1, lastAddConfirmed: -1 } },
    });
    return await w.recover();
  }

  test("recovery starts where the last fragment does", async () => {
    const w = await threeOfFour();
    expect(await story(w)).toMatchObject({ state: "CLOSED", lastEntry: 1 });
    expect(w.trace).toContainEqual(expect.objectContaining({ event: "recovery-started", firstEntry: 1 }));
    expect(await brokenPromises(w)).toEqual([]);
  });

  test("started at 0 with the last ensemble, both entries are lost", async () => {
    const w = await threeOfFour({ client: only("R", startsTooLow) });
    await story(w);
    expect(await brokenPromises(w)).toEqual([
      "entry 0 was acknowledged, the ledger ends at -1",
      "entry 1 was acknowledged, the ledger ends at -1",
    ]);
  });
});

describe("S20 (rule 4): e0 was found on B0; late duplicate reads put Tombstones on B1 and B2", () => {
  async function story(w: World) {
    const writer = await w.writer();
    w.cut("W", "B1", "B2");
    void writer.send("e0");
    await w.idle();
    w.freeze("W");
    w.faults.hold({ client: "R", port: "bookie", target: "B1", call: "recoveryRead", about: 0 });
    w.faults.hold({ client: "R", port: "bookie", target: "B2", call: "recoveryRead", about: 0 });
    const writeBack = w.faults.hold({ client: "R", call: "recoveryAdd" });
    const recovery = w.recovery();
    await w.idle();
    for (const name of ["B1", "B2"]) await w.bookie("R'", name).recoveryRead(w.theLedger(), entryId(0));
    expect(await w.slot("B1", 0)).toBe("tombstone");
    writeBack.release();
    return await w.run(recovery.catch((error) => error.code));
  }

  test("the write-back replaces them", async () => {
    const w = await threeOfFour({ bookies: ["B0", "B1", "B2"] });
    expect(await story(w)).toMatchObject({ state: "CLOSED", lastEntry: 0 });
    expect(await w.slot("B1", 0)).toBe("recovered");
    expect(await brokenPromises(w)).toEqual([]);
  });

  test("with Tombstones that stay for ever, recovery can never close", async () => {
    const bookie: WorldFields["bookie"] = (fields) => new TombstonesForEver(fields);
    const w = await threeOfFour({ bookies: ["B0", "B1", "B2"], bookie });
    expect(await story(w)).toBe("insufficient_regions");
    expect(await w.run(w.recovery("R2").catch((error) => error.code))).toBe("insufficient_regions");
    expect(await w.ledger()).toMatchObject({ state: "IN_RECOVERY" });
  });
});

/** e0 is on B0 alone and the writer is gone. */
async function onOneBookie(w: World): Promise<void> {
  const writer = await w.writer();
  w.cut("W", "B1", "B2");
  void writer.send("e0");
  await w.idle();
  w.freeze("W");
}

describe("S20 (rule 11): e0 is on B0 alone, and recovery closes at it", () => {
  async function story(w: World) {
    await onOneBookie(w);
    for (const target of ["B1", "B2"])
      w.faults.hold({ client: "R", port: "bookie", target, call: "recoveryRead", about: 0 }, "before", 1);
    return await w.recover();
  }

  test("an ACK set holds it by then", async () => {
    const w = await threeOfFour();
    expect(await story(w)).toMatchObject({ state: "CLOSED", lastEntry: 0 });
    expect(await brokenPromises(w)).toEqual([]);
  });

  test("without a write-back one copy is all there is", async () => {
    const w = await threeOfFour({ bookie: (fields) => new WritesNothingBack(fields) });
    await story(w);
    expect(await brokenPromises(w)).toEqual(["entry 0 of the closed ledger is held by B0"]);
  });
});

describe("S20 (rule 12): recovery wrote e0 back to B3, since B1 and B2 fail", () => {
  async function story(w: World) {
    await onOneBookie(w);
    for (const target of ["B1", "B2"]) w.faults.fail({ client: "R", target, port: "bookie", about: 0 });
    return await w.recover();
  }

  test("the write that closes names B3", async () => {
    const w = await threeOfFour();
    expect(await story(w)).toMatchObject({ state: "CLOSED", lastEntry: 0 });
    expect(await w.ensembles()).toEqual({ 0: "B0 B3 B2" });
    expect(await brokenPromises(w)).toEqual([]);
  });

  test("left out, nobody knows of the second copy", async () => {
    const w = await threeOfFour({ client: only("R", leavesLocalFragmentsOut) });
    await story(w);
    expect(await brokenPromises(w)).toEqual(["entry 0 of the closed ledger is held by B0"]);
  });
});

describe("S20 (rule 12): R0 has two negatives of e0, R1 wrote it back, both are about to close", () => {
  async function story(w: World, first: "R0" | "R1") {
    await onOneBookie(w);
    w.cut("X", "B0", "B1", "B2");
    void w.recovery("X");
    await w.idle();
    expect(await w.ledger()).toMatchObject({ state: "IN_RECOVERY" });
    w.cut("R0", "B0");
    const close0 = w.faults.hold({ client: "R0", port: "metadata", call: "write" });
    const r0 = w.recovery("R0");
    await w.idle();
    const readOfR1 = { client: "R1", port: "bookie", call: "recoveryRead", about: 0 } as const;
    for (const target of ["B1", "B2"]) w.faults.hold({ ...readOfR1, target });
    const close1 = w.faults.hold({ client: "R1", port: "metadata", call: "write" });
    const r1 = w.recovery("R1");
    await w.idle();
    expect([close0.calls.length, close1.calls.length]).toEqual([1, 1]);
    const order = first === "R0" ? [close0, close1] : [close1, close0];
    for (const close of order) {
      close.release();
      await w.idle();
    }
    return await w.run(Promise.all([r0, r1]));
  }

  test.each([
    ["R0", -1],
    ["R1", 0],
  ] as const)("%s comes first: both end at %i", async (first, lastEntry) => {
    const w = await threeOfFour();
    expect(await story(w, first)).toMatchObject([{ lastEntry }, { lastEntry }]);
    expect(await w.ledger()).toMatchObject({ state: "CLOSED", lastEntry });
    expect(await w.read(w.reader(), 0)).toBe(lastEntry === 0 ? "e0" : "beyond-end");
    expect(await brokenPromises(w)).toEqual([]);
  });

  test("a close that writes over what is there leaves two ends", async () => {
    const w = await threeOfFour({ client: only("R1", overwritesMetadata) });
    await story(w, "R0");
    expect(await brokenPromises(w)).toEqual(["a recovery ended at -1, the ledger at 0"]);
  });
});

describe("S22 (rule 11): e0 is on both bookies of region a, b takes no write-back; a is lost", () => {
  const bookies = ["B0@a", "B1@a", "B2@b", "B3@b"];
  const make = (otherwise: Partial<WorldFields>) =>
    World.make({ bookies, quorums: [4, 4, 2], minRegions: 2, ...otherwise });

  async function story(w: World) {
    const writer = await w.writer();
    w.cut("W", "B1", "B2", "B3");
    void writer.send("e0");
    await w.idle();
    w.freeze("W");
    const full = ["B2", "B3"].map((target) => w.faults.fail({ target, call: "recoveryAdd" }));
    const first = await w.run(w.recovery().catch((error) => error.code));
    expect([await w.slot("B0", 0), await w.slot("B1", 0)]).toEqual(["original", "recovered"]);
    for (const end of full) end();
    const lost = ["B0", "B1"].map((name) => [name, w.store(name)] as const);
    for (const [name] of lost) w.stores.delete(name);
    return { first, comeBack: () => lost.forEach(([name, store]) => void w.stores.set(name, store)) };
  }

  test("two copies in one region are no ACK set: in recovery until a is back, closed at e0", async () => {
    const w = await make({});
    const { first, comeBack } = await story(w);
    const second = await w.run(w.recovery("R2").catch((error) => error.code));
    expect([first, second]).toEqual(["insufficient_regions", "insufficient_regions"]);
    expect(await w.ledger()).toMatchObject({ state: "IN_RECOVERY" });
    comeBack();
    expect(await w.recover("R3")).toMatchObject({ state: "CLOSED", lastEntry: 0 });
    expect(await brokenPromises(w)).toEqual([]);
  });

  test("with silent bookies counted, the closed entry is gone with its region", async () => {
    const w = await make({ client: only("R", countsTheDead) });
    expect(await story(w)).toMatchObject({ first: { state: "CLOSED", lastEntry: 0 } });
    expect(await brokenPromises(w)).toEqual(["entry 0 of the closed ledger is held by no bookie"]);
  });
});
