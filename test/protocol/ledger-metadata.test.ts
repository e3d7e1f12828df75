/** A ledger's metadata: the transitions between its states, and what they refuse (LM1 to LM5). */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type BookieId, bookieId, type EntryId, entryId, ledgerId, region } from "../../lib/protocol/ids.ts";
import {
  checkReplication,
  closeLedger,
  deleteLedger,
  fragmentAt,
  lastFragment,
  newLedger,
  type OpenLedger,
  replaceEnsemble,
  sameFragment,
  startRecovery,
  withFragment,
} from "../../lib/protocol/ledger-metadata.ts";
import type { BookieAddress } from "../../lib/protocol/replication.ts";

const bookie = (name: string): BookieAddress => ({
  id: bookieId(name),
  place: { region: region("r"), rack: name },
});
const ensemble = (names: string) => names.split(" ").map(bookie);
const replication = { ensembleSize: 3, writeQuorum: 3, ackQuorum: 2, minRegions: 1 };
const at = (entry: number): EntryId => entryId(entry);

function opened(names = "B0 B1 B2"): OpenLedger {
  return newLedger({
    ledgerId: ledgerId(1),
    replication,
    digest: { type: "crc32" },
    ensemble: ensemble(names),
    createdAtMs: 5,
  });
}

describe("a new ledger", () => {
  test("is OPEN, with one fragment from 0 and nobody retired (LM2, LM5)", () => {
    expect(opened()).toMatchObject({
      state: "OPEN",
      fragments: [{ firstEntry: 0, ensemble: ensemble("B0 B1 B2") }],
      retired: [],
    });
    expect(opened()).not.toHaveProperty("lastEntry");
  });

  test.each([
    [{ ensembleSize: 2 }, /ensemble size 2 is below write quorum 3/],
    [{ ackQuorum: 4 }, /write quorum 3 is below ack quorum 4/],
    [{ minRegions: 3 }, /ack quorum 2 is below minRegions 3/],
    [{ ackQuorum: 0 }, /quorum sizes are integers >= 1/],
    [{ writeQuorum: 1.5 }, /quorum sizes are integers >= 1/],
    [{ ensembleSize: Number.NaN }, /quorum sizes are integers >= 1/],
  ])("quorums with %j are refused", (change, message) => {
    expect(() => checkReplication({ ...replication, ...change })).toThrow(message);
  });

  test.each([
    ["B0 B1", /an ensemble has 3 bookies, got 2/],
    ["B0 B1 B2 B3", /an ensemble has 3 bookies, got 4/],
    ["B0 B1 B0", /an ensemble names each bookie once/],
  ])("the ensemble %s is refused", (names, message) => {
    expect(() => opened(names)).toThrow(message);
  });
});

describe("ensemble changes", () => {
  test("a change at a new entry adds a fragment, at the last one's start replaces it (LM2, rule 6c)", () => {
    const added = replaceEnsemble(opened(), at(5), ensemble("B3 B1 B2"));
    expect(added.fragments.map((one) => one.firstEntry)).toEqual([0, 5]);
    const replaced = replaceEnsemble(added, at(5), ensemble("B3 B4 B2"));
    expect(replaced.fragments.map((one) => one.firstEntry)).toEqual([0, 5]);
    expect(lastFragment(replaced).ensemble).toEqual(ensemble("B3 B4 B2"));
    expect(replaced.fragments[0]).toEqual(opened().fragments[0]);
  });

  test("who left is retired for good, also from a fragment that was replaced whole (LM5, rule 7)", () => {
    const changed = replaceEnsemble(opened(), at(0), ensemble("B3 B1 B2"));
    expect(changed.retired).toEqual(["B0"]);
    const again = replaceEnsemble(changed, at(4), ensemble("B3 B4 B5"));
    expect(new Set(again.retired)).toEqual(new Set(["B0", "B1", "B2"]));
    for (const name of ["B0", "B1", "B2"]) {
      expect(() => replaceEnsemble(again, at(9), ensemble(`${name} B4 B5`))).toThrow(
        /M5: .* never comes back/,
      );
    }
  });

  test("an ensemble of the wrong size, or before the last fragment, is refused (LM2)", () => {
    const ledger = replaceEnsemble(opened(), at(5), ensemble("B3 B1 B2"));
    expect(() => replaceEnsemble(ledger, at(4), ensemble("B4 B1 B2"))).toThrow(
      /M2: fragment 4 does not follow 5/,
    );
    expect(() => replaceEnsemble(ledger, at(6), ensemble("B4 B1"))).toThrow(/an ensemble has 3 bookies/);
  });

  test("the value handed in stays as it was", () => {
    const ledger = opened();
    const copy = structuredClone(ledger);
    replaceEnsemble(ledger, at(3), ensemble("B3 B1 B2"));
    startRecovery(ledger);
    closeLedger(ledger, { lastEntry: at(2), length: 3 });
    expect(ledger).toEqual(copy);
  });

  test("any sequence of legal changes keeps LM2 and LM5", () => {
    const step = fc.record({ ahead: fc.nat(3), position: fc.nat(2), name: fc.nat(7) });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 12 }), (steps) => {
        let ledger = opened();
        const members = new Set<BookieId>(ensemble("B0 B1 B2").map((one) => one.id));
        for (const { ahead, position, name } of steps) {
          const last = lastFragment(ledger);
          const next = last.ensemble.map((one, index) => (index === position ? bookie(`B${name}`) : one));
          const legal = !members.has(bookieId(`B${name}`));
          const change = () => replaceEnsemble(ledger, at(last.firstEntry + ahead), next);
          if (!legal && last.ensemble[position]?.id !== `B${name}`) {
            expect(change).toThrow(/LM5|each bookie once/);
            continue;
          }
          ledger = change();
          members.add(bookieId(`B${name}`));
        }
        const keys = ledger.fragments.map((one) => one.firstEntry);
        expect(keys[0]).toBe(0);
        expect(keys).toEqual([...new Set(keys)].sort((one, other) => one - other));
        const now = new Set(lastFragment(ledger).ensemble.map((one) => one.id));
        expect(new Set(ledger.retired)).toEqual(new Set([...members].filter((id) => !now.has(id))));
      }),
      { seed: 3, numRuns: 500 },
    );
  });
});

