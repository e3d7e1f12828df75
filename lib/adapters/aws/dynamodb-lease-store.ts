/**
 * One region's writer leases in a DynamoDB table of that region, which is not replicated (rules 16 to 20).
 */
import { decodeLease, encodeLease } from "../../formats/lease-format.ts";
import type { LogIncarnation, WriteToken } from "../../protocol/ids.ts";
import type { Version } from "../../protocol/items.ts";
import type { Lease } from "../../protocol/lease.ts";
import type { LeaseStore, VersionedLease, WriteAnswer } from "../../protocol/ports.ts";
import { getRow, putRow, type RowKey, type Table } from "./table-rows.ts";

export class DynamoDbLeaseStore implements LeaseStore {
  constructor(private readonly table: Table) {}

  async read(log: LogIncarnation): Promise<VersionedLease | undefined> {
    const row = await getRow(this.table, keyOf(log), true);
    return row === undefined ? undefined : { lease: decodeLease(row.value), version: row.version };
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
    return await putRow(this.table, keyOf(log), expected, { json: JSON.stringify(json), token });
  }
}

function keyOf(log: LogIncarnation): RowKey {
  return { pk: { S: `lease#${log}` } };
}
