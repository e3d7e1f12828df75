/** Cards H61 to H65: the ensemble change and what others, or lost replies, do to the metadata meanwhile. */
import { describe, expect, test } from "vitest";
import { entryId } from "../../../lib/protocol/ids.ts";
import { closeLedger, startRecovery } from "../../../lib/protocol/ledger-metadata.ts";
import { World } from "../world.ts";
import { acknowledged, changeLedger, fragment, isSettled, slots } from "./meddling.ts";

const persisting = { client: "W", port: "metadata", call: "write" } as const;
const four = { bookies: ["B0", "B1", "B2", "B3", "B4"], quorums: [3, 3, 3] } as const;

/** From here on this writer's adds to these bookies fail. */
function failAdds(w: World, targets: string): void {
  for (const target of targets.split(" ")) w.faults.fail({ client: "W", target, call: "add" });
}

describe("H61: somebody else changes the metadata under the change", () => {
  async function secondChange() {
    const w = await World.make({ bookies: ["b1", "b2", "b3", "b4", "b5", "b6"], quorums: [3, 3, 3] });
    const writer = await w.writer();
    await writer.add("e0");
    failAdds(w, "b3");
    await writer.add("e1");
    expect(await w.ensembles()).toEqual({ 0: "b1 b2 b3", 1: "b1 b2 b4" });
    failAdds(w, "b1");
    return { w, writer };
  }

  test("H61 (rule 6c): an older fragment was changed: the writer's change is made on top of it", async () => {
    const { w, writer } = await secondChange();
    w.faults.at(persisting, "before", 1, () =>
      changeLedger(w, (ledger) => ({
        ...ledger,
        fragments: [fragment(w, 0, "b4 b2 b5"), ...ledger.fragments.slice(1)],
      })),
    );
    expect(await writer.add("e2")).toBe("acknowledged 2");
    expect(await w.ensembles()).toEqual({ 0: "b4 b2 b5", 1: "b1 b2 b4", 2: "b5 b2 b4" });
    expect(await writer.add("e3")).toBe("acknowledged 3");
  });

  test("H61 (rules 6c, 8): the last fragment was changed, by no right: the writer stops", async () => {
    const { w, writer } = await secondChange();
    w.faults.at(persisting, "before", 1, () =>
      changeLedger(w, (ledger) => ({
        ...ledger,
        fragments: [...ledger.fragments.slice(0, -1), fragment(w, 1, "b6 b2 b4")],
      })),
    );
    expect(await writer.add("e2")).toBe("fenced, side effects possible");
    expect(await w.ensembles()).toEqual({ 0: "b1 b2 b3", 1: "b6 b2 b4" });
    expect(acknowledged(w)).toEqual([0, 1]);
  });
});

describe("H62: the state changes under the change", () => {
  async function metDuringChange(meddle: (w: World) => Promise<void>) {
    const w = await World.make(four);
    const writer = await w.writer();
    await writer.add("e0");
    failAdds(w, "B0");
    w.faults.at(persisting, "before", 1, () => meddle(w));
    const outcome = await writer.add("e1");
    return { w, writer, outcome };
  }

  test("H62 (rule 8): CLOSED at 1234: the writer is fenced and the metadata untouched", async () => {
    const { w, writer, outcome } = await metDuringChange((world) =>
      changeLedger(world, (ledger) => {
        if (ledger.state !== "OPEN") throw new Error("not open");
        return closeLedger(ledger, { lastEntry: entryId(1_234), length: 9 });
      }),
    );
    expect(outcome).toBe("fenced, side effects possible");
    expect(await w.ledger()).toMatchObject({ state: "CLOSED", lastEntry: 1_234, length: 9, retired: [] });
    expect(await w.ensembles()).toEqual({ 0: "B0 B1 B2" });
    expect(await writer.add("e2")).toBe("fenced, side effects none");
    expect(acknowledged(w)).toEqual([0]);
  });

  test("H62 (rule 8): IN_RECOVERY: the writer is fenced and the metadata untouched", async () => {
    const { w, outcome } = await metDuringChange((world) =>
      changeLedger(world, (ledger) => {
        if (ledger.state !== "OPEN") throw new Error("not open");
        return startRecovery(ledger);
      }),
    );
    expect(outcome).toBe("fenced, side effects possible");
    expect(await w.ledger()).toMatchObject({ state: "IN_RECOVERY", retired: [] });
    expect(await w.ensembles()).toEqual({ 0: "B0 B1 B2" });
    expect(await w.recover()).toMatchObject({ state: "CLOSED" });
  });

  test("H62 (rule 9): the writer closes while its change is under way: the close waits for it", async () => {
    const w = await World.make(four);
    const writer = await w.writer();
    failAdds(w, "B0");
    const stalled = w.faults.hold(persisting);
    const e0 = writer.send("e0");
    await w.clock.advance(100);
    const closing = writer.writer.close();
    expect(await isSettled(w, closing)).toBe(false);
    expect((await w.ledger()).state).toBe("OPEN");
    expect(await writer.add("e1")).toBe("not_ready, side effects none");
    stalled.release();
    expect(await w.run(closing)).toMatchObject({ state: "CLOSED", lastEntry: 0 });
    expect(await w.run(e0)).toBe("acknowledged 0");
    expect(await w.ensembles()).toEqual({ 0: "B3 B1 B2" });
  });
});

