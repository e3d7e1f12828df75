/** The writer leases of each region, in a directory beside its bookies'. */
import { join } from "node:path";
import { LevelLeaseStore } from "../adapters/level/level-lease-store.ts";
import type { Clock } from "../protocol/deadline.ts";
import type { Region } from "../protocol/ids.ts";
import type { LeaseStore } from "../protocol/ports.ts";
import { regionDir } from "./cloud-file.ts";
import { WriteWatch, watchedLeases } from "./write-watch.ts";

export class RegionLeaseStores {
  readonly #stores = new Map<Region, Promise<LevelLeaseStore>>();

  readonly #writes = new Map<Region, WriteWatch>();

  constructor(
    private readonly dataDir: string,
    private readonly clock: Clock,
  ) {}

  /** Whether the region's leases can be written. */
  writes(region: Region): WriteWatch {
    const watch = this.#writes.get(region) ?? new WriteWatch(this.clock);
    this.#writes.set(region, watch);
    return watch;
  }

  /** A store that cannot be opened is one whose calls reject: its region cannot own logs. */
  of(region: Region): LeaseStore {
    const opened = this.#stores.get(region) ?? LevelLeaseStore.open(this.#directory(region));
    opened.catch(() => {}); // each call rejects with it
    this.#stores.set(region, opened);
    const store: LeaseStore = {
      read: async (log) => await (await opened).read(log),
      write: async (log, expected, lease, token) => await (await opened).write(log, expected, lease, token),
      readFailures: async (owner) => await (await opened).readFailures(owner),
      writeFailures: async (...given) => await (await opened).writeFailures(...given),
    };
    return watchedLeases(store, this.writes(region));
  }

  async close(): Promise<void> {
    const opened = await Promise.allSettled(this.#stores.values());
    for (const store of opened) if (store.status === "fulfilled") await store.value.close();
  }

  #directory(region: Region): string {
    return join(regionDir(this.dataDir, region), "leases");
  }
}
