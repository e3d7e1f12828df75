/** The two sweeps of rule 15, step by step: what authorises them, what each takes, what keeps the item. */
import { describe, expect, test } from "vitest";
import { entryId } from "../../../lib/protocol/ids.ts";
import { ledgerKey } from "../../../lib/protocol/items.ts";
import { markDeleted, sweepEntries, sweepSeal } from "../../../lib/protocol/ledger/end-ledger.ts";
import { limits } from "../../../lib/protocol/limits.ts";
import type { StoreKey } from "../../../lib/protocol/ports.ts";
import type { Adder, World } from "../world.ts";
import { threeOfFour } from "./three-of-four.ts";

const dayMs = 24 * 60 * 60_000;
const first = (w: World) => w.run(sweepEntries(w.ports("C"), w.theLedger()));
const second = (w: World, sealAgeMs?: number) => w.run(sweepSeal(w.ports("C"), w.theLedger(), sealAgeMs));

/** e0 and e1 acknowledged, closed by recovery, which fenced and sealed all three bookies. */
async function closed(w: World): Promise<Adder> {
  const writer = await w.writer();
  await writer.add("e0", "e1");
  expect(await w.recover()).toMatchObject({ state: "CLOSED", lastEntry: 1 });
  await w.idle();
  return writer;
}

async function deleted(w: World): Promise<Adder> {
  const writer = await closed(w);
  expect(await w.run(markDeleted(w.ports("C"), w.theLedger()))).toMatchObject({ state: "DELETED" });
  return writer;
}

/** What a bookie holds of the story's ledger, the incarnation marker aside. */
async function kept(w: World, name: string): Promise<string[]> {
  const { keys } = await w.store(name).list({ limit: 100 });
  const words = async (key: StoreKey) =>
    key.kind === "slot" ? `${await w.slot(name, key.entryId)} ${key.entryId}` : key.kind;
  return (await Promise.all(keys.map(words))).sort();
}

/** The rest when the entries are gone: the fence and the Tombstones, the seal at slot 2 among them. */
const withoutEntries = (keys: readonly string[]) => keys.filter((key) => !key.startsWith("original"));

