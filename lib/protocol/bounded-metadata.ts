/**
 * A metadata store whose calls end: each waits a stated time, and reads, which change nothing, are tried
 * twice. A write is sent once; whoever wrote reads before it writes again (UPD2).
 */
import type { Clock } from "./clock.ts";
import { limits } from "./limits.ts";
import type { MetadataStore } from "./ports.ts";
import { withTimeout } from "./waiting.ts";

export function boundedMetadata(store: MetadataStore, clock: Clock): MetadataStore {
  const once = <T>(what: string, call: () => Promise<T>) =>
    withTimeout(clock, limits.metadataCallTimeoutMs, what, call);
  const twice = async <T>(what: string, call: () => Promise<T>): Promise<T> => {
    try {
      return await once(what, call);
    } catch {
      return await once(what, call);
    }
  };
  return {
    get: (key, consistency) => twice("metadata get", () => store.get(key, consistency)),
    query: (query, consistency) => twice("metadata query", () => store.query(query, consistency)),
    write: (key, expected, item, token) =>
      once("metadata write", () => store.write(key, expected, item, token)),
    remove: (key, expected) => once("metadata remove", () => store.remove(key, expected)),
  };
}
