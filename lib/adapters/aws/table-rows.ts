/**
 * Rows of a DynamoDB table, each changed by one conditional write to one item.
 *
 *     pk S, sk S          the key; the lease table has pk alone
 *     format N            1
 *     revision N, token S the version (ports.ts): conditions compare both
 *     value S             the item or the lease as JSON, in its own format
 *
 * TR1 A call is sent once, and again only after a refusal that passes; a write whose outcome is unknown
 *     rejects.
 * TR2 A failed condition is a conflict unless the row carries this very write's token: then the write had
 *     been sent before and won. A server that does not show the row that failed it is asked for it.
 */
import {
  type AttributeValue,
  ConditionalCheckFailedException,
  DeleteItemCommand,
  type DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
} from "@aws-sdk/client-dynamodb";
import { damaged, unknownFormat } from "../../formats/format-errors.ts";
import type { WriteToken } from "../../protocol/ids.ts";
import { writeToken } from "../../protocol/ids.ts";
import type { Version } from "../../protocol/items.ts";
import type { WriteAnswer } from "../../protocol/ports.ts";
import { unansweredCall } from "./call-failure.ts";
import { type RetryPorts, retryRefused } from "./retry-refused.ts";

export interface Table extends RetryPorts {
  /** Its own retries off: `maxAttempts: 1`. */
  readonly client: DynamoDBClient;
  readonly name: string;
  /** Where it is asked, for people. */
  readonly region: string;
}

export type RowKey = Readonly<Record<"pk", AttributeValue.SMember>> &
  Readonly<Partial<Record<"sk", AttributeValue.SMember>>>;

export interface Row {
  readonly version: Version;
  /** Parsed JSON, for the value's own format to read. */
  readonly value: unknown;
}

const ROW_FORMAT = 1;
const versionNames = { "#revision": "revision", "#token": "token" } as const;

export async function getRow(table: Table, key: RowKey, consistent: boolean): Promise<Row | undefined> {
  const command = new GetItemCommand({ TableName: table.name, Key: { ...key }, ConsistentRead: consistent });
  const { Item } = await sent(table, "get", () => table.client.send(command));
  return Item === undefined ? undefined : rowOf(Item);
}

/** Stores `json` if the row's version is `expected`, or if there is none and that is expected. */
export async function putRow(
  table: Table,
  key: RowKey,
  expected: Version | "absent",
  write: { readonly json: string; readonly token: WriteToken },
): Promise<WriteAnswer> {
  const version = { revision: expected === "absent" ? 1 : expected.revision + 1, token: write.token };
  const command = new PutItemCommand({
    TableName: table.name,
    Item: {
      ...key,
      format: { N: String(ROW_FORMAT) },
      revision: { N: String(version.revision) },
      token: { S: write.token },
      value: { S: write.json },
    },
    ...conditionOn(expected),
  });
  const failed = await conditionally(table, "put", () => table.client.send(command));
  if (failed === undefined) return { kind: "written", version };
  const row = failed.Item === undefined ? await getRow(table, key, true) : rowOf(failed.Item); // TR2
  return row?.version.token === write.token
    ? { kind: "written", version: row.version }
    : { kind: "conflict" };
}

export async function removeRow(
  table: Table,
  key: RowKey,
  expected: Version,
): Promise<{ readonly kind: "removed" | "conflict" }> {
  const command = new DeleteItemCommand({ TableName: table.name, Key: { ...key }, ...conditionOn(expected) });
  const failed = await conditionally(table, "remove", () => table.client.send(command));
  return { kind: failed === undefined ? "removed" : "conflict" };
}

/** `data_corrupt` for what `putRow` never writes. */
export function rowOf(item: Readonly<Record<string, AttributeValue>>): Row {
  const { format, revision, token, value } = item;
  if (format?.N === undefined || revision?.N === undefined || token?.S === undefined) {
    throw damaged("a row", `it has ${Object.keys(item).join(", ")}`);
  }
  if (Number(format.N) !== ROW_FORMAT) throw unknownFormat("a row", format.N, ROW_FORMAT);
  const version = { revision: Number(revision.N), token: writeToken(token.S) };
  if (!Number.isSafeInteger(version.revision) || value?.S === undefined) {
    throw damaged("a row", `revision ${revision.N}, value ${value?.S === undefined ? "absent" : "there"}`);
  }
  try {
    return { version, value: JSON.parse(value.S) };
  } catch (error) {
    throw damaged("a row", "its value is not JSON", error);
  }
}

/** Runs one SDK call on the table (TR1). Throws `unavailable`. */
export async function sent<T>(table: Table, what: string, call: () => Promise<T>): Promise<T> {
  try {
    return await retryRefused(table, call);
  } catch (error) {
    throw unansweredCall(`${table.name} in ${table.region}: ${what}`, error);
  }
}

/** Undefined: the condition held. */
async function conditionally(
  table: Table,
  what: string,
  call: () => Promise<unknown>,
): Promise<ConditionalCheckFailedException | undefined> {
  return await sent(table, what, async () => {
    try {
      await call();
      return undefined;
    } catch (error) {
      if (error instanceof ConditionalCheckFailedException) return error;
      throw error;
    }
  });
}

function conditionOn(expected: Version | "absent") {
  const shown = { ReturnValuesOnConditionCheckFailure: "ALL_OLD" } as const;
  if (expected === "absent") return { ConditionExpression: "attribute_not_exists(pk)", ...shown };
  return {
    ConditionExpression: "#revision = :revision AND #token = :token",
    ExpressionAttributeNames: versionNames,
    ExpressionAttributeValues: {
      ":revision": { N: String(expected.revision) },
      ":token": { S: expected.token },
    },
    ...shown,
  };
}
