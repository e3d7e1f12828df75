/** What DynamoDB may answer and an emulator never does (DM1 to DM3, TR1, TR2). */
import { describe, expect, it } from "vitest";
import { dynamoDbClient, METADATA_WAITS } from "../../../lib/adapters/aws/aws-clients.ts";
import { CheckedDeployment } from "../../../lib/adapters/aws/checked-deployment.ts";
import { DynamoDbLeaseStore } from "../../../lib/adapters/aws/dynamodb-lease-store.ts";
import { DynamoDbMetadataStore } from "../../../lib/adapters/aws/dynamodb-metadata-store.ts";
import { DynamoDbMetadataTable } from "../../../lib/adapters/aws/dynamodb-metadata-table.ts";
import { MemoryMetadataStore } from "../../../lib/adapters/memory/memory-metadata-store.ts";
import { encodeItem } from "../../../lib/formats/metadata-item-format.ts";
import { logIncarnation, logName, region, writeToken } from "../../../lib/protocol/ids.ts";
import { type Item, type ItemKey, logNameKey } from "../../../lib/protocol/items.ts";
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

const KEY: ItemKey = logNameKey(logName("orders"));
const ITEM: Item = { kind: "log-name", name: logName("orders"), incarnation: logIncarnation("l1") };
const [MINE, THEIRS] = [writeToken("mine"), writeToken("theirs")];
const VERSION = { revision: 3, token: THEIRS };

const row = (token: string, revision = 4) => ({
  pk: { S: KEY.partition },
  sk: { S: KEY.sort },
  format: { N: "1" },
  revision: { N: String(revision) },
  token: { S: token },
  value: { S: JSON.stringify(encodeItem(ITEM)) },
});
const failedWith = (item?: object) =>
  dynamoError(400, "ConditionalCheckFailedException", item === undefined ? {} : { Item: item });
const DONE = json({});
const conflict = dynamoError(400, "ReplicatedWriteConflictException");
const throttled = dynamoError(400, "ProvisionedThroughputExceededException");

function tableOver(script: Script, name = "us-east-1") {
  const service = new ScriptedService(script);
  const client = dynamoDbClient(name, METADATA_WAITS, service.config);
  return {
    service,
    store: new DynamoDbMetadataTable({ client, name: "metadata", region: name, ...hurried }),
  };
}

const targets = ({ requests }: ScriptedService) =>
  requests.map((one) => one.headers["x-amz-target"]?.replace("DynamoDB_20120810.", ""));
const sent = ({ requests }: ScriptedService, index = 0) => JSON.parse(requests[index]?.body ?? "{}");

