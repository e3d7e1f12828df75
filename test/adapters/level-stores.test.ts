/** The stores over LevelDB keep every contract, and never write without sync. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openLevelDatabase } from "../../lib/adapters/level/level-database.ts";
import { LevelEntryStore } from "../../lib/adapters/level/level-entry-store.ts";
import { LevelLeaseStore } from "../../lib/adapters/level/level-lease-store.ts";
import { LevelMetadataStore } from "../../lib/adapters/level/level-metadata-store.ts";
import { entryStoreContract } from "../contracts/entry-store-contract.ts";
import { inboxStoreContract } from "../contracts/inbox-store-contract.ts";
import { leaseStoreContract } from "../contracts/lease-store-contract.ts";
import { metadataStoreContract } from "../contracts/metadata-store-contract.ts";
import { inboxOnDisk } from "./level-inbox.ts";
import { ScratchDirectory } from "./scratch-directory.ts";
import { WriteWatch } from "./write-watch.ts";

/** Each store in a directory of its own, removed when it is closed. */
async function opened<S extends { close(): Promise<void> }>(open: (directory: string) => Promise<S>) {
  const directory = await ScratchDirectory.make();
  const store = await open(directory.path);
  const close = async () => {
    await store.close();
    await directory.remove();
  };
  return { store, close };
}

const onDisk = { isOnDisk: true };

describe.each([
  ["entry store", () => entryStoreContract("level", () => opened(LevelEntryStore.open), onDisk)],
  ["lease store", () => leaseStoreContract("level", () => opened(LevelLeaseStore.open), onDisk)],
  ["inbox store", () => inboxStoreContract("level", inboxOnDisk, onDisk)],
  ["metadata store", () => metadataStoreContract("level", () => opened(LevelMetadataStore.open), onDisk)],
])("acknowledged means synced: %s", (_store, contract) => {
  let watch: WriteWatch;
  beforeAll(() => {
    watch = new WriteWatch();
  });
  afterAll(() => watch[Symbol.dispose]());

  contract();

  it("wrote synced batches only, in all of the above", () => watch.assertSynced());
});

describe("the watch over writes", () => {
  it.each([
    ["put", (database: Database) => database.put("key", Uint8Array.of(1))],
    ["put without sync", (database: Database) => database.put("key", Uint8Array.of(1), { sync: false })],
    ["del", (database: Database) => database.del("key")],
    ["batch", (database: Database) => database.batch([{ type: "del", key: "key" }])],
    ["chained batch", (database: Database) => database.batch().del("key").write()],
    ["clear", (database: Database) => database.clear()],
  ])("sees an unsynced %s", async (_name, write) => {
    await using directory = await ScratchDirectory.make();
    using watch = new WriteWatch();
    expect(() => watch.assertSynced()).toThrow(/nothing/);
    const database = await openLevelDatabase(directory.path, "entry-store");
    watch.assertSynced();
    await write(database);
    expect(() => watch.assertSynced()).toThrow(/1 of 2 writes/);
    await database.close();
  });
});

type Database = Awaited<ReturnType<typeof openLevelDatabase>>;
