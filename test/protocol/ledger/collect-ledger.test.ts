/** Collection of a DELETED ledger in two sweeps (CL1 to CL3, rule 15). */
import { describe, expect, test } from "vitest";
import { entryId } from "../../../lib/protocol/ids.ts";
import { ledgerKey } from "../../../lib/protocol/items.ts";
import {
  abandonLedger,
  markDeleted,
  sweepEntries,
  sweepSeal,
} from "../../../lib/protocol/ledger/end-ledger.ts";
import { limits } from "../../../lib/protocol/limits.ts";
import { isFenced, sealed, sendMany, slots, store } from "../../scenarios/cards/meddling.ts";
import { World } from "../../scenarios/world.ts";

const three = { bookies: ["B0", "B1", "B2"], quorums: [3, 3, 2] } as const;

async function deleted(
  count: number,
  how: "closed" | "recovered",
  fields: Parameters<typeof World.make>[0] = three,
) {
  const w = await World.make(fields);
  const writer = await w.writer();
  await w.run(Promise.all(sendMany(writer, 0, count)));
  if (how === "closed") await w.run(writer.writer.close());
  else await w.recover();
  expect(await w.run(markDeleted(w.ports("C"), w.theLedger()))).toMatchObject({ state: "DELETED" });
  return w;
}

const first = (w: World) => w.run(sweepEntries(w.ports("C"), w.theLedger()));
const second = (w: World, ageMs?: number) => w.run(sweepSeal(w.ports("C"), w.theLedger(), ageMs));

/** How many keys a bookie still has of the ledger. */
async function keysLeft(w: World, name: string): Promise<number> {
  return (await w.store(name).list({ ledgerId: w.theLedger(), limit: 10_000 })).keys.length;
}

describe("the first sweep", () => {
  test.each(["closed", "recovered"] as const)(
    "of a ledger that was %s: entries go, fence and seal stay (CL2)",
    async (how) => {
      const w = await deleted(30, how);
      expect(await first(w)).toEqual({ kind: "swept" });
      for (const entry of [0, 15, 29])
        expect(await slots(w, entry, "B0 B1 B2")).toBe("nothing nothing nothing");
      expect(await slots(w, 30, "B0 B1 B2")).toMatch(/tombstone.*tombstone/);
      if (how === "recovered") for (const name of three.bookies) expect(await isFenced(w, name)).toBe(true);
      expect(await first(w)).toEqual({ kind: "swept" }); // again
    },
  );

  test("what lies behind the end stays, Tombstones and stray copies alike (CL2)", async () => {
    const w = await deleted(2, "recovered");
    await store(w, "B0", sealed(w, { entry: 40 }));
    await first(w);
    expect(await w.slot("B0", 40)).toBe("original");
    expect(await slots(w, 3, "B0 B1 B2")).toMatch(/tombstone/);
  });

  test("a ledger without a seal is sealed first; if that cannot be, nothing is touched", async () => {
    const w = await deleted(1, "closed");
    for (const name of three.bookies) {
      await w.store(name).delete({ kind: "slot", ledgerId: w.theLedger(), entryId: entryId(1) });
    }
    const ends = ["B0", "B1"].map((target) => w.faults.fail({ target, call: "seal" }));
    expect(await first(w)).toEqual({ kind: "not-sealed" });
    expect(await slots(w, 0, "B0 B1 B2")).toBe("original original original");
    for (const end of ends) end();
    expect(await first(w)).toEqual({ kind: "swept" });
    expect(await slots(w, 1, "B0 B1 B2")).toBe("tombstone tombstone tombstone");
  });

  test("nothing is touched unless the metadata says DELETED, read consistently (CL1)", async () => {
    const w = await World.make(three);
    const writer = await w.writer();
    await writer.add("e0");
    expect(await first(w)).toEqual({ kind: "not-deleted" });
    await w.recover();
    expect([await first(w), await second(w)]).toEqual([{ kind: "not-deleted" }, { kind: "not-deleted" }]);
    const item = await w.metadata.get(ledgerKey(w.theLedger()), "consistent");
    if (item !== undefined) await w.metadata.remove(item.key, item.version);
    expect([await first(w), await second(w)]).toEqual([{ kind: "not-deleted" }, { kind: "not-deleted" }]);
    expect(await slots(w, 0, "B0 B1 B2")).toBe("original original original");
  });

  test("a bookie that does not answer is named, and swept the next time", async () => {
    const w = await deleted(3, "recovered");
    const end = w.faults.fail({ target: "B1", call: "deleteEntries" });
    expect(await first(w)).toEqual({ kind: "incomplete", silent: ["B1"] });
    end();
    expect(await first(w)).toEqual({ kind: "swept" });
    expect(await slots(w, 0, "B0 B1 B2")).toBe("nothing nothing nothing");
  });
});

