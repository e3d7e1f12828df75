/**
 * The figure of the fencing text: a reader recovers a ledger under its live writer, which has added up to
 * entry 11 and has got entry 12 to one bookie. Whether 12 is part of the ledger is for recovery to say; both
 * answers are right, and everybody then agrees on the one that was given (rules 8, 10 to 12).
 */
import { describe, expect, test } from "vitest";
import { entryId } from "../../lib/protocol/ids.ts";
import { brokenPromises } from "./promises.ts";
import { type Adder, World } from "./world.ts";

describe.each([
  { name: "E3 Qw2 Qa2", quorums: [3, 2, 2] as const, empty: ["B1"], ofThirteen: ["B1", "B2"] },
  { name: "E3 Qw3 Qa2", quorums: [3, 3, 2] as const, empty: ["B1", "B2"], ofThirteen: ["B0", "B1", "B2"] },
])("$name", ({ quorums, empty, ofThirteen }) => {
  /** Entry 12 is on B0; on its way to the other bookies of its write set. A reader knows of 11. */
  async function figure() {
    const w = await World.make({ bookies: ["B0", "B1", "B2"], quorums });
    const writer = await w.writer();
    for (let entry = 0; entry <= 11; entry++) await writer.add(`entry ${entry}`);
    const reader = w.reader("T");
    expect(await w.read(reader, 11)).toBe("entry 11");
    const adds = empty.map((target) => w.faults.hold({ client: "W", target, call: "add" }));
    const twelve = writer.send("entry 12");
    await w.idle();
    expect([await w.slot("B0", 12), await w.slot("B1", 12)]).toEqual(["original", "nothing"]);
    return { w, writer, reader, adds, twelve };
  }

  /** The writer's adds go on their way again, and it sends one more. */
  async function writerIsFenced(
    w: World,
    writer: Adder,
    twelve: Promise<string>,
    adds: { release(): void }[],
  ) {
    const thirteen = writer.send("entry 13");
    for (const add of adds) add.release();
    expect(await w.run(twelve)).toBe("fenced, side effects possible");
    expect(await w.run(thirteen)).toBe("fenced, side effects possible");
    expect(w.acknowledged.at(-1)?.entry).toBe(11);
    for (const name of ["B0", "B1", "B2"]) expect(await w.slot(name, 13)).not.toBe("original");
  }

  test("B0 answers first: 12 is found, written back, and the ledger ends there", async () => {
    const { w, writer, reader, adds, twelve } = await figure();
    for (const target of empty)
      w.faults.hold({ client: "R", port: "bookie", target, call: "recoveryRead", about: 12 });
    expect(await w.recover()).toMatchObject({ state: "CLOSED", lastEntry: 12 });

    for (const target of ["B0", "B1", "B2"])
      expect(w.faults.count({ client: "R", port: "bookie", target, call: "fence" })).toBe(1);
    expect(w.trace).toContainEqual(expect.objectContaining({ event: "recovery-started", firstEntry: 12 }));
    for (const name of empty) expect(await w.slot(name, 12)).toBe("recovered");
    for (const name of ofThirteen) expect(await w.slot(name, 13)).toBe("tombstone");
    await writerIsFenced(w, writer, twelve, adds);
    for (const one of [reader, w.reader("U")]) {
      expect([await w.read(one, 12), await w.read(one, 13)]).toEqual(["entry 12", "beyond-end"]);
    }
    expect(await brokenPromises(w)).toEqual([]);
  });

  test("the empty bookie answers first: the ledger ends at 11, and 12 is gone for every reader", async () => {
    const { w, writer, reader, adds, twelve } = await figure();
    expect(await w.read(reader, 12)).not.toBe("entry 12");
    const slow = w.faults.hold({
      client: "R",
      port: "bookie",
      target: "B0",
      call: "recoveryRead",
      about: 12,
    });
    expect(await w.recover()).toMatchObject({ state: "CLOSED", lastEntry: 11 });

    for (const name of empty) expect(await w.slot(name, 12)).toBe("tombstone");
    slow.release();
    await w.idle();
    await writerIsFenced(w, writer, twelve, adds);
    expect(await w.slot("B0", 12)).toBe("original");
    for (const one of [reader, w.reader("U")]) {
      expect([await w.read(one, 11), await w.read(one, 12)]).toEqual(["entry 11", "beyond-end"]);
    }
    expect(await brokenPromises(w)).toEqual([]);
  });

  test("a reader that still takes the ledger for open never gets 12 once it ended at 11", async () => {
    const { w, reader, adds } = await figure();
    w.faults.hold({ client: "R", port: "bookie", target: "B0", call: "recoveryRead", about: 12 });
    expect(await w.recover()).toMatchObject({ lastEntry: 11 });
    for (const add of adds) add.release();
    await w.idle();
    const metadata = w.faults.hold({ client: "T", port: "metadata" });
    const said = w.reading(reader, 12);
    await w.idle();
    expect(metadata.calls).toHaveLength(1);
    metadata.release();
    expect(await w.run(said)).toBe("beyond-end");
    expect(await w.run(reader.read(entryId(12), "local"))).toMatchObject({ kind: "beyond-end" });
  });
});
