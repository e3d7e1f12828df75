/**
 * The stores of an embedded cloud in its data directory: one for metadata, two bookies' in each region. The
 * writer leases of a region will have a store of their own beside its bookies'.
 */
import { join } from "node:path";
import { LevelEntryStore } from "../adapters/level/level-entry-store.ts";
import { LevelMetadataStore } from "../adapters/level/level-metadata-store.ts";
import { SystemRandom } from "../adapters/node/system-random.ts";
import { StoredBookie, setUpStorage } from "../protocol/bookie/stored-bookie.ts";
import { type DeploymentItem, deploymentKey } from "../protocol/items.ts";
import type { BookieAddress } from "../protocol/place.ts";
import type { Bookie, Clock, EntryStore, MetadataStore } from "../protocol/ports.ts";
import { updateItem } from "../protocol/update-item.ts";
import {
  addressOf,
  type BookieRecord,
  bookieDir,
  type CloudFile,
  markSetUp,
  openCloudFile,
} from "./cloud-file.ts";
import { LocalError } from "./local-error.ts";

export interface StorageBookie {
  readonly address: BookieAddress;
  readonly bookie: Bookie;
  /** False: its storage came back empty or foreign, and its answers count for nothing (rule 21). */
  readonly isKnown: boolean;
}

interface Closable {
  close(): Promise<void>;
}

export class CloudStorage {
  private constructor(
    readonly file: CloudFile,
    readonly metadata: MetadataStore,
    readonly bookies: readonly StorageBookie[],
    private readonly open: readonly Closable[],
  ) {}

  /** Throws LocalError if another process has the directory, or if it was made with other regions. */
  static async open(
    dataDir: string,
    regions: readonly string[] | undefined,
    clock: Clock,
  ): Promise<CloudStorage> {
    const opened: Closable[] = [];
    try {
      // First, because its lock keeps two processes from one directory.
      const metadata = await LevelMetadataStore.open(join(dataDir, "metadata"));
      opened.push(metadata);
      const file = await openCloudFile(dataDir, regions, new SystemRandom());
      const bookies: StorageBookie[] = [];
      for (const record of file.bookies) {
        const store = await LevelEntryStore.open(bookieDir(dataDir, record));
        opened.push(store);
        bookies.push(await storageBookie(record, store, file, clock));
      }
      if (!file.setUp) await markSetUp(dataDir, file);
      await checkDeployment(metadata);
      return new CloudStorage(file, metadata, bookies, opened);
    } catch (error) {
      for (const store of opened) await store.close();
      throw error instanceof LocalError ? error : cannotOpen(dataDir, error);
    }
  }

  async close(): Promise<void> {
    for (const store of this.open) await store.close();
  }
}

async function storageBookie(
  record: BookieRecord,
  store: EntryStore,
  file: CloudFile,
  clock: Clock,
): Promise<StorageBookie> {
  const { storage } = record;
  if (!file.setUp) await setUpStorage(store, storage);
  const marker = await store.get({ kind: "incarnation" });
  const address = addressOf(record);
  return {
    address,
    bookie: new StoredBookie({ id: address.id, storage, store, clock }),
    isKnown: marker?.kind === "incarnation" && marker.storage === storage,
  };
}

/** The deployment says how its metadata works; a directory made another way is not written to. */
async function checkDeployment(metadata: MetadataStore): Promise<void> {
  const wanted: DeploymentItem = { kind: "deployment", metadataMode: "strong" };
  const random = new SystemRandom();
  const { stored } = await updateItem({ metadata, random }, deploymentKey, (current) =>
    current === undefined ? { kind: "write", item: wanted } : { kind: "keep" },
  );
  if (stored?.item.kind === "deployment" && stored.item.metadataMode === "strong") return;
  throw new LocalError(
    `this data was made for another metadata mode than strong: ${JSON.stringify(stored?.item)}`,
  );
}

function cannotOpen(dataDir: string, error: unknown): LocalError {
  const message = error instanceof Error ? error.message : String(error);
  return new LocalError(
    `no cloud can run on ${dataDir}: ${message}. Another directory is named with --data.`,
  );
}
