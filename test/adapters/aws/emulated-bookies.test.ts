/** `StoredBookie` keeps the bookie's contract over S3, on an emulator. */
import { S3EntryStore } from "../../../lib/adapters/aws/s3-entry-store.ts";
import { StoredBookie, setUpStorage } from "../../../lib/protocol/bookie/stored-bookie.ts";
import { bookieId } from "../../../lib/protocol/ids.ts";
import type { EntryStore } from "../../../lib/protocol/ports.ts";
import { bookieContract } from "../../contracts/bookie-contract.ts";
import { TestClock } from "../../scenarios/test-clock.ts";
import { newBucket, overEmulator, random, clock as systemClock } from "./emulator.ts";

const storage = "s1";

await overEmulator((emulator) => {
  bookieContract("stored in S3", async () => {
    const { client, bucket, close } = await newBucket(emulator);
    const store = new S3EntryStore({ client, bucket, clock: systemClock, random });
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
          isInMemory: false,
          advance: (ms) => clock.advance(ms),
        };
      },
      close,
    };
  });
});