describe("rule 15: the first sweep", () => {
  test("takes the entries, and keeps the fences, the seal and all that is behind the end", async () => {
    const w = await threeOfFour();
    await deleted(w);
    const before = await kept(w, "B0");
    expect(before).toEqual(expect.arrayContaining(["fence", "original 0", "original 1", "tombstone 2"]));
    expect(await first(w)).toEqual({ kind: "swept" });
    for (const name of ["B0", "B1", "B2"]) expect(await kept(w, name)).toEqual(withoutEntries(before));
    expect(await w.ledger()).toMatchObject({ state: "DELETED" });
  });

  test("may run again, and three times at once", async () => {
    const w = await threeOfFour();
    await deleted(w);
    const rest = withoutEntries(await kept(w, "B0"));
    const sweeps = ["C", "D", "E"].map((client) => sweepEntries(w.ports(client), w.theLedger()));
    expect(await w.run(Promise.all(sweeps))).toEqual(Array(3).fill({ kind: "swept" }));
    expect(await first(w)).toEqual({ kind: "swept" });
    expect(await kept(w, "B0")).toEqual(rest);
  });

  test("names the bookies that did not answer", async () => {
    const w = await threeOfFour();
    await deleted(w);
    const before = await kept(w, "B2");
    const comesBack = w.faults.fail({ target: "B2", port: "bookie" });
    expect(await first(w)).toEqual({ kind: "incomplete", silent: ["B2"] });
    expect(await kept(w, "B2")).toEqual(before);
    comesBack();
    expect(await first(w)).toEqual({ kind: "swept" });
    expect(await kept(w, "B2")).toEqual(withoutEntries(before));
  });

  test("seals an unsealed ledger before it takes anything, and takes nothing if it cannot", async () => {
    const w = await threeOfFour();
    await deleted(w);
    for (const name of ["B0", "B1", "B2"]) await loseTombstones(w, name);
    const comesBack = ["B0", "B1"].map((target) => w.faults.fail({ target, port: "bookie", call: "seal" }));
    expect(await first(w)).toEqual({ kind: "not-sealed" });
    expect(await kept(w, "B0")).toEqual(["fence", "original 0", "original 1"]);
    for (const end of comesBack) end();
    expect(await first(w)).toEqual({ kind: "swept" });
    for (const name of ["B0", "B1", "B2"]) expect(await kept(w, name)).toEqual(["fence", "tombstone 2"]);
  });

  test("of a ledger that two recoveries closed takes a Recovered copy behind the end for a seal", async () => {
    const w = await threeOfFour();
    await deleted(w);
    const behind = { kind: "slot", ledgerId: w.theLedger(), entryId: entryId(2) } as const;
    for (const name of ["B0", "B1"]) {
      const copy = await w.store(name).get({ ...behind, entryId: entryId(1) });
      if (copy?.kind !== "original") throw new Error("e1 is not there");
      // What the other recovery found, and wrote back after the ledger was closed without it.
      await w.store(name).put(behind, { kind: "recovered", entry: copy.entry });
    }
    expect(await first(w)).toEqual({ kind: "swept" });
    expect(await kept(w, "B0")).toEqual(expect.arrayContaining(["fence", "recovered 2"]));
  });

  test("never takes an Original behind the end for a seal: somebody may have been told OK", async () => {
    const w = await threeOfFour();
    await deleted(w);
    for (const name of ["B0", "B1"]) {
      await loseTombstones(w, name);
      const copy = await w.store(name).get({ kind: "slot", ledgerId: w.theLedger(), entryId: entryId(1) });
      if (copy === undefined) throw new Error("e1 is not there");
      await w.store(name).put({ kind: "slot", ledgerId: w.theLedger(), entryId: entryId(2) }, copy);
    }
    expect(await first(w)).toEqual({ kind: "not-sealed" });
    expect(await kept(w, "B0")).toEqual(["fence", "original 0", "original 1", "original 2"]);
  });

  test("reaches bookies that were replaced", async () => {
    const w = await threeOfFour();
    const writer = await w.writer();
    w.faults.fail({ client: "W", target: "B0", port: "bookie" }, "after");
    w.faults.fail({ client: "W", target: "B2", port: "bookie" });
    await writer.add("e0");
    expect(await w.ensembles()).toEqual({ 0: "B3 B1 B2" });
    await w.recover();
    await w.run(markDeleted(w.ports("C"), w.theLedger()));
    expect(await kept(w, "B0")).toEqual(["original 0"]);
    expect(await first(w)).toEqual({ kind: "swept" });
    expect(await kept(w, "B0")).toEqual([]);
  });

  test("reaches bookies that recovery replaced", async () => {
    const w = await threeOfFour();
    const writer = await w.writer();
    await writer.add("e0");
    for (const target of ["B1", "B2"]) w.faults.fail({ client: "R", target, call: "recoveryAdd" });
    await w.recover();
    expect(await w.ensembles()).toEqual({ 0: "B0 B3 B2" });
    await w.run(markDeleted(w.ports("C"), w.theLedger()));
    expect(await kept(w, "B1")).toEqual(expect.arrayContaining(["fence", "original 0"]));
    expect(await first(w)).toEqual({ kind: "swept" });
    expect(await kept(w, "B1")).not.toContain("original 0");
    w.clock.jump(limits.sealAgeMs);
    expect(await second(w)).toEqual({ kind: "swept" });
    expect(await kept(w, "B1")).toEqual([]);
  });
});

async function loseTombstones(w: World, name: string): Promise<void> {
  const { keys } = await w.store(name).list({ ledgerId: w.theLedger(), limit: 100 });
  for (const key of keys)
    if ((await w.store(name).get(key))?.kind === "tombstone") await w.store(name).delete(key);
}

