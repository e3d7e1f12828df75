/** Rule 15: what the two sweeps over a DELETED ledger take, and what the first one keeps. */
import { expect } from "vitest";
import { entryId, type LedgerId } from "../../lib/protocol/ids.ts";
import type { BookieCase, BookieUnderTest } from "./bookie-contract.ts";
import type { Scope } from "./scope.ts";

export const collectionCases: readonly BookieCase[] = [
  {
    title: "rule 15: the first sweep deletes entries up to the last one; fence and seal stay",
    run: async ({ bookie, store, another }, scope) => {
      const ledger = await closedLedger(bookie, scope);
      await another().deleteEntries(ledger, entryId(2));
      for (const id of [0, 1, 2]) {
        expect(await store.get({ kind: "slot", ledgerId: ledger, entryId: entryId(id) })).toBeUndefined();
      }
      expect(await bookie.read(ledger, entryId(3))).toEqual({ kind: "tombstone" });
      expect(await store.get({ kind: "fence", ledgerId: ledger })).toEqual({ kind: "fence" });
      for (const id of [0, 3, 4]) {
        expect(await bookie.add(scope.entry(ledger, id))).toEqual({ kind: "fenced" });
      }
    },
  },
  {
    title: "rule 15: of an empty ledger the first sweep deletes nothing",
    run: async ({ bookie, store }, scope) => {
      const ledger = scope.ledger();
      await bookie.recoveryRead(ledger, entryId(0));
      await bookie.deleteEntries(ledger, entryId(-1));
      expect((await store.list({ ledgerId: ledger, limit: 9 })).keys).toHaveLength(2);
    },
  },
  {
    title: "rule 15: the second sweep takes everything of its ledger, in any number of runs, and of no other",
    run: async ({ bookie, store, another }, scope) => {
      const [ledger, other] = [await closedLedger(bookie, scope), await closedLedger(bookie, scope)];
      await bookie.forget(ledger);
      await another().forget(ledger);
      expect((await store.list({ ledgerId: ledger, limit: 9 })).keys).toEqual([]);
      expect(await store.get({ kind: "fence", ledgerId: ledger })).toBeUndefined();
      expect((await store.list({ ledgerId: other, limit: 9 })).keys).toHaveLength(5);
    },
  },
  {
    title: "rule 15: a sweep covers a ledger of more entries than a page of a list holds",
    heavy: true,
    run: async ({ bookie, store }, scope) => {
      const ledger = scope.ledger();
      await Promise.all(Array.from({ length: 2_100 }, (_, id) => bookie.add(scope.entry(ledger, id))));
      await bookie.fence(ledger);
      await bookie.seal(ledger, entryId(2_100));
      await bookie.deleteEntries(ledger, entryId(2_099));
      expect((await store.list({ ledgerId: ledger, limit: 9 })).keys).toEqual([
        { kind: "slot", ledgerId: ledger, entryId: entryId(2_100) },
        { kind: "fence", ledgerId: ledger },
      ]);
    },
  },
];

/** Entries 0 to 2, one of them written back, a seal behind them, and a fence. */
async function closedLedger(bookie: BookieUnderTest["bookie"], scope: Scope): Promise<LedgerId> {
  const ledger = scope.ledger();
  await bookie.add(scope.entry(ledger, 0));
  await bookie.add(scope.entry(ledger, 1));
  expect(await bookie.recoveryRead(ledger, entryId(2))).toEqual({ kind: "tombstone" });
  await bookie.recoveryAdd(scope.entry(ledger, 2));
  await bookie.recoveryRead(ledger, entryId(3));
  return ledger;
}
