/** The writer leases of each region, in a directory beside its bookies'. */
import { join } from "node:path";
import { LevelLeaseStore } from "../adapters/level/level-lease-store.ts";
import type { Region } from "../protocol/ids.ts";
import type { LeaseStore } from "../protocol/ports.ts";
import { regionDir } from "./cloud-file.ts";

export class RegionLeaseStores {
  readonly #stores = new Map<Region, Promise<LevelLeaseStore>>();

  constructor(private readonly dataDir: string) {}

  /** A store that cannot be opened is one whose calls reject: its region cannot own logs. */
  of(region: Region): LeaseStore {
    const opened = this.#stores.get(region) ?? LevelLeaseStore.open(this.#directory(region));
    opened.catch(() => {}); // each call rejects with it
    this.#stores.set(region, opened);
    return {
      read: async (log) => await (await opened).read(log),
      write: async (log, expected, lease, token) => await (await opened).write(log, expected, lease, token),
      readFailures: async (owner) => await (await opened).readFailures(owner),
      writeFailures: async (...given) => await (await opened).writeFailures(...given),
    };
  }

  async close(): Promise<void> {
    const opened = await Promise.allSettled(this.#stores.values());
    for (const store of opened) if (store.status === "fulfilled") await store.value.close();
  }

  #directory(region: Region): string {
    return join(regionDir(this.dataDir, region), "leases");
  }
}
