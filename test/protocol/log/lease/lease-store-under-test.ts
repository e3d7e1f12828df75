/** A lease store in memory whose calls a story can lose, before or after their effect, and look at. */
import { MemoryLeaseStore } from "../../../../lib/adapters/memory/memory-lease-store.ts";
import type { LogIncarnation, Region, WriteToken } from "../../../../lib/protocol/ids.ts";
import type { Version } from "../../../../lib/protocol/items.ts";
import type { Lease, OwnerFailures } from "../../../../lib/protocol/lease.ts";
import type {
  LeaseStore,
  VersionedFailures,
  VersionedLease,
  WriteAnswer,
} from "../../../../lib/protocol/ports.ts";

type Loss = "before" | "after";

export class LeaseStoreUnderTest implements LeaseStore {
  readonly store = new MemoryLeaseStore();
  readonly writes: {
    readonly expected: Version | "absent";
    readonly lease: Lease;
    readonly token: WriteToken;
  }[] = [];
  /** What the next writes lose. */
  readonly losses: Loss[] = [];
  isSilent = false;

  async read(log: LogIncarnation): Promise<VersionedLease | undefined> {
    if (this.isSilent) throw new Error("the lease table is down");
    return await this.store.read(log);
  }

  async write(
    log: LogIncarnation,
    expected: Version | "absent",
    lease: Lease,
    token: WriteToken,
  ): Promise<WriteAnswer> {
    if (this.isSilent) throw new Error("the lease table is down");
    this.writes.push({ expected, lease, token });
    const loss = this.losses.shift();
    if (loss === "before") throw new Error("lost on the way there");
    const answer = await this.store.write(log, expected, lease, token);
    if (loss === "after") throw new Error("lost on the way back");
    return answer;
  }

  readFailures(owner: Region): Promise<VersionedFailures | undefined> {
    return this.store.readFailures(owner);
  }

  writeFailures(
    owner: Region,
    expected: Version | "absent",
    failures: OwnerFailures,
    token: WriteToken,
  ): Promise<WriteAnswer> {
    return this.store.writeFailures(owner, expected, failures, token);
  }
}
