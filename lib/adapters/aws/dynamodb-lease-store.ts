/**
 * One region's writer leases, and failures of owners, in a DynamoDB table of that region, which is not
 * replicated (rules 16 to 20).
 */
import type { JsonObject } from "../../formats/json-fields.ts";
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
    return await this.#put(keyOf(log), expected, json, token);
  }

  async readFailures(owner: Region): Promise<VersionedFailures | undefined> {
    const row = await getRow(this.table, ownerKey(owner), true);
    return row === undefined ? undefined : { failures: decodeOwnerFailures(row.value), version: row.version };
  }

  async writeFailures(
    owner: Region,
    expected: Version | "absent",
    failures: OwnerFailures,
    token: WriteToken,
  ): Promise<WriteAnswer> {
    const json = encodeOwnerFailures(failures);
    decodeOwnerFailures(json);
    return await this.#put(ownerKey(owner), expected, json, token);
  }

  #put(key: RowKey, expected: Version | "absent", json: JsonObject, token: WriteToken): Promise<WriteAnswer> {
    return putRow(this.table, key, expected, { json: JSON.stringify(json), token });
  }
}

function keyOf(log: LogIncarnation): RowKey {
  return { pk: { S: `lease#${log}` } };
}

function ownerKey(owner: Region): RowKey {
  return { pk: { S: `owner#${owner}` } };
}