describe("rule 15: the second sweep", () => {
  test("waits for the seal age, to the millisecond", async () => {
    const w = await threeOfFour();
    await deleted(w);
    await first(w);
    const notBeforeMs = w.clock.nowMs() + limits.sealAgeMs;
    expect(limits.sealAgeMs).toBe(30 * dayMs);
    w.clock.jump(limits.sealAgeMs - 1);
    expect(await second(w)).toEqual({ kind: "too-early", notBeforeMs });
    expect(await kept(w, "B0")).toEqual(expect.arrayContaining(["fence", "tombstone 2"]));
    w.clock.jump(1);
    expect(await second(w)).toEqual({ kind: "swept" });
    for (const name of ["B0", "B1", "B2"]) expect(await kept(w, name)).toEqual([]);
    expect(await w.metadata.get(ledgerKey(w.theLedger()), "consistent")).toBeUndefined();
  });

  test("waits two days at the least, whatever it is told", async () => {
    const w = await threeOfFour();
    await deleted(w);
    await first(w);
    w.clock.jump(2 * dayMs - 1);
    expect(await second(w, 0)).toMatchObject({ kind: "too-early" });
    w.clock.jump(1);
    expect(await second(w, 0)).toEqual({ kind: "swept" });
  });

  test("keeps the item while a bookie does not answer, and ends when it does", async () => {
    const w = await threeOfFour();
    await deleted(w);
    await first(w);
    w.clock.jump(limits.sealAgeMs);
    const comesBack = w.faults.fail({ target: "B1", port: "bookie" });
    expect(await second(w)).toEqual({ kind: "incomplete", silent: ["B1"] });
    expect(await w.ledger()).toMatchObject({ state: "DELETED" });
    comesBack();
    expect(await second(w)).toEqual({ kind: "swept" });
    expect(await kept(w, "B1")).toEqual([]);
  });

  test("a sweeper that froze before its work finds nothing left, and does no harm", async () => {
    const w = await threeOfFour();
    await deleted(w);
    const asleep = w.freeze("D");
    const late = sweepSeal(w.ports("D"), w.theLedger());
    w.clock.jump(limits.sealAgeMs);
    expect(await second(w)).toEqual({ kind: "swept" });
    asleep.thaw();
    expect(await w.run(late)).toEqual({ kind: "not-deleted" });
  });
});

describe("rule 15: only an item that says DELETED authorises a deletion", () => {
  test.each(["OPEN", "IN_RECOVERY", "CLOSED", "missing"])("%s does not", async (state) => {
    const w = await threeOfFour();
    const writer = await w.writer();
    await writer.add("e0");
    if (state === "IN_RECOVERY") {
      w.cut("R", "B0", "B1", "B2");
      void w.recovery();
      await w.idle();
    }
    if (state === "CLOSED" || state === "missing") await w.recover();
    expect(await w.ledger()).toMatchObject(state === "missing" ? {} : { state });
    const read = await w.metadata.get(ledgerKey(w.theLedger()), "consistent");
    if (state === "missing" && read !== undefined) await w.metadata.remove(read.key, read.version);
    const before = await kept(w, "B0");
    expect(before).toContain("original 0");
    w.clock.jump(2 * limits.sealAgeMs);
    expect([await first(w), await second(w)]).toEqual([{ kind: "not-deleted" }, { kind: "not-deleted" }]);
    expect(await kept(w, "B0")).toEqual(before);
  });

  test("a ledger that is not CLOSED is not marked DELETED", async () => {
    const w = await threeOfFour();
    await w.writer();
    expect(await w.run(markDeleted(w.ports("C"), w.theLedger()))).toBeUndefined();
    expect(await w.ledger()).toMatchObject({ state: "OPEN" });
  });
});
