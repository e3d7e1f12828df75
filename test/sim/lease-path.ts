/** A region's lease store as one of its processes sees it: the table at the end of a message path. */
import type { LogIncarnation, Region, WriteToken } from "../../lib/protocol/ids.ts";
import type { Version } from "../../lib/protocol/items.ts";
import type { Lease, OwnerFailures } from "../../lib/protocol/lease.ts";
import type { LeaseStore, VersionedFailures, VersionedLease, WriteAnswer } from "../../lib/protocol/ports.ts";
import type { LeaseTable } from "./lease-table.ts";
import type { MessagePath } from "./message-path.ts";
import type { SimulatedProcess } from "./simulated-process.ts";

export class LeasePath implements LeaseStore {
  constructor(
    private readonly path: MessagePath,
    private readonly table: LeaseTable,
    private readonly process: SimulatedProcess,
    private readonly told: (log: LogIncarnation, lease: Lease | undefined) => void,
  ) {}

  read(log: LogIncarnation): Promise<VersionedLease | undefined> {
    return this.#operate((table) => {
      const found = table.read(log);
      this.told(log, found?.lease);
      return found;
    });
  }

  write(
    log: LogIncarnation,
    expected: Version | "absent",
    lease: Lease,
    token: WriteToken,
  ): Promise<WriteAnswer> {
    return this.#operate((table) => table.write({ log, expected, lease, token }, this.process));
  }

  readFailures(owner: Region): Promise<VersionedFailures | undefined> {
    return this.#operate((table) => table.readFailures(owner));
  }

  writeFailures(
    owner: Region,
    expected: Version | "absent",
    failures: OwnerFailures,
    token: WriteToken,
  ): Promise<WriteAnswer> {
    return this.#operate((table) => table.writeFailures({ owner, expected, failures, token }, this.process));
  }

  #operate<T>(act: (table: LeaseTable) => T): Promise<T> {
    return this.path.call<T>((service, reply) => {
      if (!service.effect) return reply.fail(service.failure);
      const result = act(this.table);
      if (service.failure === undefined) reply.answer(result);
      else reply.fail(service.failure);
    });
  }
}
