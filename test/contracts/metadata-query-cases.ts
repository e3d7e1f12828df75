/** Ordered queries within one partition. */
import { expect } from "vitest";
import { logName } from "../../lib/protocol/ids.ts";
import type { DirectoryItem } from "../../lib/protocol/items.ts";
import type { ItemQuery, MetadataStore } from "../../lib/protocol/ports.ts";
import type { ContractCase } from "./contract.ts";
import type { Scope } from "./scope.ts";

/**
 * Characters of every kind. By code unit those beyond U+FFFF (written as two units from U+D800 on) come
 * before U+E000 to U+FFFF; by the bytes of UTF-8 they would come behind.
 */
const oddSortKeys = [
  ..."!0AB~az",
  "a!",
  "aa",
  "\u00e4", // a with diaeresis
  "\u03c0", // pi
  "\u65e5", // a Han character
  "\ud7ff", // the last before the surrogates
  "\u{10000}",
  "\u{1f600}",
  "\u{10ffff}",
  "\ue000", // the first behind the surrogates
  "\ufb01", // the ligature fi
  "\ufffd",
].sort();

export const queryCases: readonly ContractCase<MetadataStore>[] = [
  {
    title: "a query gives items with keys and versions, in order, from and to included",
    run: async (store, scope) => {
      const partition = await filled(store, scope, ["b", "a", "d", "c", "e"]);
      const ask = (query: Partial<ItemQuery>) =>
        sorts(store, { partition, order: "ascending", limit: 9, ...query });
      expect(await ask({})).toEqual(["a", "b", "c", "d", "e"]);
      expect(await ask({ order: "descending" })).toEqual(["e", "d", "c", "b", "a"]);
      expect(await ask({ from: "b", to: "d" })).toEqual(["b", "c", "d"]);
      expect(await ask({ from: "b", to: "d", order: "descending" })).toEqual(["d", "c", "b"]);
      expect(await ask({ from: "bb", to: "cc" })).toEqual(["c"]);
      expect(await ask({ from: "d" })).toEqual(["d", "e"]);
      expect(await ask({ to: "b" })).toEqual(["a", "b"]);
      expect(await ask({ from: "x" })).toEqual([]);
      expect(await ask({ from: "d", to: "b" })).toEqual([]);
      const [first] = await store.query({ partition, order: "ascending", limit: 1 }, "consistent");
      expect(first).toEqual(await store.get({ partition, sort: "a" }, "consistent"));
    },
  },
  {
    title: "a limit cuts at the end that the order comes to last",
    run: async (store, scope) => {
      const partition = await filled(store, scope, ["a", "b", "c", "d"]);
      const ask = (query: Partial<ItemQuery>) =>
        sorts(store, { partition, order: "ascending", limit: 2, ...query });
      expect(await ask({})).toEqual(["a", "b"]);
      expect(await ask({ order: "descending" })).toEqual(["d", "c"]);
      expect(await ask({ from: "b" })).toEqual(["b", "c"]);
      expect(await ask({ to: "c", order: "descending" })).toEqual(["c", "b"]);
      expect(await ask({ to: "c", order: "descending", limit: 1 })).toEqual(["c"]);
    },
  },
  {
    title: "partitions whose names begin alike are apart",
    run: async (store, scope) => {
      const partition = await filled(store, scope, ["a"]);
      for (const other of [`${partition}0`, `${partition} `, `${partition}é`, partition.slice(0, -1)]) {
        await put(store, scope, other, "b");
      }
      expect(await sorts(store, { partition, order: "ascending", limit: 9 })).toEqual(["a"]);
      expect(await sorts(store, { partition, order: "descending", limit: 9 })).toEqual(["a"]);
    },
  },
  {
    title: "sort keys of any script are ordered by code unit",
    heavy: true,
    run: async (store, scope) => {
      const expected = oddSortKeys;
      const partition = await filled(store, scope, [...expected].reverse());
      const ask = (query: Partial<ItemQuery>) =>
        sorts(store, { partition, order: "ascending", limit: 99, ...query });
      expect(await ask({})).toEqual(expected);
      expect(await ask({ order: "descending" })).toEqual([...expected].reverse());
      for (const [index, key] of expected.entries()) {
        expect(await ask({ from: key })).toEqual(expected.slice(index));
        expect(await ask({ to: key })).toEqual(expected.slice(0, index + 1));
      }
    },
  },
  {
    title: "a write or a removal that was answered is in the next consistent query",
    run: async (store, scope) => {
      const partition = scope.partition();
      const ask = () => sorts(store, { partition, order: "descending", limit: 1 });
      for (const sort of ["a", "b", "c"]) {
        await put(store, scope, partition, sort);
        expect(await ask()).toEqual([sort]);
      }
      const found = await store.get({ partition, sort: "c" }, "consistent");
      if (found !== undefined) await store.remove(found.key, found.version);
      expect(await ask()).toEqual(["b"]);
    },
  },
  {
    title: "a stale query gives only items that were there at some time",
    run: async (store, scope) => {
      const partition = await filled(store, scope, ["a", "b", "c"]);
      const items = await store.query({ partition, order: "ascending", limit: 9 }, "stale");
      for (const { key, item } of items) expect(item).toEqual(directoryItem(key.sort));
    },
  },
  {
    title: "many items in pages, up and down: no gap, no repeat, in order",
    heavy: true,
    run: async (store, scope) => {
      const partition = scope.partition();
      const names = Array.from({ length: scope.many }, (_, index) =>
        String((index * 7_919) % scope.many).padStart(6, "0"),
      );
      for (let start = 0; start < names.length; start += 100) {
        const wave = names.slice(start, start + 100);
        await Promise.all(wave.map((sort) => put(store, scope, partition, sort)));
      }
      names.sort();
      expect(await allPages(store, partition, "ascending")).toEqual(names);
      expect(await allPages(store, partition, "descending")).toEqual(names.reverse());
    },
  },
];

/** Each page starts from the last key of the one before, which it repeats. */
async function allPages(
  store: MetadataStore,
  partition: string,
  order: ItemQuery["order"],
): Promise<string[]> {
  const found: string[] = [];
  for (;;) {
    const last = found.at(-1);
    const bound = last === undefined ? {} : order === "ascending" ? { from: last } : { to: last };
    const page = await sorts(store, { partition, order, limit: 1_000, ...bound });
    const fresh = page.filter((sort) => sort !== last);
    if (fresh.length === 0) return found;
    found.push(...fresh);
  }
}

async function filled(store: MetadataStore, scope: Scope, keys: readonly string[]): Promise<string> {
  const partition = scope.partition();
  for (const sort of keys) await put(store, scope, partition, sort);
  return partition;
}

async function put(store: MetadataStore, scope: Scope, partition: string, sort: string): Promise<void> {
  const answer = await store.write({ partition, sort }, "absent", directoryItem(sort), scope.token());
  if (answer.kind !== "written") throw new Error(`${partition} ${sort} is there already`);
}

async function sorts(store: MetadataStore, query: ItemQuery): Promise<string[]> {
  const items = await store.query(query, "consistent");
  const strays = items.filter(
    ({ key, item }) =>
      key.partition !== query.partition || item.kind !== "directory" || item.name !== key.sort,
  );
  expect(strays).toEqual([]);
  return items.map(({ key }) => key.sort);
}

const directoryItem = (sort: string): DirectoryItem => ({ kind: "directory", name: logName(sort) });
