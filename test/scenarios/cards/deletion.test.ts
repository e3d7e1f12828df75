/** Cards H11 and H14: what deletion leaves behind keeps a ledger dead (rule 15). */
import { describe, expect, test } from "vitest";
import { ledgerId } from "../../../lib/protocol/ids.ts";
import { markDeleted, sweepEntries, sweepSeal } from "../../../lib/protocol/ledger/end-ledger.ts";
import { limits } from "../../../lib/protocol/limits.ts";
import { World } from "../world.ts";
import { freshProcess, isSettled, sealed, slots } from "./meddling.ts";

const three = { bookies: ["B0", "B1", "B2"], quorums: [3, 3, 2] } as const;

async function deleteAndSweep(w: World): Promise<void> {
  const ports = w.ports("collector");
  expect(await w.run(markDeleted(ports, w.theLedger()))).toMatchObject({ state: "DELETED" });
  expect(await w.run(sweepEntries(ports, w.theLedger()))).toEqual({ kind: "swept" });
}

describe("H11: a write after fence, delete and collection", () => {
  test("H11 (rules 2, 15): recovered, deleted, swept; the old writer's add is told fenced", async () => {
    const w = await World.make(three);
    const writer = await w.writer();
    await w.recover();
    await deleteAndSweep(w);
    expect(await writer.add("e0")).toBe("fenced, side effects possible");
    expect(await slots(w, 0, "B0 B1 B2")).not.toContain("original");
  });

  test("H11 (rules 9, 15): closed without a fence, deleted, swept; the seal still refuses", async () => {
    const w = await World.make(three);
    const writer = await w.writer();
    await writer.add("e0");
    expect(await w.run(writer.writer.close())).toMatchObject({ state: "CLOSED", lastEntry: 0 });
    await deleteAndSweep(w);
    expect(await slots(w, 0, "B0 B1 B2")).toBe("nothing nothing nothing");
    const answers = await Promise.all(
      three.bookies.map((name) => freshProcess(w, name).add(sealed(w, { entry: 1 }))),
    );
    expect(answers.filter((answer) => answer.kind === "fenced").length).toBeGreaterThanOrEqual(2);
  });

  test("H11 (rules 8, 15): frozen beyond the seal age, the writer reads before it acknowledges", async () => {
    const w = await World.make(three);
    const writer = await w.writer();
    await w.recover();
    await deleteAndSweep(w);
    const ports = w.ports("collector");
    expect(await w.run(sweepSeal(ports, w.theLedger()))).toMatchObject({ kind: "too-early" });
    await w.clock.advance(limits.sealAgeMs);
    expect(await w.run(sweepSeal(ports, w.theLedger()))).toEqual({ kind: "swept" });
    // Nothing is left that could refuse the add: every bookie stores it and says OK.
    expect(await writer.add("e0")).toBe("fenced, side effects possible");
    expect(await slots(w, 0, "B0 B1 B2")).toBe("original original original");
    expect(writer.writer.lastAddConfirmed).toBe(-1);
  });

  test("H11 (rule 15): nothing is swept of a ledger that is closed, or missing in metadata", async () => {
    const w = await World.make(three);
    const writer = await w.writer();
    await writer.add("e0");
    await w.recover();
    const ports = w.ports("collector");
    expect(await w.run(sweepEntries(ports, w.theLedger()))).toEqual({ kind: "not-deleted" });
    expect(await w.run(sweepSeal(ports, w.theLedger()))).toEqual({ kind: "not-deleted" });
    const missing = ledgerId(w.theLedger() + 1);
    expect(await w.run(sweepEntries(ports, missing))).toEqual({ kind: "not-deleted" });
    expect(await slots(w, 0, "B0 B1 B2")).toBe("original original original");
  });
});

describe("H14: recovery races deletion", () => {
  test("H14 (rule 12): deleted while a recovery was about to read; it adopts that", async () => {
    const w = await World.make(three);
    await w.writer();
    const slow = w.faults.hold({ client: "R1", call: "recoveryRead" });
    const recovery = w.recovery("R1");
    await w.idle();
    expect(await w.recover("R2")).toMatchObject({ state: "CLOSED", lastEntry: -1 });
    await deleteAndSweep(w);
    expect(await isSettled(w, recovery)).toBe(false);
    slow.release();
    expect(await w.run(recovery)).toMatchObject({ state: "DELETED", lastEntry: -1 });
    expect(await w.ledger()).toMatchObject({ state: "DELETED", lastEntry: -1 });
  });

  test("H14 (rules 10, 15): a deleted ledger opens as deleted, a swept one as missing", async () => {
    const w = await World.make(three);
    const writer = await w.writer();
    await writer.add("e0", "e1");
    await w.recover();
    await deleteAndSweep(w);
    expect(await w.recover("R2")).toMatchObject({ state: "DELETED", lastEntry: 1 });
    expect(await w.read(w.reader(), 0)).toBe("deleted");
    expect(await writer.add("e2")).toBe("fenced, side effects possible");
    await w.clock.advance(limits.sealAgeMs);
    await w.run(sweepSeal(w.ports("collector"), w.theLedger()));
    expect(await w.recover("R3")).toBeUndefined();
    expect(await w.read(w.reader("T2"), 0)).toBe("missing");
  });
});