describe("one conditional write", () => {
  it("compares both parts of the version, and asks to be shown what is there", async () => {
    const { store, service } = tableOver(inOrder(DONE));
    expect(await store.write(KEY, VERSION, ITEM, MINE)).toEqual({
      kind: "written",
      version: { revision: 4, token: MINE },
    });
    expect(sent(service)).toMatchObject({
      ConditionExpression: "#revision = :revision AND #token = :token",
      ExpressionAttributeValues: { ":revision": { N: "3" }, ":token": { S: "theirs" } },
      ReturnValuesOnConditionCheckFailure: "ALL_OLD",
    });
  });

  it("demands that nothing is there, or removes only what was seen", async () => {
    const { store, service } = tableOver(inOrder(DONE));
    await store.write(KEY, "absent", ITEM, MINE);
    expect(sent(service)).toMatchObject({ ConditionExpression: "attribute_not_exists(pk)" });
    await store.remove(KEY, VERSION);
    expect(sent(service, 1)).toMatchObject({
      ConditionExpression: "#revision = :revision AND #token = :token",
      ExpressionAttributeValues: { ":revision": { N: "3" }, ":token": { S: "theirs" } },
    });
  });

  it("reads consistently where that is asked for, and at half the price where it is not", async () => {
    const { store, service } = tableOver(inOrder(json({})));
    for (const consistency of ["consistent", "stale"] as const) await store.get(KEY, consistency);
    expect([0, 1].map((index) => sent(service, index).ConsistentRead)).toEqual([true, false]);
  });

  it("TR2: a failed condition that shows a rival's row is a conflict, without another call", async () => {
    const { store, service } = tableOver(inOrder(failedWith(row(THEIRS))));
    expect(await store.write(KEY, "absent", ITEM, MINE)).toEqual({ kind: "conflict" });
    expect(service.requests).toHaveLength(1);
  });

  it("TR2: a failed condition that shows this write's own row means that it had won before", async () => {
    const { store } = tableOver(inOrder(failedWith(row(MINE))));
    expect(await store.write(KEY, VERSION, ITEM, MINE)).toEqual({
      kind: "written",
      version: { revision: 4, token: MINE },
    });
  });

  it("TR2: a server that does not show the row is asked for it, consistently", async () => {
    const own = tableOver(inOrder(failedWith(), json({ Item: row(MINE) })));
    expect((await own.store.write(KEY, VERSION, ITEM, MINE)).kind).toBe("written");
    expect(targets(own.service)).toEqual(["PutItem", "GetItem"]);
    expect(sent(own.service, 1)).toMatchObject({ ConsistentRead: true });
    const rival = tableOver(inOrder(failedWith(), json({ Item: row(THEIRS) })));
    expect((await rival.store.write(KEY, "absent", ITEM, MINE)).kind).toBe("conflict");
    const gone = tableOver(inOrder(failedWith(), json({})));
    expect((await gone.store.write(KEY, VERSION, ITEM, MINE)).kind).toBe("conflict");
    const silent = tableOver(inOrder(failedWith(), timeout()));
    await expect(silent.store.write(KEY, VERSION, ITEM, MINE)).rejects.toThrow();
  });

  it("TR1: a write that met another region's, or a throttle, was refused and is sent again", async () => {
    const won = tableOver(inOrder(conflict, throttled, DONE));
    expect((await won.store.write(KEY, VERSION, ITEM, MINE)).kind).toBe("written");
    expect(targets(won.service)).toEqual(["PutItem", "PutItem", "PutItem"]);
    const lost = tableOver(inOrder(conflict, failedWith(row(THEIRS))));
    expect((await lost.store.write(KEY, VERSION, ITEM, MINE)).kind).toBe("conflict");
    const never = tableOver(inOrder(conflict));
    await expect(never.store.write(KEY, VERSION, ITEM, MINE)).rejects.toMatchObject({ sideEffects: "none" });
    const throttle = tableOver(inOrder(throttled));
    await expect(throttle.store.remove(KEY, VERSION)).rejects.toMatchObject({ sideEffects: "none" });
  });

  it.each([
    ["silence", timeout(), "possible"],
    ["a broken connection", networkError("ECONNRESET"), "possible"],
    ["a 5xx", dynamoError(500, "InternalServerError"), "possible"],
    ["a refused connection", networkError("ECONNREFUSED"), "none"],
    ["an unknown host", networkError("ENOTFOUND"), "none"],
    ["a denied call", dynamoError(400, "AccessDeniedException"), "none"],
  ])("TR1: after %s the write is sent once", async (_, failure, sideEffects) => {
    for (const call of ["write", "remove"] as const) {
      const { store, service } = tableOver(inOrder(failure));
      const asked = call === "write" ? store.write(KEY, VERSION, ITEM, MINE) : store.remove(KEY, VERSION);
      await expect(asked).rejects.toMatchObject({ code: "unavailable", sideEffects });
      expect(service.requests).toHaveLength(1);
    }
  });

  it("a row that is none of ours is damage", async () => {
    for (const broken of [
      { pk: { S: "x" } },
      { ...row(MINE), format: { N: "9" } },
      { ...row(MINE), value: { S: "{" } },
    ]) {
      const { store } = tableOver(inOrder(json({ Item: broken })));
      await expect(store.get(KEY, "consistent")).rejects.toMatchObject({ code: "data_corrupt" });
    }
  });
});

