/** The entry store as one instance of a bookie sees it: the bookie's storage at the end of a message path. */
import { unavailable } from "../../lib/protocol/errors.ts";
import type {
  EntryStore,
  StoreKey,
  StoreListRequest,
  StorePage,
  StoreValue,
} from "../../lib/protocol/ports.ts";
import type { BookieStorage } from "./bookie-storage.ts";
import type { MessagePath } from "./message-path.ts";

export class EntryStorePath implements EntryStore {
  constructor(
    private readonly path: MessagePath,
    private readonly storage: BookieStorage,
  ) {}

  putIfAbsent(key: StoreKey, value: StoreValue): Promise<"stored" | "occupied"> {
    return this.#operate((storage) => storage.putIfAbsent(key, value));
  }

  put(key: StoreKey, value: StoreValue): Promise<void> {
    return this.#operate((storage) => storage.put(key, value));
  }

  get(key: StoreKey): Promise<StoreValue | undefined> {
    return this.#operate((storage) => storage.get(key));
  }

  delete(key: StoreKey): Promise<void> {
    return this.#operate((storage) => storage.delete(key));
  }

  /** A stale listing lacks the highest entries: listings are hints. */
  list(request: StoreListRequest): Promise<StorePage> {
    return this.#operate((storage, staleMs) => {
      const page = storage.list(request);
      return staleMs > 0 ? { ...page, keys: page.keys.slice(1 + (Math.floor(staleMs) % 3)) } : page;
    });
  }

  #operate<T>(act: (storage: BookieStorage, staleMs: number) => T): Promise<T> {
    return this.path.call<T>((service, reply) => {
      if (this.storage.offline) return reply.fail(unavailable("storage is offline", "none"));
      if (!service.effect) return reply.fail(service.failure);
      const result = act(this.storage, service.staleMs);
      if (service.failure === undefined) reply.answer(result);
      else reply.fail(service.failure);
    });
  }
}
