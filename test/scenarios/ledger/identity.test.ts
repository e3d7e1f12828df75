/**
 * Stories of storage that is not what the ensemble names (rule 21). B1 held e0, which was acknowledged on B0
 * and B1; then its storage is another one, or cannot say what it is. Its silence about e0 proves nothing.
 */
import { describe, expect, test } from "vitest";
import { MemoryEntryStore } from "../../../lib/adapters/memory/memory-entry-store.ts";
import { StoredBookie, setUpStorage } from "../../../lib/protocol/bookie/stored-bookie.ts";
import type { Clock } from "../../../lib/protocol/deadline.ts";
import { bookieId, entryId, ledgerId } from "../../../lib/protocol/ids.ts";
import { markDeleted, sweepEntries, sweepSeal } from "../../../lib/protocol/ledger/end-ledger.ts";
import { limits } from "../../../lib/protocol/limits.ts";
import { brokenPromises } from "../promises.ts";
import type { World } from "../world.ts";
import { threeOfFour } from "./three-of-four.ts";

const noSpare = { bookies: ["B0", "B1", "B2"] };

/** What may have become of B1's storage. */
const swaps: readonly (readonly [string, (w: World) => Promise<unknown>])[] = [
  ["empty and unmarked", (w) => w.wipe("B1")],
  ["empty and marked as another's", (w) => w.wipe("B1", "storage-B9")],
  [
    "empty, and its marker cannot be read",
    async (w) => {
      await w.wipe("B1", "storage-B1");
      w.faults.fail({ target: "B1", port: "store", call: "get", about: "incarnation" });
    },
  ],
];

/** The same swap, unseen: the new storage says that it is the old one, which rule 21 forbids. */
const unseen = (w: World) => w.wipe("B1", "storage-B1");

async function e0OnB0AndB1(w: World) {
  const writer = await w.writer();
  w.cut("W", "B2");
  expect(await writer.add("e0")).toBe("acknowledged 0");
  return writer;
}

describe("rule 21: recovery hears of B1 and B2, which have nothing, and not of B0", () => {
  async function story(w: World, swap: (w: World) => Promise<unknown>) {
    await e0OnB0AndB1(w);
    await swap(w);
    const comesBack = w.faults.fail({ client: "R", target: "B0", port: "bookie" });
    const said = await w.run(w.recovery().catch((error) => error.code));
    comesBack();
    return said;
  }

  test.each(swaps)(
    "B1 is %s: no negative, the ledger stays in recovery until B0 is back",
    async (_, swap) => {
      const w = await threeOfFour();
      expect(await story(w, swap)).toBe("insufficient_regions");
      expect(await w.ledger()).toMatchObject({ state: "IN_RECOVERY" });
      expect(await w.recover()).toMatchObject({ state: "CLOSED", lastEntry: 0 });
      expect(await brokenPromises(w)).toEqual([]);
    },
  );

  test("unseen, the swap loses an acknowledged entry", async () => {
    const w = await threeOfFour();
    await story(w, unseen);
    expect(await brokenPromises(w)).toEqual(["entry 0 was acknowledged, the ledger ends at -1"]);
  });

  test("swapped while the read is under way: no negative either", async () => {
    const w = await threeOfFour();
    await e0OnB0AndB1(w);
    const look = w.faults.hold({ client: "R", target: "B1", port: "store", call: "get", about: 0 });
    const late = w.bookie("R", "B1").recoveryRead(w.theLedger(), entryId(0));
    await w.idle();
    await w.wipe("B1", "storage-B9");
    look.release();
    await expect(w.run(late)).rejects.toMatchObject({ code: "unavailable" });
  });
});

describe("rule 21: a reader hears of B1 and B2, which have nothing, and not of B0", () => {
  async function story(w: World, swap: (w: World) => Promise<unknown>) {
    await e0OnB0AndB1(w);
    await swap(w);
    w.faults.fail({ client: "T", target: "B0", port: "bookie" });
    return await w.read(w.reader("T"), 0);
  }

  test.each(swaps)('B1 is %s: undecided, not "nothing yet"', async (_, swap) => {
    const w = await threeOfFour();
    expect(await story(w, swap)).toBe("undecided");
    expect(await brokenPromises(w)).toEqual([]);
  });

  test("unseen, the swap denies an acknowledged entry", async () => {
    const w = await threeOfFour();
    await story(w, unseen);
    expect(await brokenPromises(w)).toEqual(['"nothing yet" of entry 0, acknowledged before']);
  });
});

