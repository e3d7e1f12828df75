/** A bookie's storage in a LevelDB directory. Acknowledged means synced; kill -9 loses nothing answered. */
import {
  BEHIND_LEDGERS,
  behindPrefix,
  ledgerPrefix,
  objectKey,
  parseObjectKey,
} from "../../formats/object-keys.ts";
import { decodeStoreValue, encodeStoreValue } from "../../formats/store-value-format.ts";
import { assert } from "../../protocol/assert.ts";
import type { EntryStore, StoreKey, StoreListRequest, StorePage, StoreValue } from "../../protocol/ports.ts";
import { type LevelDatabase, levelFailure, openLevelDatabase } from "./level-database.ts";
import { SyncedBatches } from "./synced-batches.ts";

/** Every ledger's names start with a hexadecimal digit. */
const FIRST_LEDGER = "0";

export class LevelEntryStore implements EntryStore, AsyncDisposable {
  readonly #database: LevelDatabase;
  readonly #batches: SyncedBatches;

  private constructor(database: LevelDatabase) {
    this.#database = database;
    this.#batches = new SyncedBatches(database);
  }

  /** Opens or makes the store. Throws `unavailable` if the directory is in use or damaged. */
  static async open(directory: string): Promise<LevelEntryStore> {
    return new LevelEntryStore(await openLevelDatabase(directory, "entry-store"));
  }

  async putIfAbsent(key: StoreKey, value: StoreValue): Promise<"stored" | "occupied"> {
    const bytes = encodeStoreValue(value);
    return await this.#batches.submit(objectKey(key), (current) =>
      current === undefined
        ? { change: { kind: "put", value: bytes }, answer: "stored" }
        : { change: { kind: "keep" }, answer: "occupied" },
    );
  }

  async put(key: StoreKey, value: StoreValue): Promise<void> {
    const bytes = encodeStoreValue(value);
    await this.#batches.submit(objectKey(key), () => ({
      change: { kind: "put", value: bytes },
      answer: undefined,
    }));
  }

  async get(key: StoreKey): Promise<StoreValue | undefined> {
    const bytes = await this.#batches.get(objectKey(key));
    return bytes === undefined ? undefined : decodeStoreValue(bytes);
  }

  async delete(key: StoreKey): Promise<void> {
    await this.#batches.submit(objectKey(key), () => ({ change: { kind: "delete" }, answer: undefined }));
  }

  async list(request: StoreListRequest): Promise<StorePage> {
    const { limit } = request;
    assert(Number.isSafeInteger(limit) && limit >= 1, `a page has at least one key, got limit ${limit}`);
    const names = await this.#names(request, limit + 1);
    const page = names.slice(0, limit);
    // A name that this build does not know is not its to judge, or to sweep.
    const keys = page.map(parseObjectKey).filter((key) => key !== undefined);
    const last = page.at(-1);
    return names.length > limit && last !== undefined ? { keys, next: last } : { keys };
  }

  async close(): Promise<void> {
    await this.#batches.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #names(request: StoreListRequest, limit: number): Promise<string[]> {
    const prefix = request.ledgerId === undefined ? undefined : ledgerPrefix(request.ledgerId);
    const start = prefix ?? FIRST_LEDGER;
    try {
      return await this.#database
        .keys({
          ...(request.after === undefined || request.after < start ? { gte: start } : { gt: request.after }),
          lt: prefix === undefined ? BEHIND_LEDGERS : behindPrefix(prefix),
          limit,
        })
        .all();
    } catch (error) {
      throw levelFailure(`${this.#database.location} could not be listed`, error, "none");
    }
  }
}
