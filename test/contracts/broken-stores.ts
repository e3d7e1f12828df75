/**
 * Stores in memory that break their contract, each in one way. The contracts must catch every one of them;
 * a suite that cannot fail proves nothing.
 */
import { MemoryEntryStore } from "../../lib/adapters/memory/memory-entry-store.ts";
import { MemoryLeaseStore } from "../../lib/adapters/memory/memory-lease-store.ts";
import { MemoryMetadataStore } from "../../lib/adapters/memory/memory-metadata-store.ts";
import { objectKey } from "../../lib/formats/object-keys.ts";
import { region } from "../../lib/protocol/ids.ts";
import type { Item } from "../../lib/protocol/items.ts";
import type {
  EntryStore,
  LeaseStore,
  MetadataStore,
  StoreKey,
  StoreValue,
} from "../../lib/protocol/ports.ts";

/** By what is wrong with it. */
export type Broken<P> = Readonly<Record<string, () => P>>;

/** `methods` in place of those of `whole`; the others are those of `whole`. */
export function altered<P extends object>(whole: P, methods: Partial<P>): P {
  return new Proxy(whole, {
    get(_, name) {
      const own: unknown = Reflect.get(methods, name);
      if (own !== undefined) return own;
      const member: unknown = Reflect.get(whole, name, whole);
      return typeof member === "function" ? member.bind(whole) : member;
    },
  });
}

const later = () => new Promise<void>((resolve) => setImmediate(resolve));

export const brokenEntryStores: Broken<EntryStore> = {
  "put-if-absent looks first and stores later": () => {
    const whole = new MemoryEntryStore();
    return altered<EntryStore>(whole, {
      async putIfAbsent(key, value) {
        if ((await whole.get(key)) !== undefined) return "occupied";
        await later();
        await whole.put(key, value);
        return "stored";
      },
    });
  },
  "put-if-absent overwrites": () => {
    const whole = new MemoryEntryStore();
    return altered<EntryStore>(whole, {
      async putIfAbsent(key, value) {
        const answer = (await whole.get(key)) === undefined ? "stored" : "occupied";
        await whole.put(key, value);
        return answer;
      },
    });
  },
  "put-if-absent tells every racer stored": () => {
    const whole = new MemoryEntryStore();
    return altered<EntryStore>(whole, {
      async putIfAbsent(key, value) {
        await whole.putIfAbsent(key, value);
        return "stored";
      },
    });
  },
  "writes are acknowledged before they take effect": () => {
    const whole = new MemoryEntryStore();
    return altered<EntryStore>(whole, {
      async putIfAbsent(key, value) {
        if ((await whole.get(key)) !== undefined) return "occupied";
        setImmediate(() => void whole.putIfAbsent(key, value));
        return "stored";
      },
    });
  },
  "put keeps what was there": () => {
    const whole = new MemoryEntryStore();
    return altered<EntryStore>(whole, {
      async put(key, value) {
        await whole.putIfAbsent(key, value);
      },
    });
  },
  "delete does nothing": () => altered<EntryStore>(new MemoryEntryStore(), { delete: async () => undefined }),
  "values are shared with the caller": () => sharing(),
  "a Recovered copy reads back as an Original": () => {
    const whole = new MemoryEntryStore();
    return altered<EntryStore>(whole, {
      async get(key) {
        const value = await whole.get(key);
        return value?.kind === "recovered" ? { ...value, kind: "original" } : value;
      },
    });
  },
  "pages skip a key": () => {
    const whole = new MemoryEntryStore();
    return altered<EntryStore>(whole, {
      async list(request) {
        const page = await whole.list({ ...request, limit: request.limit + 1 });
        return page.next === undefined ? page : { ...page, keys: page.keys.slice(0, request.limit) };
      },
    });
  },
  "the lowest entry comes first": () => {
    const whole = new MemoryEntryStore();
    return altered<EntryStore>(whole, {
      async list(request) {
        const page = await whole.list(request);
        return { ...page, keys: [...page.keys].reverse() };
      },
    });
  },
  "the incarnation is listed": () => {
    const whole = new MemoryEntryStore();
    return altered<EntryStore>(whole, {
      async list(request) {
        const page = await whole.list(request);
        const isLast = request.ledgerId === undefined && page.next === undefined;
        return isLast ? { keys: [...page.keys, { kind: "incarnation" }] } : page;
      },
    });
  },
};

/** Keeps the very objects that it is given. */
function sharing(): EntryStore {
  const whole = new MemoryEntryStore();
  const values = new Map<string, StoreValue>();
  const keep = (key: StoreKey, value: StoreValue) => values.set(objectKey(key), value);
  return altered<EntryStore>(whole, {
    async putIfAbsent(key, value) {
      const answer = await whole.putIfAbsent(key, value);
      if (answer === "stored") keep(key, value);
      return answer;
    },
    async put(key, value) {
      await whole.put(key, value);
      keep(key, value);
    },
    async get(key) {
      return (await whole.get(key)) === undefined ? undefined : values.get(objectKey(key));
    },
  });
}

