/** Rules 3, 4 and 9: recovery reads, write-back and seals. */
import { expect } from "vitest";
import { entryId } from "../../lib/protocol/ids.ts";
import type { BookieCase } from "./bookie-contract.ts";

const e0 = entryId(0);
const OK = { kind: "ok" } as const;
const FENCED = { kind: "fenced" } as const;
const TOMBSTONE = { kind: "tombstone" } as const;

export const recoveryCases: readonly BookieCase[] = [
  {
    title: "rule 3: a recovery read of an empty slot leaves a Tombstone and a fence behind its negative",
    run: async ({ bookie, another, store }, scope) => {
      const ledger = scope.ledger();
      expect(await bookie.recoveryRead(ledger, e0)).toEqual(TOMBSTONE);
      expect(await store.get({ kind: "slot", ledgerId: ledger, entryId: e0 })).toEqual(TOMBSTONE);
      expect(await store.get({ kind: "fence", ledgerId: ledger })).toEqual({ kind: "fence" });
      expect(await another().add(scope.entry(ledger, 0))).toEqual(FENCED);
      expect(await another().read(ledger, e0)).toEqual(TOMBSTONE);
    },
  },
  {
    title: "S02, rule 3: a recovery read of one entry fences the adds of every other",
    run: async ({ bookie, another }, scope) => {
      const ledger = scope.ledger();
      await bookie.recoveryRead(ledger, entryId(7));
      for (const id of [0, 6, 8]) expect(await another().add(scope.entry(ledger, id))).toEqual(FENCED);
    },
  },
  {
    title: "rule 3: a recovery read finds an Original, fences, and leaves the copy as it is",
    run: async ({ bookie, another, store }, scope) => {
      const entry = scope.entry(scope.ledger(), 0);
      const { ledgerId } = entry.header;
      await bookie.add(entry);
      for (const process of [bookie, another()]) {
        expect(await process.recoveryRead(ledgerId, e0)).toEqual({ kind: "entry", copy: "original", entry });
      }
      expect(await store.get({ kind: "fence", ledgerId })).toEqual({ kind: "fence" });
      expect(await bookie.add(entry)).toEqual(FENCED);
    },
  },
  {
    title: "rule 3: a recovery read again finds the Tombstone of the one before",
    run: async ({ bookie, another }, scope) => {
      const ledger = scope.ledger();
      for (const process of [bookie, another(), bookie]) {
        expect(await process.recoveryRead(ledger, e0)).toEqual(TOMBSTONE);
      }
    },
  },
  {
    title: "rule 4, S20: write-back replaces a Tombstone, and the copy is told from an Original",
    run: async ({ bookie, another }, scope) => {
      const entry = scope.entry(scope.ledger(), 0, { lastAddConfirmed: -1 });
      const { ledgerId } = entry.header;
      await bookie.recoveryRead(ledgerId, e0);
      expect(await bookie.recoveryAdd(entry)).toEqual(OK);
      const found = { kind: "entry", copy: "recovered", entry };
      expect(await another().read(ledgerId, e0)).toEqual(found);
      expect(await another().recoveryRead(ledgerId, e0)).toEqual(found);
      expect(await another().tail(ledgerId)).toEqual({ highest: entry });
    },
  },
  {
    title: "rule 4: write-back fills an empty slot, and may be done any number of times",
    run: async ({ bookie, another }, scope) => {
      const entry = scope.entry(scope.ledger(), 0);
      for (const process of [bookie, another(), bookie]) expect(await process.recoveryAdd(entry)).toEqual(OK);
      expect(await bookie.read(entry.header.ledgerId, e0)).toEqual({
        kind: "entry",
        copy: "recovered",
        entry,
      });
    },
  },
  {
    title: "rules 1, 4: write-back onto an Original of the same content is OK and leaves an Original",
    run: async ({ bookie }, scope) => {
      const entry = scope.entry(scope.ledger(), 0);
      await bookie.add(entry);
      expect(await bookie.recoveryAdd(entry)).toEqual(OK);
      expect(await bookie.read(entry.header.ledgerId, e0)).toEqual({
        kind: "entry",
        copy: "original",
        entry,
      });
    },
  },
  {
    title:
      "rules 1, 4: write-back onto an Original of other content is a conflict that shows it, and it stays",
    run: async ({ bookie }, scope) => {
      const entry = scope.entry(scope.ledger(), 0);
      const { ledgerId, tenure } = entry.header;
      await bookie.add(entry);
      for (const other of [
        scope.entry(ledgerId, 0, { payload: entry.payload }),
        scope.entry(ledgerId, 0, { tenure, payload: Uint8Array.of(9) }),
      ]) {
        expect(await bookie.recoveryAdd(other)).toEqual({ kind: "conflict", occupant: entry });
      }
      expect(await bookie.read(ledgerId, e0)).toEqual({ kind: "entry", copy: "original", entry });
    },
  },
  {
    title: "rule 4: a later write-back replaces an earlier one",
    run: async ({ bookie }, scope) => {
      const ledger = scope.ledger();
      const [first, second] = [scope.entry(ledger, 0), scope.entry(ledger, 0)];
      expect(await bookie.recoveryAdd(first)).toEqual(OK);
      expect(await bookie.recoveryAdd(second)).toEqual(OK);
      expect(await bookie.read(ledger, e0)).toEqual({ kind: "entry", copy: "recovered", entry: second });
    },
  },
  {
    title: "rule 9: a seal occupies an empty slot; one that is there counts; an entry is in its way",
    run: async ({ bookie, another }, scope) => {
      const ledger = scope.ledger();
      await bookie.add(scope.entry(ledger, 0));
      for (const process of [bookie, another()]) {
        expect(await process.seal(ledger, entryId(1))).toEqual({ kind: "sealed" });
        expect(await process.seal(ledger, e0)).toEqual({ kind: "occupied" });
      }
      expect(await bookie.read(ledger, entryId(1))).toEqual(TOMBSTONE);
      expect((await bookie.read(ledger, e0)).kind).toBe("entry");
      const recovered = scope.entry(ledger, 5);
      await bookie.recoveryAdd(recovered);
      expect(await bookie.seal(ledger, entryId(5))).toEqual({ kind: "occupied" });
    },
  },
  {
    title: "rule 9, S13: after a seal an add of that entry is FENCED",
    run: async ({ bookie, another }, scope) => {
      const ledger = scope.ledger();
      await bookie.seal(ledger, e0);
      expect(await another().add(scope.entry(ledger, 0))).toEqual(FENCED);
    },
  },
];