describe("a query", () => {
  it("reads on where DynamoDB ended a page, until the limit", async () => {
    const { store, service } = tableOver(
      inOrder(
        json({ Items: [row(MINE), row(MINE)], LastEvaluatedKey: { pk: { S: "p" }, sk: { S: "b" } } }),
        json({ Items: [row(MINE)], LastEvaluatedKey: { pk: { S: "p" }, sk: { S: "c" } } }),
      ),
    );
    const found = await store.query({ partition: "p", order: "descending", limit: 3 }, "consistent");
    expect(found).toHaveLength(3);
    expect(sent(service, 0)).toMatchObject({ Limit: 3, ScanIndexForward: false, ConsistentRead: true });
    expect(sent(service, 1)).toMatchObject({ Limit: 1, ExclusiveStartKey: { sk: { S: "b" } } });
  });

  it("asks for no range that DynamoDB would refuse", async () => {
    const { store, service } = tableOver(inOrder(json({ Items: [] })));
    const empty = { partition: "p", from: "b", to: "a", order: "ascending", limit: 3 } as const;
    expect(await store.query(empty, "stale")).toEqual([]);
    expect(service.requests).toHaveLength(0);
    await store.query({ ...empty, from: "", to: "a" }, "stale");
    expect(sent(service)).toMatchObject({ KeyConditionExpression: "pk = :pk AND sk <= :to" });
  });
});

describe("replicas", () => {
  const [NEAR, FAR] = [region("us-east-1"), region("us-west-2")];

  function storeOver(near: Script, far: Script, mode: "strong" | "home") {
    const [one, other] = [tableOver(near, NEAR), tableOver(far, FAR)];
    const replicas = [
      { region: NEAR, store: one.store },
      { region: FAR, store: other.store },
    ];
    const kind = mode === "strong" ? ({ kind: mode } as const) : ({ kind: mode, home: FAR } as const);
    const store = new DynamoDbMetadataStore({ replicas, mode: kind, clock: hurried.clock });
    return { store, near: one.service, far: other.service };
  }

  it("DM1: strong asks the nearest, and for ten seconds the next one where that was silent", async () => {
    const { store, near, far } = storeOver(inOrder(timeout()), inOrder(json({ Item: row(MINE) })), "strong");
    expect((await store.get(KEY, "consistent"))?.version.token).toBe(MINE);
    expect((await store.get(KEY, "stale"))?.version.token).toBe(MINE);
    expect([near.requests.length, far.requests.length]).toEqual([1, 2]);
  });

  it("DM3: a write whose outcome is unknown goes to no other replica; a refused one does", async () => {
    const unknown = storeOver(inOrder(timeout()), inOrder(DONE), "strong");
    await expect(unknown.store.write(KEY, VERSION, ITEM, MINE)).rejects.toMatchObject({
      sideEffects: "possible",
    });
    expect(unknown.far.requests).toHaveLength(0);
    // The next call goes where somebody answers.
    expect((await unknown.store.write(KEY, VERSION, ITEM, MINE)).kind).toBe("written");
    const refused = storeOver(inOrder(networkError("ECONNREFUSED")), inOrder(DONE), "strong");
    expect((await refused.store.write(KEY, VERSION, ITEM, MINE)).kind).toBe("written");
  });

  it("DM2: home alone takes writes and consistent reads, also when it is silent", async () => {
    const up = storeOver(inOrder(json({ Item: row(MINE) })), inOrder(json({ Item: row(THEIRS, 9) })), "home");
    expect((await up.store.get(KEY, "consistent"))?.version.token).toBe(THEIRS);
    expect((await up.store.get(KEY, "stale"))?.version.token).toBe(MINE); // a stale replica
    const down = storeOver(inOrder(DONE), inOrder(networkError("ECONNREFUSED")), "home");
    await expect(down.store.write(KEY, VERSION, ITEM, MINE)).rejects.toThrow("us-west-2");
    await expect(down.store.remove(KEY, VERSION)).rejects.toThrow("us-west-2");
    await expect(down.store.get(KEY, "consistent")).rejects.toThrow("us-west-2");
    await expect(
      down.store.query({ partition: "p", order: "ascending", limit: 1 }, "consistent"),
    ).rejects.toThrow("us-west-2");
    expect(down.near.requests).toHaveLength(0);
  });

  it("says what each replica said when none answers", async () => {
    const { store } = storeOver(inOrder(timeout()), inOrder(networkError("ENOTFOUND")), "strong");
    await expect(store.get(KEY, "consistent")).rejects.toThrow(/us-east-1.*us-west-2/s);
  });
});