describe("the second sweep", () => {
  test("waits for the seal age, never under two days, then removes all, metadata last (CL3)", async () => {
    const w = await deleted(3, "recovered");
    await first(w);
    expect(await second(w)).toMatchObject({ kind: "too-early" });
    expect(await second(w, 1)).toMatchObject({ kind: "too-early" });
    await w.clock.advance(limits.sealAgeMinMs);
    expect(await second(w)).toMatchObject({ kind: "too-early" });
    const silent = w.faults.fail({ target: "B2", call: "forget" });
    expect(await second(w, 1)).toEqual({ kind: "incomplete", silent: ["B2"] });
    expect((await w.ledger()).state).toBe("DELETED"); // the only memory of what is left
    silent();
    expect(await second(w, 1)).toEqual({ kind: "swept" });
    for (const name of three.bookies) expect(await keysLeft(w, name)).toBe(0);
    expect(await w.metadata.get(ledgerKey(w.theLedger()), "consistent")).toBeUndefined();
    expect(await second(w, 1)).toEqual({ kind: "not-deleted" });
  });

  test("slots go before the fence: an add in between is refused", async () => {
    const w = await deleted(1, "recovered");
    await w.clock.advance(limits.sealAgeMs);
    const held = w.faults.hold({ port: "store", target: "B0", call: "delete", about: "fence" });
    const sweep = sweepSeal(w.ports("C"), w.theLedger());
    await w.idle();
    expect([await keysLeft(w, "B0"), await isFenced(w, "B0")]).toEqual([1, true]);
    held.release();
    expect(await w.run(sweep)).toEqual({ kind: "swept" });
  });

  test("reaches every bookie that ever was a member of the writer's ensembles", async () => {
    const w = await World.make({ bookies: ["B0", "B1", "B2", "B3", "B4"], quorums: [3, 3, 3] });
    const writer = await w.writer();
    w.faults.fail({ client: "W", target: "B0", call: "add" }, "after");
    await writer.add("e0"); // B0 has e0, and is replaced in the fragment's place
    w.faults.fail({ client: "W", target: "B1", call: "add" }, "after");
    await writer.add("e1");
    expect(await w.ensembles()).toEqual({ 0: "B3 B1 B2", 1: "B3 B4 B2" });
    await w.recover();
    await w.run(markDeleted(w.ports("C"), w.theLedger()));
    expect(await first(w)).toEqual({ kind: "swept" });
    await w.clock.advance(limits.sealAgeMs);
    expect(await second(w)).toEqual({ kind: "swept" });
    for (const name of ["B0", "B1", "B2", "B3", "B4"]) expect(await keysLeft(w, name), name).toBe(0);
  });

  test("reaches the members that recovery replaced, too (LM5)", async () => {
    const w = await World.make({ bookies: ["B0", "B1", "B2", "B3"], quorums: [3, 3, 3] });
    const writer = await w.writer();
    w.faults.hold({ client: "W", call: "add" }, "after");
    void writer.send("e0");
    await w.idle();
    w.faults.fail({ client: "R", target: "B1", call: "recoveryAdd" });
    await w.recover();
    expect(await w.ensembles()).toEqual({ 0: "B0 B3 B2" });
    await w.run(markDeleted(w.ports("C"), w.theLedger()));
    expect(await first(w)).toEqual({ kind: "swept" });
    await w.clock.advance(limits.sealAgeMs);
    expect(await second(w)).toEqual({ kind: "swept" });
    for (const name of ["B0", "B1", "B2", "B3"]) expect(await keysLeft(w, name), name).toBe(0);
  });
});

describe("deleting", () => {
  test("only a closed ledger is marked; twice is once", async () => {
    const w = await World.make(three);
    const writer = await w.writer();
    const mark = () => w.run(markDeleted(w.ports("C"), w.theLedger()));
    expect(await mark()).toBeUndefined();
    await writer.add("e0");
    await w.recover();
    const once = await mark();
    expect(once).toMatchObject({ state: "DELETED", lastEntry: 0, length: 2 });
    await w.clock.advance(1_000);
    expect(await mark()).toEqual(once);
  });

  test("an abandoned ledger is closed, then deleted; one that has entries is kept (rule 27)", async () => {
    const w = await World.make(three);
    await w.writer();
    await w.run(abandonLedger(w.ports("C"), w.theLedger(), "lost the election"));
    expect(await w.ledger()).toMatchObject({ state: "DELETED", lastEntry: -1 });
    expect(await slots(w, 0, "B0 B1 B2")).toMatch(/tombstone.*tombstone/);

    const writer = await w.writer();
    await writer.add("e0");
    await w.run(abandonLedger(w.ports("C"), w.theLedger(), "somebody wrote after all"));
    expect(await w.ledger()).toMatchObject({ state: "CLOSED", lastEntry: 0 });
  });
});
