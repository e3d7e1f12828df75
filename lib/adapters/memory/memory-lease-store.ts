/** One region's lease table in memory: for the simulator and for tests. Frozen like memory metadata. */
import {
  decodeLease,
  decodeOwnerFailures,
  encodeLease,
  encodeOwnerFailures,
} from "../../formats/lease-format.ts";
import type { LogIncarnation, Region, WriteToken } from "../../protocol/ids.ts";
import type { Version } from "../../protocol/items.ts";
import type { Lease, OwnerFailures } from "../../protocol/lease.ts";
import type { LeaseStore, VersionedFailures, VersionedLease, WriteAnswer } from "../../protocol/ports.ts";
import { type Cell, matches, nextCell } from "./versioned-cell.ts";

export class MemoryLeaseStore implements LeaseStore {
  readonly #leases = new Map<LogIncarnation, Cell<Lease>>();
  readonly #failures = new Map<Region, Cell<OwnerFailures>>();

  async read(log: LogIncarnation): Promise<VersionedLease | undefined> {
    const cell = this.#leases.get(log);
    return cell === undefined ? undefined : { lease: cell.value, version: cell.version };
  }

  async write(
    log: LogIncarnation,
    expected: Version | "absent",
    lease: Lease,
    token: WriteToken,
  ): Promise<WriteAnswer> {
    const current = this.#leases.get(log);
    if (!matches(current, expected)) return { kind: "conflict" };
    const cell = nextCell(current, decodeLease(encodeLease(lease)), token);
    this.#leases.set(log, cell);
    return { kind: "written", version: cell.version };
  }

  async readFailures(owner: Region): Promise<VersionedFailures | undefined> {
    const cell = this.#failures.get(owner);
    return cell === undefined ? undefined : { failures: cell.value, version: cell.version };
  }

  async writeFailures(
    owner: Region,
    expected: Version | "absent",
    failures: OwnerFailures,
    token: WriteToken,
  ): Promise<WriteAnswer> {
    const current = this.#failures.get(owner);
    if (!matches(current, expected)) return { kind: "conflict" };
    const cell = nextCell(current, decodeOwnerFailures(encodeOwnerFailures(failures)), token);
    this.#failures.set(owner, cell);
    return { kind: "written", version: cell.version };
  }
}
