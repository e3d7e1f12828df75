/** One region's writer leases in memory: for the simulator and for tests. Frozen like memory metadata. */
import { decodeLease, encodeLease } from "../../formats/lease-format.ts";
import type { LogIncarnation, WriteToken } from "../../protocol/ids.ts";
import type { Version } from "../../protocol/items.ts";
import type { Lease } from "../../protocol/lease.ts";
import type { LeaseStore, VersionedLease, WriteAnswer } from "../../protocol/ports.ts";
import { type Cell, matches, nextCell } from "./versioned-cell.ts";

export class MemoryLeaseStore implements LeaseStore {
  readonly #leases = new Map<LogIncarnation, Cell<Lease>>();

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
}
