/**
 * Whether a store takes writes, as far as the last one shows: a full disk refuses them, and goes on serving
 * reads.
 *
 * WW1 Without a write nobody can say whether it takes one again, so a failure counts for a while only.
 */
import { Age, type Clocks } from "../protocol/deadline.ts";
import type { EntryStore, LeaseStore, MetadataStore } from "../protocol/ports.ts";

const FAILURE_KEPT_MS = 30_000;

export class WriteWatch {
  #failure: { readonly words: string; readonly age: Age } | undefined;

  constructor(private readonly clock: Clocks) {}

  /** Why the last write failed, in words; undefined if it did not, or was long ago (WW1). */
  get failure(): string | undefined {
    return this.#failure?.age.isWithin(FAILURE_KEPT_MS) === true ? this.#failure.words : undefined;
  }

  async of<T>(write: Promise<T>): Promise<T> {
    try {
      const answer = await write;
      this.#failure = undefined;
      return answer;
    } catch (error) {
      const words = error instanceof Error ? error.message : String(error);
      this.#failure = { words, age: new Age(this.clock) };
      throw error;
    }
  }
}

export function watchedEntries(store: EntryStore, watch: WriteWatch): EntryStore {
  return {
    get: (key, signal) => store.get(key, signal),
    list: (request) => store.list(request),
    putIfAbsent: (key, value) => watch.of(store.putIfAbsent(key, value)),
    put: (key, value) => watch.of(store.put(key, value)),
    delete: (key) => store.delete(key),
  };
}

export function watchedMetadata(store: MetadataStore, watch: WriteWatch): MetadataStore {
  return {
    get: (key, consistency) => store.get(key, consistency),
    query: (query, consistency) => store.query(query, consistency),
    write: (...given) => watch.of(store.write(...given)),
    remove: (key, expected) => store.remove(key, expected),
  };
}

export function watchedLeases(store: LeaseStore, watch: WriteWatch): LeaseStore {
  return {
    read: (log) => store.read(log),
    write: (...given) => watch.of(store.write(...given)),
    readFailures: (owner) => store.readFailures(owner),
    writeFailures: (...given) => watch.of(store.writeFailures(...given)),
  };
}