describe("states", () => {
  test("OPEN to IN_RECOVERY to CLOSED to DELETED; the end appears with CLOSED and stays (LM1, LM3)", () => {
    const inRecovery = startRecovery(opened());
    expect(inRecovery.state).toBe("IN_RECOVERY");
    expect(inRecovery).not.toHaveProperty("lastEntry");
    const closed = closeLedger(inRecovery, { lastEntry: at(7), length: 70 });
    expect(closed).toMatchObject({ state: "CLOSED", lastEntry: 7, length: 70 });
    expect(deleteLedger(closed, 99)).toEqual({ ...closed, state: "DELETED", deletedAtMs: 99 });
  });

  test("an empty ledger ends at -1 with length 0; what is no end is refused (LM3)", () => {
    expect(closeLedger(opened(), { lastEntry: at(-1), length: 0 })).toMatchObject({
      lastEntry: -1,
      length: 0,
    });
    expect(() => closeLedger(opened(), { lastEntry: -2 as EntryId, length: 0 })).toThrow(/LM3: an end is/);
    expect(() => closeLedger(opened(), { lastEntry: at(0), length: -1 })).toThrow(/LM3: an end is/);
  });

  test("recovery's fragments come with the close, and are checked (LM2, LM4, rule 12)", () => {
    const inRecovery = startRecovery(opened());
    const local = withFragment(inRecovery.fragments, { firstEntry: at(3), ensemble: ensemble("B3 B1 B2") });
    expect(inRecovery.fragments.length).toBe(1);
    expect(closeLedger(inRecovery, { lastEntry: at(4), length: 9 }, local).fragments.length).toBe(2);
    const bad = [...local, { firstEntry: at(3), ensemble: ensemble("B4 B1 B2") }];
    expect(() => closeLedger(inRecovery, { lastEntry: at(4), length: 9 }, bad)).toThrow(/LM2/);
    const short = [{ firstEntry: at(0), ensemble: ensemble("B3 B1") }];
    expect(() => closeLedger(inRecovery, { lastEntry: at(4), length: 9 }, short)).toThrow(/3 bookies/);
  });

  test("who leaves by recovery's fragments is retired too: nobody forgets that it was a member (LM5)", () => {
    const local = [{ firstEntry: at(0), ensemble: ensemble("B3 B1 B2") }];
    const closed = closeLedger(startRecovery(opened()), { lastEntry: at(0), length: 1 }, local);
    expect(closed.retired).toEqual(["B0"]);
  });
});

describe("fragments", () => {
  const ledger = replaceEnsemble(
    replaceEnsemble(opened(), at(10), ensemble("B3 B1 B2")),
    at(20),
    ensemble("B3 B4 B2"),
  );

  test.each([
    [0, 0],
    [9, 0],
    [10, 10],
    [19, 10],
    [20, 20],
    [2 ** 52, 20],
  ])("entry %i is in the fragment from %i", (entry, first) => {
    expect(fragmentAt(ledger, at(entry)).firstEntry).toBe(first);
  });

  test("no fragment contains what is before entry 0", () => {
    expect(() => fragmentAt(ledger, at(-1))).toThrow(/no fragment contains entry -1/);
  });

  test("ensembles are the same only position by position", () => {
    const isSame = (one: string, other: string) =>
      sameFragment(
        { firstEntry: entryId(0), ensemble: ensemble(one) },
        { firstEntry: entryId(0), ensemble: ensemble(other) },
      );
    expect(isSame("B0 B1", "B0 B1")).toBe(true);
    expect(isSame("B0 B1", "B1 B0")).toBe(false);
    expect(isSame("B0 B1", "B0 B1 B2")).toBe(false);
  });
});