export const brokenMetadataStores: Broken<MetadataStore> = {
  "the version is ignored": () => {
    const whole = new MemoryMetadataStore();
    return altered<MetadataStore>(whole, {
      async write(key, expected, item, token) {
        const current = await whole.get(key, "consistent");
        if (expected === "absent" && current !== undefined) return { kind: "conflict" };
        return await whole.write(key, current?.version ?? "absent", item, token);
      },
    });
  },
  "the token is not part of the version": () => {
    const whole = new MemoryMetadataStore();
    return altered<MetadataStore>(whole, {
      async write(key, expected, item, token) {
        const current = await whole.get(key, "consistent");
        const same = expected !== "absent" && current?.version.revision === expected.revision;
        return await whole.write(key, same ? current.version : expected, item, token);
      },
    });
  },
  "the condition is checked first and the item written later": () => {
    const whole = new MemoryMetadataStore();
    return altered<MetadataStore>(whole, {
      async write(key, expected, item, token) {
        const seen = await whole.get(key, "consistent");
        await later();
        if (expected === "absent" ? seen !== undefined : seen?.version.token !== expected.token) {
          return { kind: "conflict" };
        }
        const current = await whole.get(key, "consistent");
        return await whole.write(key, current?.version ?? "absent", item, token);
      },
    });
  },
  "writes are acknowledged before they take effect": () => {
    const whole = new MemoryMetadataStore();
    return altered<MetadataStore>(whole, {
      async write(key, expected, item, token) {
        const revision = expected === "absent" ? 1 : expected.revision + 1;
        setImmediate(() => void whole.write(key, expected, item, token));
        return { kind: "written", version: { revision, token } };
      },
    });
  },
  "every write gets a token of the store's own": () => {
    const whole = new MemoryMetadataStore();
    let writes = 0;
    return altered<MetadataStore>(whole, {
      write: (key, expected, item, token) =>
        whole.write(key, expected, item, `${token}-${writes++}` as typeof token),
    });
  },
  "removal asks no version": () => {
    const whole = new MemoryMetadataStore();
    return altered<MetadataStore>(whole, {
      async remove(key) {
        const current = await whole.get(key, "consistent");
        if (current !== undefined) await whole.remove(key, current.version);
        return { kind: "removed" };
      },
    });
  },
  "queries order by the bytes of UTF-8": () => {
    const whole = new MemoryMetadataStore();
    return altered<MetadataStore>(whole, {
      async query(query, consistency) {
        const found = [...(await whole.query({ ...query, limit: 99_999 }, consistency))];
        found.sort((one, other) => Buffer.compare(Buffer.from(one.key.sort), Buffer.from(other.key.sort)));
        if (query.order === "descending") found.reverse();
        return found.slice(0, query.limit);
      },
    });
  },
  "the end of a range is left out": () => {
    const whole = new MemoryMetadataStore();
    return altered<MetadataStore>(whole, {
      query: async (query, consistency) =>
        (await whole.query(query, consistency)).filter(({ key }) => key.sort !== query.to),
    });
  },
  "the limit cuts before the order turns": () => {
    const whole = new MemoryMetadataStore();
    return altered<MetadataStore>(whole, {
      async query(query, consistency) {
        const found = await whole.query({ ...query, order: "ascending" }, consistency);
        return query.order === "ascending" ? found : [...found].reverse();
      },
    });
  },
  "consistent reads lag": () => {
    const whole = new MemoryMetadataStore({ statesMax: 1, statesBack: (_key, kept) => kept });
    return altered<MetadataStore>(whole, { get: (key) => whole.get(key, "stale") });
  },
  "an optional field is dropped": () => {
    const whole = new MemoryMetadataStore();
    return altered<MetadataStore>(whole, {
      write: (key, expected, item, token) => whole.write(key, expected, withoutOrigin(item), token),
    });
  },
};

function withoutOrigin(item: Item): Item {
  if (item.kind !== "ledger") return item;
  const { origin: _, ...rest } = item;
  return rest;
}

export const brokenLeaseStores: Broken<LeaseStore> = {
  "the holder is compared, not the version": () => {
    const whole = new MemoryLeaseStore();
    return altered<LeaseStore>(whole, {
      async write(log, expected, lease, token) {
        const current = await whole.read(log);
        const mine = current?.lease.holder === lease.holder ? current.version : expected;
        return await whole.write(log, mine, lease, token);
      },
    });
  },
  "the condition is checked first and the lease written later": () => {
    const whole = new MemoryLeaseStore();
    return altered<LeaseStore>(whole, {
      async write(log, expected, lease, token) {
        const seen = await whole.read(log);
        await later();
        if (expected === "absent" ? seen !== undefined : seen?.version.token !== expected.token) {
          return { kind: "conflict" };
        }
        return await whole.write(log, (await whole.read(log))?.version ?? "absent", lease, token);
      },
    });
  },
  "the revision alone is compared": () => {
    const whole = new MemoryLeaseStore();
    return altered<LeaseStore>(whole, {
      async write(log, expected, lease, token) {
        const current = await whole.read(log);
        const same = expected !== "absent" && current?.version.revision === expected.revision;
        return await whole.write(log, same ? current.version : expected, lease, token);
      },
    });
  },
  "failures are kept under the key of a lease": () => {
    const whole = new MemoryLeaseStore();
    return altered<LeaseStore>(whole, {
      async read(log) {
        const counted = await whole.readFailures(region(log));
        return (await whole.read(log)) ?? (counted === undefined ? undefined : (counted as never));
      },
    });
  },
  "a count goes over whatever is there": () => {
    const whole = new MemoryLeaseStore();
    return altered<LeaseStore>(whole, {
      async writeFailures(owner, _expected, failures, token) {
        const current = await whole.readFailures(owner);
        return await whole.writeFailures(owner, current?.version ?? "absent", failures, token);
      },
    });
  },
};
