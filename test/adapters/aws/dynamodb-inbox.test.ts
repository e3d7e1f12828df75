/** What DynamoDB may answer to an inbox and an emulator never does (DI1 to DI4), and what its calls send. */
import { describe, expect, it } from "vitest";
import { dynamoDbClient, LEASE_WAITS } from "../../../lib/adapters/aws/aws-clients.ts";
import { DynamoDbInboxStore } from "../../../lib/adapters/aws/dynamodb-inbox-store.ts";
import { inboxExpiry } from "../../../lib/environment.ts";
import { logIncarnation } from "../../../lib/protocol/ids.ts";
import type { Ticket } from "../../../lib/protocol/log/inbox-store.ts";
import { sampleRequest } from "../../contracts/sample-posts.ts";
import {
  dynamoError,
  hurried,
  inOrder,
  json,
  networkError,
  type Script,
  ScriptedService,
  timeout,
} from "./scripted-service.ts";

const LOG = logIncarnation("l1");
const ticket = (revision: number) => ({ birth: "b", tenure: "t", revision, id: `i${revision}` }) as Ticket;
const NOT_SERVED = { kind: "not-served" } as const;
const answers = (count: number) =>
  Array.from({ length: count }, (_, index) => ({ ticket: ticket(index + 1), answer: NOT_SERVED }));
const query = { ...ticket(0), above: 3, requestsMax: 2, bytesMax: 1_000_000 };
const DONE = json({});
const throttled = dynamoError(400, "ProvisionedThroughputExceededException");

function inboxOver(script: Script) {
  const service = new ScriptedService(script);
  const client = dynamoDbClient("us-east-1", LEASE_WAITS, service.config);
  const clock = { ...hurried.clock, nowMs: () => 1_700_000_000_500 };
  const store = new DynamoDbInboxStore({ client, name: "inbox", region: "us-east-1", clock });
  const calls = () =>
    service.requests.map(({ headers, body }) => ({
      call: headers["x-amz-target"]?.replace("DynamoDB_20120810.", ""),
      ...JSON.parse(body),
    }));
  return { store, calls };
}

const writesOf = (call: { RequestItems?: { inbox?: object[] } }) => call.RequestItems?.inbox ?? [];
const kindsOf = (call: object) => writesOf(call).map((write) => Object.keys(write)[0]);

describe("a post", () => {
  it("of a small batch is one put, which expires a day after it", async () => {
    const { store, calls } = inboxOver(inOrder(DONE));
    await store.post(LOG, sampleRequest(ticket(12), 1_024));
    expect(calls()).toHaveLength(1);
    expect(calls()[0]).toMatchObject({
      call: "PutItem",
      Item: {
        pk: { S: "in#l1#b#t" },
        sk: { S: "0000000000000012#i12" },
        [inboxExpiry]: { N: String(1_700_000_001 + 24 * 60 * 60) },
      },
    });
    expect(calls()[0]).not.toHaveProperty("ConditionExpression");
  });

  it("DI1: of a large one puts the pieces, and then the request", async () => {
    const { store, calls } = inboxOver(inOrder(DONE));
    await store.post(LOG, sampleRequest(ticket(1), 1_000_000));
    const keys = calls().map(({ Item }) => Item.pk.S);
    expect(keys).toEqual([...Array(4).fill("bd#l1#b#t#0000000000000001#i1"), "in#l1#b#t"]);
    const last = calls()[4].Item;
    expect(last).toMatchObject({ pieces: { N: "4" }, bytes: { N: "1000008" } });
    expect(last).not.toHaveProperty("content");
  });

  it.each([
    ["a throttle", throttled, 10, "over_capacity", "none", 1],
    ["silence", timeout(), 10, "unavailable", "possible", 1],
    ["a 5xx", dynamoError(500, "InternalServerError"), 10, "unavailable", "possible", 1],
    ["a refused connection", networkError("ECONNREFUSED"), 10, "unavailable", "none", 1],
    // Pieces without a request are nothing.
    ["silence after a piece", timeout(), 3_000, "unavailable", "none", 1],
    ["a throttled piece", throttled, 3_000, "over_capacity", "none", 1],
  ] as const)("DI2: %s, sent once", async (_, failure, bytes, code, sideEffects, sent) => {
    const { store, calls } = inboxOver(inOrder(failure));
    const posted = store.post(LOG, sampleRequest(ticket(1), bytes));
    await expect(posted).rejects.toMatchObject({ code, sideEffects });
    expect(calls()).toHaveLength(sent);
  });

  it("DI2: whose request itself is in doubt may have taken effect, pieces or not", async () => {
    const { store } = inboxOver(inOrder(DONE, timeout()));
    const posted = store.post(LOG, sampleRequest(ticket(1), 3_000));
    await expect(posted).rejects.toMatchObject({ code: "unavailable", sideEffects: "possible" });
  });
});