describe("the deployment's own item", () => {
  const strong = { kind: "deployment", metadataMode: "strong" } as const;
  const home = { kind: "deployment", metadataMode: "home", homeRegion: region("us-east-1") } as const;

  it("is put by the first writer, and lets those of the same mode in", async () => {
    const table = new MemoryMetadataStore();
    const one = new CheckedDeployment(table, home, hurried.random);
    expect(await one.get(KEY, "consistent")).toBeUndefined();
    expect((await one.write(KEY, "absent", ITEM, MINE)).kind).toBe("written");
    const other = new CheckedDeployment(table, home, hurried.random);
    expect((await other.get(KEY, "consistent"))?.version.token).toBe(MINE);
  });

  it.each([
    ["another mode", strong],
    ["another home", { ...home, homeRegion: region("us-west-2") }],
  ])("refuses %s: writers, and readers that decide by what they read", async (_, wanted) => {
    const table = new MemoryMetadataStore();
    await new CheckedDeployment(table, home, hurried.random).write(KEY, "absent", ITEM, MINE);
    const stranger = new CheckedDeployment(table, wanted, hurried.random);
    const refused = { code: "unavailable", retryable: false, sideEffects: "none" };
    await expect(stranger.get(KEY, "consistent")).rejects.toMatchObject(refused);
    await expect(stranger.write(KEY, "absent", ITEM, THEIRS)).rejects.toMatchObject(refused);
    await expect(stranger.remove(KEY, { revision: 1, token: MINE })).rejects.toMatchObject(refused);
    expect((await table.get(KEY, "consistent"))?.version.token).toBe(MINE);
  });

  it("is looked for again until it is found, and then no more", async () => {
    let reads = 0;
    const table = new MemoryMetadataStore();
    const counted = Object.assign(Object.create(table), {
      get: (key: ItemKey, consistency: "consistent" | "stale") => {
        if (key.partition === "deployment") reads += 1;
        return table.get(key, consistency);
      },
      write: table.write.bind(table),
    });
    const store = new CheckedDeployment(counted, home, hurried.random);
    await store.get(KEY, "consistent");
    await store.get(KEY, "consistent");
    expect(reads).toBe(2);
    await store.write(KEY, "absent", ITEM, MINE);
    await store.get(KEY, "consistent");
    await store.get(KEY, "consistent");
    expect(reads).toBe(3);
  });
});

describe("a lease", () => {
  it("is read consistently", async () => {
    const service = new ScriptedService(inOrder(json({})));
    const client = dynamoDbClient("us-east-1", METADATA_WAITS, service.config);
    const store = new DynamoDbLeaseStore({ client, name: "leases", region: "us-east-1", ...hurried });
    expect(await store.read(logIncarnation("l1"))).toBeUndefined();
    expect(sent(service)).toMatchObject({ ConsistentRead: true, Key: { pk: { S: "lease#l1" } } });
  });
});
