/** An entry store's caller that copes with lost replies. */
import { sameBytes } from "../../lib/protocol/entry.ts";
import type { EntryStore, StoreValue } from "../../lib/protocol/ports.ts";
import { untilAnswered } from "./contract.ts";
import { LostReply } from "./lost-replies.ts";

/**
 * Asks until it is answered. What became of a put-if-absent is read from the slot: its own
 * content there means that it won (rule 2), so rivals in a case bring contents that differ.
 */
export function persistentEntryStore(store: EntryStore): EntryStore {
  const get: EntryStore["get"] = (key) => untilAnswered(() => store.get(key));
  return {
    get,
    async putIfAbsent(key, value) {
      try {
        return await store.putIfAbsent(key, value);
      } catch (error) {
        if (!(error instanceof LostReply)) throw error;
        const found = await get(key);
        if (found === undefined) return await untilAnswered(() => store.putIfAbsent(key, value));
        return sameValue(found, value) ? "stored" : "occupied";
      }
    },
    put: (key, value) => untilAnswered(() => store.put(key, value)),
    delete: (key) => untilAnswered(() => store.delete(key)),
    list: (request) => untilAnswered(() => store.list(request)),
  };
}

/** Whether two values are the same in every byte. */
export function sameValue(one: StoreValue | undefined, other: StoreValue | undefined): boolean {
  if (one === undefined || other === undefined) return one === other;
  if (one.kind === "incarnation") return other.kind === "incarnation" && one.storage === other.storage;
  if (one.kind === "fence" || one.kind === "tombstone") return one.kind === other.kind;
  if (other.kind !== one.kind) return false;
  return (
    JSON.stringify(one.entry.header) === JSON.stringify(other.entry.header) &&
    sameBytes(one.entry.digest, other.entry.digest) &&
    sameBytes(one.entry.payload, other.entry.payload)
  );
}
