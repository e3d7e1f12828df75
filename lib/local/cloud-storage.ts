/**
 * The stores of an embedded cloud in its data directory: one for metadata, one for each bookie.
 *
 * CS1 Bookies are added in three steps: named in the file as new, their storage set up, named as set up. Only
 *     then are they registered, and so known to placement. Whatever is left undone is done at the next start.
 */
import { join } from "node:path";
import { LevelEntryStore } from "../adapters/level/level-entry-store.ts";
import { LevelMetadataStore } from "../adapters/level/level-metadata-store.ts";
import { SystemRandom } from "../adapters/node/system-random.ts";
import { StoredBookie, setUpStorage } from "../protocol/bookie/stored-bookie.ts";
import type { Clock } from "../protocol/deadline.ts";
import { type DeploymentItem, deploymentKey } from "../protocol/items.ts";
import { registerBookie } from "../protocol/placement/registry.ts";
import type { Bookie, EntryStore, MetadataStore } from "../protocol/ports.ts";
import type { BookieAddress } from "../protocol/replication.ts";
import { updateItem } from "../protocol/update-item.ts";
import {
  addressOf,
  type BookieRecord,
  bookieDir,
  type CloudFile,
  openCloudFile,
  takeDataDir,
  withSetUp,
  writeCloudFile,
} from "./cloud-file.ts";
import { readControlFile } from "./control-file.ts";
import { LocalError } from "./local-error.ts";
import { asSlowAsObjects } from "./object-store-latency.ts";
import { WriteWatch, watchedEntries, watchedMetadata } from "./write-watch.ts";

export interface StorageBookie {
  readonly address: BookieAddress;
  readonly bookie: Bookie;
  readonly writes: WriteWatch;
  /** False: its storage came back empty or foreign, and its answers count for nothing (rule 21). */
  readonly isKnown: boolean;
}

interface StorageFields {
  readonly clock: Clock;
  /** Entry stores take as long as S3. */
  readonly wan: boolean;
}

interface Closable {
  close(): Promise<void>;
}

export class CloudStorage {
  #file: CloudFile;
  readonly #bookies: StorageBookie[] = [];
  readonly #random = new SystemRandom();
  readonly metadata: MetadataStore;
  readonly metadataWrites: WriteWatch;

  private constructor(
    file: CloudFile,
    metadata: MetadataStore,
    private readonly where: StorageFields & { readonly dataDir: string },
    private readonly open: Closable[],
  ) {
    this.#file = file;
    this.metadataWrites = new WriteWatch(where.clock);
    this.metadata = watchedMetadata(metadata, this.metadataWrites);
  }

  /** Throws LocalError if another process has the directory, or if it has other regions. */
  static async open(
    dataDir: string,
    regions: readonly string[] | undefined,
    how: StorageFields,
  ): Promise<CloudStorage> {
    const opened: Closable[] = [];
    try {
      await takeDataDir(dataDir);
      // First, because its lock keeps two processes from one directory.
      const metadata = await LevelMetadataStore.open(join(dataDir, "metadata"));
      opened.push(metadata);
      const file = await openCloudFile(dataDir, regions, new SystemRandom());
      const storage = new CloudStorage(file, metadata, { dataDir, ...how }, opened);
      await checkDeployment(metadata);
      await storage.#openBookies(file.bookies);
      return storage;
    } catch (error) {
      for (const store of opened) await store.close();
      throw error instanceof LocalError ? error : await cannotOpen(dataDir, error);
    }
  }

  get file(): CloudFile {
    return this.#file;
  }

  get bookies(): readonly StorageBookie[] {
    return this.#bookies;
  }

  /**
   * Adds bookies, and regions that are not there yet; the caller registers them (CS1). After an error they
   * may be added or not; the next start completes what the file names.
   */
  async add(records: readonly BookieRecord[], replicas: number): Promise<readonly StorageBookie[]> {
    const added = records.map((record) => ({ ...record, new: true as const }));
    const regions = [...new Set([...this.#file.regions, ...records.map((record) => record.region)])];
    const bookies = [...this.#file.bookies, ...added];
    await this.#write({ ...this.#file, regions, bookies, replicas });
    return await this.#openBookies(added);
  }

  /** Makes bookies known to placement. Those that are known keep the state that an operator gave them. */
  async register(bookies: readonly StorageBookie[]): Promise<void> {
    const ports = { metadata: this.metadata, random: this.#random };
    for (const { address } of bookies) await registerBookie(ports, address);
  }

  async close(): Promise<void> {
    for (const store of this.open) await store.close();
  }

  async #openBookies(records: readonly BookieRecord[]): Promise<readonly StorageBookie[]> {
    const opened: StorageBookie[] = [];
    for (const record of records) {
      const store = await LevelEntryStore.open(bookieDir(this.where.dataDir, record));
      this.open.push(store);
      // CF2
      if (record.new === true || !this.#file.setUp) await setUpStorage(store, record.storage);
      opened.push(await storageBookie(record, store, this.where));
    }
    const done = withSetUp(this.#file, records);
    if (JSON.stringify(done) !== JSON.stringify(this.#file)) await this.#write(done);
    this.#bookies.push(...opened);
    return opened;
  }

  async #write(file: CloudFile): Promise<void> {
    await writeCloudFile(this.where.dataDir, file);
    this.#file = file;
  }
}

async function storageBookie(
  record: BookieRecord,
  local: EntryStore,
  { clock, wan }: StorageFields,
): Promise<StorageBookie> {
  const { storage } = record;
  const writes = new WriteWatch(clock);
  const watched = watchedEntries(local, writes);
  const store = wan ? asSlowAsObjects(watched, { clock, random: new SystemRandom() }) : watched;
  const marker = await store.get({ kind: "incarnation" });
  const address = addressOf(record);
  return {
    address,
    bookie: new StoredBookie({ id: address.id, storage, store, clock }),
    writes,
    isKnown: marker?.kind === "incarnation" && marker.storage === storage,
  };
}

/** The deployment says how its metadata works; a directory made another way is not written to. */
async function checkDeployment(metadata: MetadataStore): Promise<void> {
  const wanted: DeploymentItem = { kind: "deployment", metadataMode: "strong" };
  const random = new SystemRandom();
  const { stored } = await updateItem({ metadata, random }, deploymentKey, (current) =>
    current === undefined ? wanted : undefined,
  );
  if (stored?.item.kind === "deployment" && stored.item.metadataMode === "strong") return;
  throw new LocalError(
    `this data was made for another metadata mode than strong: ${JSON.stringify(stored?.item)}`,
  );
}

async function cannotOpen(dataDir: string, error: unknown): Promise<LocalError> {
  const message = error instanceof Error ? error.message : String(error);
  const isHeld = /\bin use\b/.test(message);
  const holder = isHeld ? await readControlFile(dataDir).catch(() => undefined) : undefined;
  if (holder !== undefined && isAlive(holder.pid)) {
    return new LocalError(
      `no cloud can run on ${dataDir}: process ${holder.pid} runs one there, as control.json says. ` +
        `Stop it, or name another directory with --data. (${message})`,
    );
  }
  return new LocalError(
    `no cloud can run on ${dataDir}: ${message}. Another directory is named with --data.`,
  );
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // Somebody else's process is there all the same.
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}