describe("H63: where the new fragment starts", () => {
  test("H63 (rule 6c): B0 fails at e0: the first fragment's ensemble is replaced", async () => {
    const w = await World.make(four);
    const writer = await w.writer();
    failAdds(w, "B0");
    expect(await writer.add("e0")).toBe("acknowledged 0");
    expect(await w.ensembles()).toEqual({ 0: "B3 B1 B2" });
    expect((await w.ledger()).retired).toEqual(["B0"]);
  });

  test("H63 (rule 6c): B0 fails at e1, e0 being acknowledged: a fragment is added", async () => {
    const w = await World.make(four);
    const writer = await w.writer();
    await writer.add("e0");
    failAdds(w, "B0");
    expect(await writer.add("e1")).toBe("acknowledged 1");
    expect(await w.ensembles()).toEqual({ 0: "B0 B1 B2", 1: "B3 B1 B2" });
  });
});

describe("H65: the change is written and its reply is lost", () => {
  async function failing() {
    const w = await World.make(four);
    const writer = await w.writer();
    await writer.add("e0");
    failAdds(w, "B0");
    return { w, writer };
  }

  test("H65 (rule 6c): re-read first: it is one's own, and no second write follows", async () => {
    const { w, writer } = await failing();
    w.faults.fail(persisting, "after", 1);
    expect(await writer.add("e1")).toBe("acknowledged 1");
    expect(w.faults.count(persisting)).toBe(2); // created, changed
    expect(await w.ensembles()).toEqual({ 0: "B0 B1 B2", 1: "B3 B1 B2" });
  });

  test("H65 (rule 6d): what was written is adopted, though by now another spare is first", async () => {
    const { w, writer } = await failing();
    w.faults.at(persisting, "after", 1, async () => {
      // By now another spare comes first, and the one that was written does not answer.
      await w.addBookie("A");
      w.addresses.unshift(...w.addresses.splice(-1));
      throw new Error("the reply is lost");
    });
    expect(await writer.add("e1")).toBe("acknowledged 1");
    expect(await w.ensembles()).toEqual({ 0: "B0 B1 B2", 1: "B3 B1 B2" });
    await writer.add("e2");
    expect(await slots(w, 2, "A B3 B1 B2")).toBe("nothing original original original");
  });

  test("H65 (rule 6c): the write never arrived: it is written again, once", async () => {
    const { w, writer } = await failing();
    w.faults.fail(persisting, "before", 1);
    expect(await writer.add("e1")).toBe("acknowledged 1");
    expect(await w.ensembles()).toEqual({ 0: "B0 B1 B2", 1: "B3 B1 B2" });
  });

  test("H65 (rules 6c, 8): one's own, then recovery came: fenced, and recovery sees B3", async () => {
    const { w, writer } = await failing();
    w.faults.at(persisting, "after", 1, async () => {
      await changeLedger(w, (ledger) => {
        if (ledger.state !== "OPEN") throw new Error("not open");
        return startRecovery(ledger);
      });
      throw new Error("the reply is lost");
    });
    expect(await writer.add("e1")).toBe("fenced, side effects possible");
    expect(await w.recover()).toMatchObject({ state: "CLOSED", lastEntry: 1 });
    expect(await w.ensembles()).toEqual({ 0: "B0 B1 B2", 1: "B3 B1 B2" });
    expect(acknowledged(w)).toEqual([0]);
  });

  test("H65 (rules 6c, 8): nor can it be re-read: outcome unknown; recovery finds e1", async () => {
    const { w, writer } = await failing();
    w.faults.at(persisting, "after", 1, () => {
      w.faults.fail({ client: "W", port: "metadata" });
      throw new Error("the reply is lost");
    });
    expect(await writer.add("e1")).toBe("unavailable, side effects possible");
    expect(acknowledged(w)).toEqual([0]);
    expect(await w.recover()).toMatchObject({ state: "CLOSED", lastEntry: 1 });
    expect(await w.read(w.reader(), 1)).toBe("e1");
  });
});