describe("rule 21: what wrong storage takes is not counted", () => {
  test.each(swaps)("adds: B1 is %s, B2 is away, e1 is not acknowledged", async (_, swap) => {
    const w = await threeOfFour(noSpare);
    const writer = await e0OnB0AndB1(w);
    await swap(w);
    expect(await writer.add("e1")).toBe("insufficient_regions, side effects possible");
    expect(await w.slot("B0", 1)).toBe("original");
  });

  test.each(swaps)("write-backs: B1 is %s, B2 takes none, e0 is not closed on B0 alone", async (_, swap) => {
    const w = await threeOfFour(noSpare);
    await e0OnB0AndB1(w);
    await swap(w);
    const comesBack = w.faults.fail({ client: "R", target: "B2", call: "recoveryAdd" });
    await expect(w.recover()).rejects.toMatchObject({ code: "insufficient_regions" });
    expect(await w.ledger()).toMatchObject({ state: "IN_RECOVERY" });
    comesBack();
    expect(await w.recover()).toMatchObject({ state: "CLOSED", lastEntry: 0 });
    expect(await w.slot("B2", 0)).toBe("recovered");
  });

  test.each(swaps)("seals: B1 is %s, B2 is away, the close is not clean", async (_, swap) => {
    const w = await threeOfFour(noSpare);
    const writer = await e0OnB0AndB1(w);
    await swap(w);
    await expect(w.run(writer.writer.close())).rejects.toMatchObject({ code: "insufficient_regions" });
    expect(await w.ledger()).toMatchObject({ state: "IN_RECOVERY" });
  });

  test.each(swaps)("deletions: B1 is %s, the item is kept", async (_, swap) => {
    const w = await threeOfFour(noSpare);
    await e0OnB0AndB1(w);
    await w.recover();
    await w.run(markDeleted(w.ports("C"), w.theLedger()));
    await swap(w);
    const first = await w.run(sweepEntries(w.ports("C"), w.theLedger()));
    w.clock.jump(limits.sealAgeMs);
    const second = await w.run(sweepSeal(w.ports("C"), w.theLedger()));
    expect([first, second]).toEqual(Array(2).fill({ kind: "incomplete", silent: ["B1"] }));
    expect(await w.ledger()).toMatchObject({ state: "DELETED" });
  });

  test("seals of a DELETED ledger: a Recovered copy behind the end is one in B1's own storage alone", async () => {
    const w = await threeOfFour(noSpare);
    await e0OnB0AndB1(w);
    await w.recover();
    await w.run(markDeleted(w.ports("C"), w.theLedger()));
    const behind = { kind: "slot", ledgerId: w.theLedger(), entryId: entryId(1) } as const;
    const copy = await w.store("B1").get({ ...behind, entryId: entryId(0) });
    if (copy?.kind !== "original") throw new Error("e0 is not there");
    await w.store("B1").put(behind, { kind: "recovered", entry: copy.entry });
    await w.store("B1").put({ kind: "incarnation" }, { kind: "incarnation", storage: "storage-B2" });
    const comesBack = w.faults.fail({ client: "C", target: "B0", port: "bookie" });
    const sweep = () => w.run(sweepEntries(w.ports("C"), w.theLedger()));
    expect(await sweep()).toEqual({ kind: "not-sealed" });
    expect(await w.slot("B2", 0)).not.toBe("nothing");
    comesBack();
    expect(await sweep()).toEqual({ kind: "incomplete", silent: ["B1"] }); // B0 and B2 are sealed
    await w.store("B1").put({ kind: "incarnation" }, { kind: "incarnation", storage: "storage-B1" });
    expect(await sweep()).toEqual({ kind: "swept" });
  });

  test("a copy of e0 is a copy wherever it comes from", async () => {
    const w = await threeOfFour();
    await e0OnB0AndB1(w);
    await w.store("B1").put({ kind: "incarnation" }, { kind: "incarnation", storage: "storage-B9" });
    w.faults.fail({ client: "R", target: "B0", call: "recoveryRead", about: 0 });
    expect(await w.recover()).toMatchObject({ state: "CLOSED", lastEntry: 0 });
    expect(await w.slot("B2", 0)).toBe("recovered");
    expect(await brokenPromises(w)).toEqual([]);
  });
});

describe("rule 21: how old a check may be", () => {
  const ledger = ledgerId(7);
  const slot = entryId(0);

  /** One process of a bookie that has just looked at its marker; then its storage is another one. */
  async function justChecked({ clock }: { readonly clock: Clock }) {
    const store = new MemoryEntryStore();
    await setUpStorage(store, "own");
    const bookie = new StoredBookie({ id: bookieId("B"), storage: "own", store, clock });
    expect(await bookie.read(ledger, slot)).toEqual({ kind: "nothing" });
    await store.put({ kind: "incarnation" }, { kind: "incarnation", storage: "another" });
    return bookie;
  }

  test("a tail read trusts one that is under a minute old", async () => {
    const w = await threeOfFour();
    const bookie = await justChecked(w);
    w.clock.jump(59_999);
    expect(await bookie.read(ledger, slot)).toEqual({ kind: "nothing" });
    w.clock.jump(1);
    await expect(bookie.read(ledger, slot)).rejects.toMatchObject({ code: "unavailable" });
  });

  test.each(["nowMs", "monotonicMs"] as const)("a minute counts though %s stood still", async (stands) => {
    const { clock } = await threeOfFour();
    const stoodAtMs = clock.nowMs();
    const moves = { nowMs: () => clock.nowMs(), monotonicMs: () => clock.monotonicMs() };
    const startTimer = clock.startTimer.bind(clock);
    const bookie = await justChecked({ clock: { ...moves, startTimer, [stands]: () => stoodAtMs } });
    clock.jump(60_000);
    await expect(bookie.read(ledger, slot)).rejects.toMatchObject({ code: "unavailable" });
  });

  test("a negative for recovery, a fence and a seal trust none", async () => {
    const bookie = await justChecked(await threeOfFour());
    const asked = [bookie.recoveryRead(ledger, slot), bookie.fence(ledger), bookie.seal(ledger, slot)];
    for (const answer of asked) await expect(answer).rejects.toMatchObject({ code: "unavailable" });
  });
});
