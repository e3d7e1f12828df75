/** Metadata in one region's replica of the global table: the port's calls, each sent to that region alone. */
import { type AttributeValue, QueryCommand } from "@aws-sdk/client-dynamodb";
import { damaged } from "../../formats/format-errors.ts";
import { decodeItem, encodeItem } from "../../formats/metadata-item-format.ts";
import { decodeOrderedText, encodeOrderedText } from "../../formats/ordered-text.ts";
import { assert } from "../../protocol/assert.ts";
import type { WriteToken } from "../../protocol/ids.ts";
import type { Item, ItemKey, Version } from "../../protocol/items.ts";
import type {
  ItemQuery,
  MetadataConsistency,
  MetadataStore,
  Versioned,
  WriteAnswer,
} from "../../protocol/ports.ts";
import { getRow, putRow, type Row, type RowKey, removeRow, rowOf, sent, type Table } from "./table-rows.ts";

export class DynamoDbMetadataTable implements MetadataStore {
  constructor(private readonly table: Table) {}

  async get(key: ItemKey, consistency: MetadataConsistency): Promise<Versioned | undefined> {
    const row = await getRow(this.table, keyOf(key), consistency === "consistent");
    return row === undefined ? undefined : versioned(key, row);
  }

  async write(
    key: ItemKey,
    expected: Version | "absent",
    item: Item,
    token: WriteToken,
  ): Promise<WriteAnswer> {
    const json = encodeItem(item);
    // What could not be read again must not be written: it would block its key for good.
    decodeItem(json);
    return await putRow(this.table, keyOf(key), expected, { json: JSON.stringify(json), token });
  }

  async remove(key: ItemKey, expected: Version): Promise<{ readonly kind: "removed" | "conflict" }> {
    return await removeRow(this.table, keyOf(key), expected);
  }

  /** DynamoDB ends a page after a megabyte; pages are read on until the limit or the end is reached. */
  async query(query: ItemQuery, consistency: MetadataConsistency): Promise<readonly Versioned[]> {
    const { limit } = query;
    assert(Number.isSafeInteger(limit) && limit >= 1, `a query asks for at least one item, got ${limit}`);
    const range = rangeOf(query);
    if (range === undefined) return [];
    const found: Versioned[] = [];
    let after: Record<string, AttributeValue> | undefined;
    do {
      const command = new QueryCommand({
        TableName: this.table.name,
        ...range,
        ScanIndexForward: query.order === "ascending",
        ConsistentRead: consistency === "consistent",
        Limit: limit - found.length,
        ...(after === undefined ? {} : { ExclusiveStartKey: after }),
      });
      const page = await sent(this.table, "query", () => this.table.client.send(command));
      for (const item of page.Items ?? []) found.push(versioned(keyOfRow(item), rowOf(item)));
      after = page.LastEvaluatedKey;
    } while (after !== undefined && found.length < limit);
    return found;
  }
}

function keyOf({ partition, sort }: ItemKey): RowKey & { readonly sk: AttributeValue.SMember } {
  assert(partition !== "" && sort !== "", "no part of a key is empty");
  return { pk: { S: encodeOrderedText(partition) }, sk: { S: encodeOrderedText(sort) } };
}

function keyOfRow({ pk, sk }: Readonly<Record<string, AttributeValue>>): ItemKey {
  if (pk?.S === undefined || sk?.S === undefined) throw damaged("a row", "it has no key");
  return { partition: decodeOrderedText(pk.S), sort: decodeOrderedText(sk.S) };
}

/** Undefined: no key can lie in it, and DynamoDB would refuse it. */
function rangeOf({ partition, from = "", to }: ItemQuery) {
  if (to !== undefined && (to === "" || from > to)) return undefined;
  const low = encodeOrderedText(from);
  const high = to === undefined ? undefined : encodeOrderedText(to);
  const values: Record<string, AttributeValue> = { ":pk": { S: encodeOrderedText(partition) } };
  let condition = "pk = :pk";
  if (low !== "" && high !== undefined) condition += " AND sk BETWEEN :from AND :to";
  else if (low !== "") condition += " AND sk >= :from";
  else if (high !== undefined) condition += " AND sk <= :to";
  if (low !== "") values[":from"] = { S: low };
  if (high !== undefined) values[":to"] = { S: high };
  return { KeyConditionExpression: condition, ExpressionAttributeValues: values };
}

function versioned(key: ItemKey, { version, value }: Row): Versioned {
  return { key, item: decodeItem(value), version };
}
