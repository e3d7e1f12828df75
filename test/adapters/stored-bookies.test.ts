/** `StoredBookie` keeps the bookie's contract over every entry store. */
import { LevelEntryStore } from "../../lib/adapters/level/level-entry-store.ts";
import { MemoryEntryStore } from "../../lib/adapters/memory/memory-entry-store.ts";
import { StoredBookie, setUpStorage } from "../../lib/protocol/bookie/stored-bookie.ts";
import { bookieId } from "../../lib/protocol/ids.ts";
import type { EntryStore } from "../../lib/protocol/ports.ts";
import { bookieContract, type OpenedBookie } from "../contracts/bookie-contract.ts";
import { TestClock } from "../scenarios/test-clock.ts";
import { ScratchDirectory } from "./scratch-directory.ts";

const storage = "s1";

async function stored(store: EntryStore, close: () => Promise<void>): Promise<OpenedBookie> {
  const clock = new TestClock();
  const id = bookieId(`us-east-1.b1~${storage}`);
  await setUpStorage(store, storage);
  return {
    under: (edge) => {
      const another = (wrap = (inner: EntryStore) => inner) =>
        new StoredBookie({ id, storage, store: wrap(edge(store)), clock });
      return {
        bookie: another(),
        another,
        store,
        storage,
        isInMemory: store instanceof MemoryEntryStore,
        advance: (ms) => clock.advance(ms),
      };
    },
    close,
  };
}

async function inLevelDb(): Promise<OpenedBookie> {
  const directory = await ScratchDirectory.make();
  const store = await LevelEntryStore.open(directory.path);
  return stored(store, async () => {
    await store.close();
    await directory.remove();
  });
}

bookieContract("stored in memory", () => stored(new MemoryEntryStore(), async () => undefined));
bookieContract("stored in LevelDB", inLevelDb, { isOnDisk: true });
