/** Single keys: put-if-absent, put, get, delete. */
import { expect } from "vitest";
import { entryId, ledgerId } from "../../lib/protocol/ids.ts";
import type { EntryStore, StoreKey, StoreValue } from "../../lib/protocol/ports.ts";
import type { ContractCase } from "./contract.ts";
import { sameValue } from "./persistent-entry-store.ts";
import type { Scope } from "./scope.ts";

const MIB = 1024 * 1024;

export const slotCases: readonly ContractCase<EntryStore>[] = [
  {
    title: "every kind of value comes back as it was stored",
    run: async (store, scope) => {
      const id = scope.ledger();
      const values: StoreValue[] = [
        { kind: "original", entry: scope.entry(id, 0) },
        { kind: "recovered", entry: scope.entry(id, 1, { payload: new Uint8Array(0) }) },
        { kind: "tombstone" },
      ];
      for (const [index, value] of values.entries()) {
        expect(await store.putIfAbsent(slot(id, index), value)).toBe("stored");
        expect(await store.get(slot(id, index))).toEqual(value);
      }
      await store.put(fence(id), { kind: "fence" });
      expect(await store.get(fence(id))).toEqual({ kind: "fence" });
    },
  },
  {
    title: "rule 21: the incarnation marker is written once and kept apart from every ledger",
    fresh: true,
    run: async (store) => {
      const key: StoreKey = { kind: "incarnation" };
      expect(await store.get(key)).toBeUndefined();
      expect(await store.putIfAbsent(key, { kind: "incarnation", storage: "s1" })).toBe("stored");
      expect(await store.putIfAbsent(key, { kind: "incarnation", storage: "s2" })).toBe("occupied");
      expect(await store.get(key)).toEqual({ kind: "incarnation", storage: "s1" });
    },
  },
  {
    title: "rule 1: put-if-absent never replaces what is there",
    run: async (store, scope) => {
      const id = scope.ledger();
      const first: StoreValue = { kind: "original", entry: scope.entry(id, 3) };
      expect(await store.putIfAbsent(slot(id, 3), first)).toBe("stored");
      const rivals: StoreValue[] = [
        { kind: "original", entry: scope.entry(id, 3) },
        { kind: "recovered", entry: scope.entry(id, 3) },
        { kind: "tombstone" },
      ];
      for (const rival of rivals) expect(await store.putIfAbsent(slot(id, 3), rival)).toBe("occupied");
      expect(await store.get(slot(id, 3))).toEqual(first);
    },
  },
  {
    title: "of racers for one key exactly one is told stored, and its value stays",
    run: async (store, scope) => {
      const id = scope.ledger();
      for (let round = 0; round < 8; round++) await race(store, scope, slot(id, round), 2 + (round % 4));
    },
  },
  {
    title: "rule 4: put replaces what is there, and stores where nothing is",
    run: async (store, scope) => {
      const id = scope.ledger();
      const recovered: StoreValue = { kind: "recovered", entry: scope.entry(id, 0) };
      await store.putIfAbsent(slot(id, 0), { kind: "tombstone" });
      await store.put(slot(id, 0), recovered);
      await store.put(slot(id, 1), recovered);
      expect(await store.get(slot(id, 0))).toEqual(recovered);
      expect(await store.get(slot(id, 1))).toEqual(recovered);
    },
  },
  {
    title: "absent is absent: neighbours, other ledgers, fence and slots are told apart",
    run: async (store, scope) => {
      const [id, other] = [scope.ledger(), scope.ledger()];
      await store.putIfAbsent(slot(id, 1), { kind: "tombstone" });
      for (const key of [slot(id, 0), slot(id, 2), slot(id, 11), slot(other, 1), fence(id), fence(other)]) {
        expect(await store.get(key)).toBeUndefined();
      }
      await store.put(fence(id), { kind: "fence" });
      expect(await store.get(fence(other))).toBeUndefined();
      expect(await store.get(slot(id, 1))).toEqual({ kind: "tombstone" });
    },
  },
  {
    title: "delete removes one key; an absent one is fine; the key can be stored again",
    run: async (store, scope) => {
      const id = scope.ledger();
      const [before, after] = [scope.entry(id, 0), scope.entry(id, 0)];
      await store.delete(slot(id, 0));
      await store.putIfAbsent(slot(id, 0), { kind: "original", entry: before });
      await store.putIfAbsent(slot(id, 1), { kind: "tombstone" });
      await store.delete(slot(id, 0));
      expect(await store.get(slot(id, 0))).toBeUndefined();
      expect(await store.get(slot(id, 1))).toEqual({ kind: "tombstone" });
      expect(await store.putIfAbsent(slot(id, 0), { kind: "original", entry: after })).toBe("stored");
      expect(await store.get(slot(id, 0))).toEqual({ kind: "original", entry: after });
    },
  },
  {
    title: "what was answered is seen by the next read, also among many writes at once",
    run: async (store, scope) => {
      const id = scope.ledger();
      await Promise.all(
        Array.from({ length: 12 }, async (_, index) => {
          const value: StoreValue = { kind: "original", entry: scope.entry(id, index) };
          expect(await store.putIfAbsent(slot(id, index), value)).toBe("stored");
          expect(sameValue(await store.get(slot(id, index)), value)).toBe(true);
          await store.put(fence(id), { kind: "fence" });
          expect(await store.get(fence(id))).toEqual({ kind: "fence" });
        }),
      );
    },
  },
  {
    title: "changing a value after it was given, or got, changes nothing stored",
    run: async (store, scope) => {
      const id = scope.ledger();
      const payload = Uint8Array.of(1, 2, 3);
      const entry = scope.entry(id, 0, { payload });
      const expected: StoreValue = {
        kind: "original",
        entry: { ...entry, payload: payload.slice(), digest: entry.digest.slice() },
      };
      const storing = store.putIfAbsent(slot(id, 0), { kind: "original", entry });
      await storing;
      payload.fill(99);
      entry.digest.fill(99);
      const got = await store.get(slot(id, 0));
      expect(got).toEqual(expected);
      if (got?.kind === "original") got.entry.payload.fill(77);
      expect(await store.get(slot(id, 0))).toEqual(expected);
    },
  },
  {
    title: "an entry of 2 MiB comes back whole",
    run: async (store, scope) => {
      const id = scope.ledger();
      const payload = new Uint8Array(2 * MIB);
      for (let index = 0; index < payload.length; index++)
        payload[index] = (index * 31 + (index >>> 9)) & 0xff;
      const value: StoreValue = { kind: "original", entry: scope.entry(id, 0, { payload }) };
      expect(await store.putIfAbsent(slot(id, 0), value)).toBe("stored");
      expect(sameValue(await store.get(slot(id, 0)), value)).toBe(true);
      expect(await store.putIfAbsent(slot(id, 0), { kind: "tombstone" })).toBe("occupied");
    },
  },
  {
    title: "the lowest and the highest ids are ids like others",
    fresh: true,
    run: async (store, scope) => {
      const max = Number.MAX_SAFE_INTEGER;
      for (const id of [ledgerId(0), ledgerId(2 ** 32), ledgerId(max)]) {
        for (const entry of [0, 2 ** 32, max]) {
          const value: StoreValue = { kind: "original", entry: scope.entry(id, entry) };
          expect(await store.putIfAbsent(slot(id, entry), value)).toBe("stored");
          expect(await store.get(slot(id, entry))).toEqual(value);
        }
        expect((await store.list({ ledgerId: id, limit: 10 })).keys).toEqual([
          slot(id, max),
          slot(id, 2 ** 32),
          slot(id, 0),
        ]);
      }
    },
  },
];

/** Racers bring contents that differ, as holders of different tenures do (rule 20). */
async function race(store: EntryStore, scope: Scope, key: StoreKey, racers: number): Promise<void> {
  if (key.kind !== "slot") throw new Error("racers race for slots");
  const values = Array.from(
    { length: racers },
    (): StoreValue => ({ kind: "original", entry: scope.entry(key.ledgerId, key.entryId) }),
  );
  const answers = await Promise.all(values.map((value) => store.putIfAbsent(key, value)));
  expect(answers.filter((answer) => answer === "stored")).toHaveLength(1);
  expect(await store.get(key)).toEqual(values[answers.indexOf("stored")]);
}

const slot = (id: StoreKeyLedger, entry: number): StoreKey => ({
  kind: "slot",
  ledgerId: id,
  entryId: entryId(entry),
});
const fence = (id: StoreKeyLedger): StoreKey => ({ kind: "fence", ledgerId: id });
type StoreKeyLedger = ReturnType<Scope["ledger"]>;
