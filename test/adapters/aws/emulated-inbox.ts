/** An inbox in a table of its own on the emulator, whose rows can be spoilt. */
import { PutItemCommand, QueryCommand } from "@aws-sdk/client-dynamodb";
import { dynamoDbClient } from "../../../lib/adapters/aws/aws-clients.ts";
import { DynamoDbInboxStore } from "../../../lib/adapters/aws/dynamodb-inbox-store.ts";
import { requestPartition, requestSort } from "../../../lib/formats/inbox-format.ts";
import type { InboxStore } from "../../../lib/protocol/log/inbox-store.ts";
import type { InboxUnderTest } from "../../contracts/inbox-store-contract.ts";
import type { MiniStack } from "../../e2e/ministack.ts";
import { endpointOf, newTable, PATIENT } from "./emulator.ts";

export async function inboxInDynamoDb(emulator: MiniStack) {
  const { table, close } = await newTable(emulator, ["pk", "sk"]);
  // Faults are put under the table's own client.
  const beside = dynamoDbClient(table.region, PATIENT, endpointOf(emulator));
  const inbox: InboxUnderTest = {
    store: new DynamoDbInboxStore(table),
    async damage(log, ticket) {
      const { Items = [] } = await beside.send(
        new QueryCommand({
          TableName: table.name,
          KeyConditionExpression: "pk = :pk AND sk = :sk",
          ExpressionAttributeValues: {
            ":pk": { S: `in#${requestPartition(log, ticket)}` },
            ":sk": { S: requestSort(ticket) },
          },
        }),
      );
      const [row] = Items;
      if (row === undefined) throw new Error("there is nothing to spoil");
      await beside.send(new PutItemCommand({ TableName: table.name, Item: { ...row, check: { N: "1" } } }));
    },
    nowMs: () => table.clock.nowMs(),
    advance: async () => undefined,
  };
  return {
    inbox,
    table,
    close: async () => {
      beside.destroy();
      await close();
    },
  };
}

/** A request whose removal was lost stays: its answers are put again until it is gone. */
export function untilGone(store: InboxStore): InboxStore {
  return {
    post: (log, request) => store.post(log, request),
    requests: (log, query) => store.requests(log, query),
    readAnswer: (log, ticket, consistency) => store.readAnswer(log, ticket, consistency),
    async answer(log, answers) {
      const put = await store.answer(log, answers);
      for (let left = answers; left.length > 0; ) {
        const found = new Set<string>();
        for (const { ticket } of left) {
          const above = ticket.revision - 1;
          const page = await store.requests(log, { ...ticket, above, requestsMax: 999, bytesMax: 2 ** 26 });
          for (const request of page.requests) found.add(request.ticket.id);
        }
        left = left.filter(({ ticket }) => found.has(ticket.id));
        if (left.length > 0) await store.answer(log, left);
      }
      return put;
    },
  };
}
