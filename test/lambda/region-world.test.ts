/** What a region's functions are composed of: whom they ask for what, and how long they wait for it. */
import type { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import type { LambdaClient } from "@aws-sdk/client-lambda";
import { beforeEach, describe, expect, it, vi } from "vitest";
import {
  type AwsClients,
  BOOKIE_WAITS,
  type ClientWaits,
  dynamoDbClient,
  FORWARD_WAITS,
  HOME_WAITS,
  LEASE_WAITS,
  lambdaClient,
  METADATA_WAITS,
} from "../../lib/adapters/aws/aws-clients.ts";
import type { RegionSettings } from "../../lib/environment.ts";
import { encodeItem } from "../../lib/formats/metadata-item-format.ts";
import { regionWorld } from "../../lib/lambda/region-world.ts";
import {
  bookieId,
  entryId,
  ledgerId,
  logIncarnation,
  logName,
  region,
  writeToken,
} from "../../lib/protocol/ids.ts";
import { type DeploymentItem, type Item, logNameKey } from "../../lib/protocol/items.ts";
import { json, ScriptedService, timeout } from "../adapters/aws/scripted-service.ts";

const REGIONS = ["us-east-1", "us-east-2", "us-west-2"] as const;
const OWN = "us-east-2";
const KEY = logNameKey(logName("orders"));
const ITEM: Item = { kind: "log-name", name: logName("orders"), incarnation: logIncarnation("l1") };
const TOKEN = writeToken("mine");

const made: Record<RegionSettings["metadata"]["mode"], DeploymentItem> = {
  strong: { kind: "deployment", metadataMode: "strong" },
  home: { kind: "deployment", metadataMode: "home", homeRegion: region("us-east-1") },
};

/** AWS as far as a region's functions know it: which service was asked for what, by clients with which waits. */
class AskedAws implements AwsClients {
  readonly asked: string[] = [];
  readonly waits = new Map<string, ClientWaits>();
  readonly silent = new Set<string>();

  constructor(private readonly stored: DeploymentItem) {}

  dynamoDb(name: string, waits: ClientWaits): DynamoDBClient {
    const { config } = new ScriptedService(({ headers, body }) => {
      const { TableName, Key } = JSON.parse(body);
      const what = headers["x-amz-target"]?.replace("DynamoDB_20120810.", "");
      this.waits.set(TableName, waits);
      const isCheck = Key?.pk?.S?.includes("deployment") === true;
      if (!isCheck) this.asked.push(`${what} ${TableName} ${name}`);
      if (this.silent.has(name)) throw timeout();
      return isCheck ? json({ Item: rowOf(Key, this.stored) }) : json({});
    });
    return dynamoDbClient(name, waits, config);
  }

  lambda(name: string, waits: ClientWaits): LambdaClient {
    const { config } = new ScriptedService(({ path }) => {
      const called = decodeURIComponent(path.split("/")[3] ?? "");
      this.waits.set(called, waits);
      this.asked.push(`${called} ${name}`);
      return json({ format: 1, answer: path.includes("bookie") ? { kind: "nothing" } : true });
    });
    return lambdaClient(name, waits, config);
  }
}

const rowOf = (key: object, item: Item) => ({
  ...key,
  format: { N: "1" },
  revision: { N: "1" },
  token: { S: "theirs" },
  value: { S: JSON.stringify(encodeItem(item)) },
});

function settings(mode: "strong" | "home"): RegionSettings {
  return {
    deployment: "glog",
    logLevel: "ERROR",
    regions: REGIONS.map((name) => ({ region: name, appendFunction: `append-${name}` })),
    bookies: REGIONS.map((name) => {
      return { id: `${name}.b1~s1`, region: name, rack: "r", functionName: `bookie-${name}` };
    }),
    metadata: {
      table: "metadata",
      mode,
      replicas: mode === "strong" ? REGIONS : ["us-east-1", "us-west-2", OWN],
      ...(mode === "home" ? { homeRegion: "us-east-1" } : {}),
    },
    leaseTable: "leases",
    inboxTable: "inbox",
    defaultReplication: { ensembleSize: 3, writeQuorum: 3, ackQuorum: 2, minRegions: 2 },
    reads: "buffered",
    allowedOrigins: [],
  };
}

function world(mode: "strong" | "home", stored = made[mode]) {
  const aws = new AskedAws(stored);
  return { aws, ...regionWorld(settings(mode), { region: OWN, stage: "append" }, aws) };
}

beforeEach(() => {
  vi.stubEnv("POWERTOOLS_METRICS_DISABLED", "true");
});

describe("metadata in mode strong", () => {
  it("M1: the own region's replica is asked for everything, and the next where it is silent", async () => {
    const { aws, ports } = world("strong");
    await ports.metadata.get(KEY, "consistent");
    await ports.metadata.get(KEY, "stale");
    await ports.metadata.write(KEY, "absent", ITEM, TOKEN);
    expect(aws.asked).toEqual([
      `GetItem metadata ${OWN}`,
      `GetItem metadata ${OWN}`,
      `PutItem metadata ${OWN}`,
    ]);
    aws.silent.add(OWN);
    await ports.metadata.get(KEY, "consistent");
    expect(aws.asked.slice(3)).toEqual([`GetItem metadata ${OWN}`, "GetItem metadata us-east-1"]);
    expect(aws.waits.get("metadata")).toEqual(METADATA_WAITS);
  });
});

describe("metadata in mode home", () => {
  it("M2: the home decides, the own replica answers reads that may be stale", async () => {
    const { aws, ports } = world("home");
    await ports.metadata.get(KEY, "stale");
    await ports.metadata.get(KEY, "consistent");
    await ports.metadata.write(KEY, "absent", ITEM, TOKEN);
    expect(aws.asked).toEqual([
      `GetItem metadata ${OWN}`,
      "GetItem metadata us-east-1",
      "PutItem metadata us-east-1",
    ]);
    expect(aws.waits.get("metadata")).toEqual(HOME_WAITS);
  });
});

describe.each(["strong", "home"] as const)("a function that is set to mode %s", (mode) => {
  it("decides nothing by a table that was made for the other mode", async () => {
    const { aws, ports } = world(mode, made[mode === "home" ? "strong" : "home"]);
    await expect(ports.metadata.get(KEY, "consistent")).rejects.toThrow("deploy with the table's own mode");
    const written = aws.asked.length;
    await expect(ports.metadata.write(KEY, "absent", ITEM, TOKEN)).rejects.toThrow("made for");
    expect(aws.asked.slice(written)).toEqual([]);
  });

  it("asks leases of its own region's table, bookies and appends where they are", async () => {
    const { aws, ports, appends } = world(mode);
    await ports.leases?.store.read(logIncarnation("l1"));
    await ports.bookies.bookie(bookieId("us-west-2.b1~s1")).read(ledgerId(7), entryId(0));
    await appends.canOwn(region("us-east-1"), logIncarnation("l1"));
    expect(aws.asked).toEqual([
      `GetItem leases ${OWN}`,
      "bookie-us-west-2 us-west-2",
      "append-us-east-1 us-east-1",
    ]);
    expect(aws.waits.get("leases")).toEqual(LEASE_WAITS);
    expect(aws.waits.get("bookie-us-west-2")).toEqual(BOOKIE_WAITS);
    expect(aws.waits.get("append-us-east-1")).toEqual(FORWARD_WAITS);
  });

  it("finds no bookies that it was not told of", async () => {
    const { ports } = world(mode);
    const stranger = ports.bookies.bookie(bookieId("eu-west-1.b1~s1"));
    await expect(stranger.read(ledgerId(7), entryId(0))).rejects.toMatchObject({ sideEffects: "none" });
  });
});
