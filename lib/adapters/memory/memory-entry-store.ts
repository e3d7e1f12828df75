/**
 * A bookie's storage in memory: for the simulator and for tests. Values are kept as their stored bytes, so
 * nothing that a caller holds is shared with the store, and the formats run as they do in production.
 * Each call takes effect at once, before it returns its promise.
 */
import { ledgerPrefix, objectKey, parseObjectKey } from "../../formats/object-keys.ts";
import { decodeStoreValue, encodeStoreValue } from "../../formats/store-value-format.ts";
import { assert, present } from "../../protocol/assert.ts";
import type { EntryStore, StoreKey, StoreListRequest, StorePage, StoreValue } from "../../protocol/ports.ts";
import { SortedMap } from "./sorted-map.ts";

/** Objects by name. */
type Objects = SortedMap<Uint8Array>;

export class MemoryEntryStore implements EntryStore {
  /** Each ledger's objects by their common prefix, so that a list sorts one ledger's names only. */
  readonly #ledgers = new SortedMap<Objects>();
  readonly #incarnation: Objects = new SortedMap();

  async putIfAbsent(key: StoreKey, value: StoreValue): Promise<"stored" | "occupied"> {
    const objects = this.#objectsBeside(key);
    const name = objectKey(key);
    if (objects.get(name) !== undefined) return "occupied";
    objects.set(name, encodeStoreValue(value));
    return "stored";
  }

  async put(key: StoreKey, value: StoreValue): Promise<void> {
    this.#objectsBeside(key).set(objectKey(key), encodeStoreValue(value));
  }

  async get(key: StoreKey): Promise<StoreValue | undefined> {
    const bytes = this.#objectsBeside(key).get(objectKey(key));
    // The decoded value is a view of the bytes; a copy keeps the stored ones out of the caller's hands.
    return bytes === undefined ? undefined : decodeStoreValue(bytes.slice());
  }

  async delete(key: StoreKey): Promise<void> {
    this.#objectsBeside(key).delete(objectKey(key));
  }

  async list(request: StoreListRequest): Promise<StorePage> {
    const { limit } = request;
    assert(Number.isSafeInteger(limit) && limit >= 1, `a page has at least one key, got limit ${limit}`);
    const names: string[] = [];
    for (const name of this.#names(request)) {
      names.push(name);
      if (names.length > limit) break;
    }
    const page = names.slice(0, limit);
    const keys = page.map((name) => present(parseObjectKey(name), `not a name of ours: ${name}`));
    const last = page.at(-1);
    return names.length > limit && last !== undefined ? { keys, next: last } : { keys };
  }

  *#names(request: StoreListRequest): Generator<string> {
    const { ledgerId, after } = request;
    const prefix = ledgerId === undefined ? undefined : ledgerPrefix(ledgerId);
    const ledgers = prefix === undefined ? {} : { from: prefix, to: prefix };
    for (const [, objects] of this.#ledgers.walk(ledgers, "ascending")) {
      for (const [name] of objects.walk(after === undefined ? {} : { after }, "ascending")) yield name;
    }
  }

  /** The objects that `key`'s object is, or would be, one of. */
  #objectsBeside(key: StoreKey): Objects {
    if (key.kind === "incarnation") return this.#incarnation;
    const prefix = ledgerPrefix(key.ledgerId);
    let objects = this.#ledgers.get(prefix);
    if (objects === undefined) {
      objects = new SortedMap();
      this.#ledgers.set(prefix, objects);
    }
    return objects;
  }
}