describe("a query", () => {
  it("is consistent, begins above the revision, and asks for one more than has room", async () => {
    const { store, calls } = inboxOver(inOrder(json({ Items: [] })));
    expect(await store.requests(LOG, query)).toEqual({ requests: [], damaged: [], isWhole: true });
    expect(calls()[0]).toMatchObject({
      call: "Query",
      ConsistentRead: true,
      Limit: 3,
      KeyConditionExpression: "pk = :pk AND sk > :above",
      ExpressionAttributeValues: { ":pk": { S: "in#l1#b#t" }, ":above": { S: "0000000000000003$" } },
    });
  });

  it("DI1: reads on where a page ended, and passes over a request whose pieces are gone", async () => {
    const row = (revision: number, more: object) => ({
      pk: { S: "in#l1#b#t" },
      sk: { S: `${String(revision).padStart(16, "0")}#i` },
      format: { N: "1" },
      ...more,
    });
    const large = { pieces: { N: "1" }, check: { N: "7" }, bytes: { N: "9" } };
    const { store, calls } = inboxOver(
      inOrder(
        json({ Items: [row(4, large)], LastEvaluatedKey: { pk: { S: "p" }, sk: { S: "s" } } }),
        json({}),
        json({
          Items: [row(5, {}), row(6, { ...large, pieces: { N: "0" } }), { ...row(7, {}), sk: { S: "?" } }],
        }),
      ),
    );
    const page = await store.requests(LOG, query);
    expect(page.requests).toEqual([]);
    expect(page.damaged.map(({ revision }) => revision)).toEqual([5, 6]);
    expect(calls().map(({ call }) => call)).toEqual(["Query", "GetItem", "Query"]);
    expect(calls()[1]).toMatchObject({ ConsistentRead: true });
    expect(calls()[2]).toMatchObject({ ExclusiveStartKey: { sk: { S: "s" } } });
  });
});

describe("answers", () => {
  it("DI3: are put 25 at a time, and only then are their requests deleted", async () => {
    const { store, calls } = inboxOver(inOrder(DONE));
    expect(await store.answer(LOG, answers(30))).toHaveLength(30);
    expect(calls().map((call) => [call.call, kindsOf(call).length, kindsOf(call)[0]])).toEqual([
      ["BatchWriteItem", 25, "PutRequest"],
      ["BatchWriteItem", 5, "PutRequest"],
      ["BatchWriteItem", 25, "DeleteRequest"],
      ["BatchWriteItem", 5, "DeleteRequest"],
    ]);
  });

  it("DI3: of which some are not processed keep those requests", async () => {
    let refused: object[] = [];
    const { store, calls } = inboxOver(({ number, body }) => {
      if (number > 0) return DONE;
      refused = writesOf(JSON.parse(body)).slice(1);
      return json({ UnprocessedItems: { inbox: refused } });
    });
    expect(await store.answer(LOG, answers(3))).toEqual([ticket(1)]);
    expect(writesOf(calls()[1])).toEqual([
      { DeleteRequest: { Key: { pk: { S: "in#l1#b#t" }, sk: { S: "0000000000000001#i1" } } } },
    ]);
  });

  it.each([
    [
      "none is processed",
      ({ body }: { body: string }) => json({ UnprocessedItems: JSON.parse(body).RequestItems }),
      "over_capacity",
      "none",
    ],
    ["the call is throttled", () => throttled, "over_capacity", "none"],
    [
      "there is no reply",
      () => {
        throw timeout();
      },
      "unavailable",
      "possible",
    ],
  ] as const)("are rejected if %s, and nothing is deleted", async (_, script, code, sideEffects) => {
    const { store, calls } = inboxOver(script as Script);
    await expect(store.answer(LOG, answers(2))).rejects.toMatchObject({ code, sideEffects });
    expect(calls()).toHaveLength(1);
  });

  it("are in doubt if one call of two is", async () => {
    const { store } = inboxOver(({ number }) => {
      if (number === 0) return throttled;
      throw timeout();
    });
    await expect(store.answer(LOG, answers(30))).rejects.toMatchObject({ sideEffects: "possible" });
  });

  it("that are put are so, whatever becomes of their requests", async () => {
    const { store } = inboxOver(inOrder(DONE, timeout()));
    expect(await store.answer(LOG, answers(2))).toEqual([ticket(1), ticket(2)]);
  });

  it("are read consistently where that is asked for, and are damage where they are none of ours", async () => {
    const { store, calls } = inboxOver(inOrder(json({}), json({}), json({ Item: { pk: { S: "x" } } })));
    for (const consistency of ["consistent", "stale"] as const) {
      expect(await store.readAnswer(LOG, ticket(1), consistency)).toBeUndefined();
    }
    expect(calls().map(({ ConsistentRead }) => ConsistentRead)).toEqual([true, false]);
    await expect(store.readAnswer(LOG, ticket(1), "stale")).rejects.toMatchObject({ code: "data_corrupt" });
  });
});
