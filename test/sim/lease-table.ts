/** One region's writer leases and failures of owners, and who wrote them. Plain and synchronous, like the metadata table. */
import type { LogIncarnation, Region, WriteToken } from "../../lib/protocol/ids.ts";
import type { Version } from "../../lib/protocol/items.ts";
import type { Lease, OwnerFailures } from "../../lib/protocol/lease.ts";
import type { VersionedFailures, VersionedLease, WriteAnswer } from "../../lib/protocol/ports.ts";
import type { SimulatedProcess } from "./simulated-process.ts";

export interface LeaseChange {
  readonly region: Region;
  readonly log: LogIncarnation;
  readonly before: Lease | undefined;
  readonly after: Lease;
  /** Whose write it was. */
  readonly process: SimulatedProcess;
}

export interface LeaseWrite {
  readonly log: LogIncarnation;
  readonly expected: Version | "absent";
  readonly lease: Lease;
  readonly token: WriteToken;
}

export interface FailuresChange {
  readonly region: Region;
  /** The region that was observed. */
  readonly owner: Region;
  readonly before: OwnerFailures | undefined;
  readonly after: OwnerFailures;
  readonly process: SimulatedProcess;
}

export interface FailuresWrite {
  readonly owner: Region;
  readonly expected: Version | "absent";
  readonly failures: OwnerFailures;
  readonly token: WriteToken;
}

export class LeaseTable {
  readonly #leases = new Map<LogIncarnation, VersionedLease>();
  readonly #failures = new Map<Region, VersionedFailures>();

  constructor(
    readonly region: Region,
    private readonly changed: (change: LeaseChange) => void,
    private readonly counted: (change: FailuresChange) => void,
  ) {}

  read(log: LogIncarnation): VersionedLease | undefined {
    return this.#leases.get(log);
  }

  write({ log, expected, lease, token }: LeaseWrite, process: SimulatedProcess): WriteAnswer {
    const before = this.#leases.get(log);
    if (!isExpected(before, expected)) return { kind: "conflict" };
    const version = { revision: (before?.version.revision ?? 0) + 1, token };
    this.#leases.set(log, { lease, version });
    this.changed({ region: this.region, log, before: before?.lease, after: lease, process });
    return { kind: "written", version };
  }

  readFailures(owner: Region): VersionedFailures | undefined {
    return this.#failures.get(owner);
  }

  writeFailures({ owner, expected, failures, token }: FailuresWrite, process: SimulatedProcess): WriteAnswer {
    const before = this.#failures.get(owner);
    if (!isExpected(before, expected)) return { kind: "conflict" };
    const version = { revision: (before?.version.revision ?? 0) + 1, token };
    this.#failures.set(owner, { failures, version });
    this.counted({ region: this.region, owner, before: before?.failures, after: failures, process });
    return { kind: "written", version };
  }
}

function isExpected(found: { readonly version: Version } | undefined, expected: Version | "absent"): boolean {
  if (found === undefined || expected === "absent") return found === undefined && expected === "absent";
  return found.version.revision === expected.revision && found.version.token === expected.token;
}
