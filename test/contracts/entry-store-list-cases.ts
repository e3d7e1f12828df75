/** Listing: the order that ports.ts states, and pages without gap or repeat. */
import { expect } from "vitest";
import { entryId, type LedgerId } from "../../lib/protocol/ids.ts";
import type { EntryStore, StoreKey, StoreListRequest } from "../../lib/protocol/ports.ts";
import type { ContractCase } from "./contract.ts";

const TOMBSTONE = { kind: "tombstone" } as const;

export const listCases: readonly ContractCase<EntryStore>[] = [
  {
    title: "a ledger's list is its slots, highest entry first, then its fence, and nothing else",
    run: async (store, scope) => {
      const [id, other] = [scope.ledger(), scope.ledger()];
      await store.put({ kind: "fence", ledgerId: id }, { kind: "fence" });
      for (const entry of [0, 9, 10, 2, 99, 100]) await store.putIfAbsent(slot(id, entry), TOMBSTONE);
      await store.putIfAbsent(slot(other, 5), TOMBSTONE);
      const expected = [...[100, 99, 10, 9, 2, 0].map((entry) => slot(id, entry)), fence(id)];
      expect(await store.list({ ledgerId: id, limit: 100 })).toEqual({ keys: expected });
      expect(await keysOf(store, { ledgerId: id, limit: 2 })).toEqual(expected);
    },
  },
  {
    title: "an unknown ledger's list is one empty page",
    run: async (store, scope) => {
      expect(await store.list({ ledgerId: scope.ledger(), limit: 5 })).toEqual({ keys: [] });
    },
  },
  {
    title: "a page that ends with the last key names no next one",
    run: async (store, scope) => {
      const id = scope.ledger();
      for (const entry of [0, 1, 2]) await store.putIfAbsent(slot(id, entry), TOMBSTONE);
      expect((await store.list({ ledgerId: id, limit: 3 })).next).toBeUndefined();
      const first = await store.list({ ledgerId: id, limit: 2 });
      expect(first.keys).toEqual([slot(id, 2), slot(id, 1)]);
      const second = await store.list({ ledgerId: id, limit: 2, ...after(first.next) });
      expect(second).toEqual({ keys: [slot(id, 0)] });
    },
  },
  {
    title: "keys deleted or stored between two pages disturb no other key",
    run: async (store, scope) => {
      const id = scope.ledger();
      for (let entry = 0; entry < 10; entry++) await store.putIfAbsent(slot(id, entry), TOMBSTONE);
      const first = await store.list({ ledgerId: id, limit: 4 });
      // A sweep deletes a page before it asks for the next (rule 15).
      for (const key of first.keys) await store.delete(key);
      await store.putIfAbsent(slot(id, 50), TOMBSTONE);
      const rest = await keysOf(store, { ledgerId: id, limit: 4, ...after(first.next) });
      expect(rest).toEqual([5, 4, 3, 2, 1, 0].map((entry) => slot(id, entry)));
    },
  },
  {
    title: "many keys of one ledger in pages: no gap, no repeat, the highest entry first",
    heavy: true,
    run: async (store, scope) => {
      const id = scope.ledger();
      const { many } = scope;
      await inParallel(many, (index) => store.putIfAbsent(slot(id, shuffled(index, many)), TOMBSTONE));
      await store.put(fence(id), { kind: "fence" });
      const keys = await keysOf(store, { ledgerId: id, limit: 999 });
      const entries = keys.slice(0, -1).map((key) => (key.kind === "slot" ? key.entryId : -1));
      expect(keys.at(-1)).toEqual(fence(id));
      expect(entries).toEqual(Array.from({ length: many }, (_, index) => many - 1 - index));
    },
  },
  {
    title: "the whole store's list has each key of each ledger once, and not the incarnation",
    fresh: true,
    heavy: true,
    run: async (store, scope) => {
      await store.putIfAbsent({ kind: "incarnation" }, { kind: "incarnation", storage: "s1" });
      const ledgers = Array.from({ length: 30 }, () => scope.ledger());
      const expected = ledgers.flatMap((id) => [slot(id, 2), slot(id, 1), slot(id, 0), fence(id)]);
      await inParallel(expected.length, async (index) => {
        const key = expected[index];
        if (key?.kind === "slot") await store.putIfAbsent(key, TOMBSTONE);
        if (key?.kind === "fence") await store.put(key, { kind: "fence" });
      });
      const keys = await keysOf(store, { limit: 7 });
      expect(keys).toHaveLength(expected.length);
      expect(new Set(keys.map(shown))).toEqual(new Set(expected.map(shown)));
      for (const id of ledgers) {
        const own = keys.filter((key) => key.kind !== "incarnation" && key.ledgerId === id);
        expect(own).toEqual([slot(id, 2), slot(id, 1), slot(id, 0), fence(id)]);
      }
    },
  },
];

/** Every key, page after page. */
async function keysOf(store: EntryStore, request: StoreListRequest): Promise<StoreKey[]> {
  const keys: StoreKey[] = [];
  let next = request.after;
  do {
    const page = await store.list({ ...request, ...after(next) });
    expect(page.keys.length).toBeLessThanOrEqual(request.limit);
    keys.push(...page.keys);
    next = page.next;
  } while (next !== undefined && keys.length < 20_000);
  return keys;
}

/** Each below `many` once, in no order: the prime divides none of the numbers used. */
function shuffled(index: number, many: number): number {
  return (index * 7_919) % many;
}

/** Calls in waves of a hundred. */
async function inParallel(count: number, call: (index: number) => Promise<unknown>): Promise<void> {
  for (let start = 0; start < count; start += 100) {
    const wave = Math.min(100, count - start);
    await Promise.all(Array.from({ length: wave }, (_, offset) => call(start + offset)));
  }
}

const after = (next: string | undefined) => (next === undefined ? {} : { after: next });
const slot = (id: LedgerId, entry: number): StoreKey => ({
  kind: "slot",
  ledgerId: id,
  entryId: entryId(entry),
});
const fence = (id: LedgerId): StoreKey => ({ kind: "fence", ledgerId: id });
const shown = (key: StoreKey): string => JSON.stringify(key);
