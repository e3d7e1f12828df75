/**
 * Metadata in a LevelDB directory. Acknowledged means synced; kill -9 loses nothing answered. There is one
 * copy, so a stale read sees what a consistent one does.
 */
import { decodeItemKey, encodeItemKey, partitionBounds } from "../../formats/item-key-format.ts";
import { decodeItem, encodeItem } from "../../formats/metadata-item-format.ts";
import { decodeVersioned } from "../../formats/version-format.ts";
import { assert } from "../../protocol/assert.ts";
import type { WriteToken } from "../../protocol/ids.ts";
import type { Item, ItemKey, Version } from "../../protocol/items.ts";
import type {
  ItemQuery,
  MetadataConsistency,
  MetadataStore,
  Versioned,
  WriteAnswer,
} from "../../protocol/ports.ts";
import { checked } from "./checked-value.ts";
import { type LevelDatabase, levelFailure, openLevelDatabase } from "./level-database.ts";
import { SyncedBatches } from "./synced-batches.ts";
import { conditionalRemoval, conditionalWrite } from "./versioned-bytes.ts";

export class LevelMetadataStore implements MetadataStore, AsyncDisposable {
  readonly #database: LevelDatabase;
  readonly #batches: SyncedBatches;

  private constructor(database: LevelDatabase) {
    this.#database = database;
    this.#batches = new SyncedBatches(database);
  }

  /** Opens or makes the store. Throws `unavailable` if the directory is in use or damaged. */
  static async open(directory: string): Promise<LevelMetadataStore> {
    return new LevelMetadataStore(await openLevelDatabase(directory, "metadata-store"));
  }

  async get(key: ItemKey, _consistency: MetadataConsistency): Promise<Versioned | undefined> {
    const bytes = await this.#batches.get(encodeItemKey(key));
    return bytes === undefined ? undefined : versioned(key, bytes);
  }

  async write(
    key: ItemKey,
    expected: Version | "absent",
    item: Item,
    token: WriteToken,
  ): Promise<WriteAnswer> {
    const json = encodeItem(item);
    // What could not be read again must not be written: it would block its key for good.
    decodeItem(json);
    return await this.#batches.submit(encodeItemKey(key), conditionalWrite(expected, json, token));
  }

  async remove(key: ItemKey, expected: Version): Promise<{ readonly kind: "removed" | "conflict" }> {
    return await this.#batches.submit(encodeItemKey(key), conditionalRemoval(expected));
  }

  async query(query: ItemQuery, _consistency: MetadataConsistency): Promise<readonly Versioned[]> {
    const found = await this.#range(query);
    return found.map(([name, bytes]) => versioned(decodeItemKey(name), checked(name, bytes)));
  }

  async close(): Promise<void> {
    await this.#batches.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #range(query: ItemQuery): Promise<[string, Uint8Array][]> {
    const { partition, from, to, order, limit } = query;
    assert(Number.isSafeInteger(limit) && limit >= 1, `a query asks for at least one item, got ${limit}`);
    const bounds = partitionBounds(partition);
    try {
      return await this.#database
        .iterator({
          gte: from === undefined ? bounds.from : encodeItemKey({ partition, sort: from }),
          ...(to === undefined ? { lt: bounds.before } : { lte: encodeItemKey({ partition, sort: to }) }),
          reverse: order === "descending",
          limit,
        })
        .all();
    } catch (error) {
      throw levelFailure(`${this.#database.location} could not be queried`, error, "none");
    }
  }
}

function versioned(key: ItemKey, bytes: Uint8Array): Versioned {
  const { version, value } = decodeVersioned(bytes);
  return { key, item: decodeItem(value), version };
}
