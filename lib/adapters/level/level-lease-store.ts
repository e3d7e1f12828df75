/** One region's writer leases, and failures of owners, in a LevelDB directory. Acknowledged means synced. */
import {
  decodeLease,
  decodeOwnerFailures,
  encodeLease,
  encodeOwnerFailures,
} from "../../formats/lease-format.ts";
import { decodeVersioned } from "../../formats/version-format.ts";
import type { LogIncarnation, Region, WriteToken } from "../../protocol/ids.ts";
import type { Version } from "../../protocol/items.ts";
import type { Lease, OwnerFailures } from "../../protocol/lease.ts";
import type { LeaseStore, VersionedFailures, VersionedLease, WriteAnswer } from "../../protocol/ports.ts";
import { openLevelDatabase } from "./level-database.ts";
import { SyncedBatches } from "./synced-batches.ts";
import { conditionalWrite } from "./versioned-bytes.ts";

export class LevelLeaseStore implements LeaseStore, AsyncDisposable {
  readonly #batches: SyncedBatches;

  private constructor(batches: SyncedBatches) {
    this.#batches = batches;
  }

  /** Opens or makes the store. Throws `unavailable` if the directory is in use or damaged. */
  static async open(directory: string): Promise<LevelLeaseStore> {
    return new LevelLeaseStore(new SyncedBatches(await openLevelDatabase(directory, "lease-store")));
  }

  async read(log: LogIncarnation): Promise<VersionedLease | undefined> {
    const bytes = await this.#batches.get(leaseKey(log));
    if (bytes === undefined) return undefined;
    const { version, value } = decodeVersioned(bytes);
    return { lease: decodeLease(value), version };
  }

  async write(
    log: LogIncarnation,
    expected: Version | "absent",
    lease: Lease,
    token: WriteToken,
  ): Promise<WriteAnswer> {
    const json = encodeLease(lease);
    // What could not be read again must not be written: it would block its key for good.
    decodeLease(json);
    return await this.#batches.submit(leaseKey(log), conditionalWrite(expected, json, token));
  }

  async readFailures(owner: Region): Promise<VersionedFailures | undefined> {
    const bytes = await this.#batches.get(ownerKey(owner));
    if (bytes === undefined) return undefined;
    const { version, value } = decodeVersioned(bytes);
    return { failures: decodeOwnerFailures(value), version };
  }

  async writeFailures(
    owner: Region,
    expected: Version | "absent",
    failures: OwnerFailures,
    token: WriteToken,
  ): Promise<WriteAnswer> {
    const json = encodeOwnerFailures(failures);
    decodeOwnerFailures(json);
    return await this.#batches.submit(ownerKey(owner), conditionalWrite(expected, json, token));
  }

  async close(): Promise<void> {
    await this.#batches.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}

const leaseKey = (log: LogIncarnation): string => `lease#${log}`;
const ownerKey = (owner: Region): string => `owner#${owner}`;
