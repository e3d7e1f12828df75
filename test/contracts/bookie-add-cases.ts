/** Rules 1 and 2: adds, reads and the tail. */
import { expect } from "vitest";
import { type EntryId, entryId, type LedgerId } from "../../lib/protocol/ids.ts";
import type { StoreKey } from "../../lib/protocol/ports.ts";
import type { BookieCase } from "./bookie-contract.ts";

export const addCases: readonly BookieCase[] = [
  {
    title: "rule 2: an add is OK, durable as an Original, and reads back as it was sent",
    run: async ({ bookie, store, another }, scope) => {
      const entry = scope.entry(scope.ledger(), 0, { lastAddConfirmed: -1 });
      expect(await bookie.add(entry)).toEqual({ kind: "ok" });
      const { ledgerId, entryId } = entry.header;
      expect(await store.get({ kind: "slot", ledgerId, entryId })).toEqual({ kind: "original", entry });
      expect(await another().read(ledgerId, entryId)).toEqual({ kind: "entry", copy: "original", entry });
    },
  },
  {
    title: "rule 2: the same entry again is OK, by whichever process; entries come in any order",
    run: async ({ bookie, another }, scope) => {
      const ledger = scope.ledger();
      for (const id of [5, 0, 2]) {
        const entry = scope.entry(ledger, id);
        expect(await bookie.add(entry)).toEqual({ kind: "ok" });
        expect(await bookie.add(entry)).toEqual({ kind: "ok" });
        expect(await another().add(entry)).toEqual({ kind: "ok" });
        expect((await bookie.read(ledger, entryId(id))).kind).toBe("entry");
      }
      expect(await bookie.read(ledger, entryId(1))).toEqual({ kind: "nothing" });
    },
  },
  {
    title: "rules 2, 20: other content in the slot, of another tenure or payload, is FENCED and stays",
    run: async ({ bookie, another }, scope) => {
      const ledger = scope.ledger();
      const first = scope.entry(ledger, 0);
      const { tenure } = first.header;
      expect(await bookie.add(first)).toEqual({ kind: "ok" });
      const rivals = [
        scope.entry(ledger, 0, { payload: first.payload }),
        scope.entry(ledger, 0, { tenure, payload: Uint8Array.of(0, 1, 2, 4) }),
        scope.entry(ledger, 0, { tenure, payload: Uint8Array.of(0, 1, 2) }),
      ];
      for (const rival of rivals) expect(await another().add(rival)).toEqual({ kind: "fenced" });
      expect(await bookie.read(ledger, entryId(0))).toEqual({
        kind: "entry",
        copy: "original",
        entry: first,
      });
      expect(await bookie.add(first)).toEqual({ kind: "ok" });
    },
  },
  {
    title: "rule 2: after a fence every add is FENCED, new or again, in this process and any other",
    run: async ({ bookie, another }, scope) => {
      const ledger = scope.ledger();
      const before = scope.entry(ledger, 0);
      expect(await bookie.add(before)).toEqual({ kind: "ok" });
      await another().fence(ledger);
      for (const process of [bookie, another()]) {
        expect(await process.add(before)).toEqual({ kind: "fenced" });
        expect(await process.add(scope.entry(ledger, 1))).toEqual({ kind: "fenced" });
      }
    },
  },
  {
    title: "rule 2: a fence holds for its own ledger alone",
    run: async ({ bookie }, scope) => {
      const [fenced, other] = [scope.ledger(), scope.ledger()];
      await bookie.fence(fenced);
      expect(await bookie.add(scope.entry(other, 0))).toEqual({ kind: "ok" });
    },
  },
  {
    title: "rule 2: a Tombstone in the slot is FENCED, also where no fence is to be seen",
    run: async ({ bookie, store }, scope) => {
      const ledger = scope.ledger();
      await store.putIfAbsent(slot(ledger, 0), { kind: "tombstone" });
      expect(await bookie.add(scope.entry(ledger, 0))).toEqual({ kind: "fenced" });
      expect(await bookie.read(ledger, entryId(0))).toEqual({ kind: "tombstone" });
    },
  },
  {
    title: "S05, rule 2: a Recovered copy of the very same content is FENCED, never OK",
    run: async ({ bookie, store }, scope) => {
      const entry = scope.entry(scope.ledger(), 0);
      await store.put(slot(entry.header.ledgerId, 0), { kind: "recovered", entry });
      expect(await bookie.add(entry)).toEqual({ kind: "fenced" });
      expect((await bookie.read(entry.header.ledgerId, entryId(0))).kind).toBe("entry");
    },
  },
  {
    title: "reading changes nothing: a slot found empty takes an add afterwards",
    run: async ({ bookie, store }, scope) => {
      const ledger = scope.ledger();
      expect(await bookie.read(ledger, entryId(0))).toEqual({ kind: "nothing" });
      expect(await bookie.tail(ledger)).toEqual({});
      expect((await store.list({ ledgerId: ledger, limit: 9 })).keys).toEqual([]);
      expect(await bookie.add(scope.entry(ledger, 0))).toEqual({ kind: "ok" });
    },
  },
  {
    title: "the tail names the highest entry, whatever Tombstones lie beyond it, and fences nothing",
    run: async ({ bookie }, scope) => {
      const ledger = scope.ledger();
      const entries = [0, 9, 10].map((id) => scope.entry(ledger, id));
      for (const entry of entries) await bookie.add(entry);
      for (const id of [11, 12, 20]) await bookie.seal(ledger, entryId(id));
      expect(await bookie.tail(ledger)).toEqual({ highest: entries[2] });
      expect(await bookie.add(scope.entry(ledger, 13))).toEqual({ kind: "ok" });
    },
  },
  {
    title: "a fence names the highest entry, and may be put any number of times",
    run: async ({ bookie, another, store }, scope) => {
      const ledger = scope.ledger();
      expect(await bookie.fence(ledger)).toEqual({});
      const other = scope.ledger();
      const entry = scope.entry(other, 3);
      await bookie.add(entry);
      for (const process of [bookie, another()])
        expect(await process.fence(other)).toEqual({ highest: entry });
      expect(await store.get({ kind: "fence", ledgerId: other })).toEqual({ kind: "fence" });
    },
  },
];

const slot = (ledger: LedgerId, entry: number): StoreKey => ({
  kind: "slot",
  ledgerId: ledger,
  entryId: entry as EntryId,
});
