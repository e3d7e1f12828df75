/**
 * Regions of functions in this process, over an emulator's S3 and DynamoDB, with faults under every client.
 * Calls between functions are passed on as JSON, through the same faults; several regions share nothing else.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { InvokeCommand, LambdaClient } from "@aws-sdk/client-lambda";
import { type AwsClients, dynamoDbClient } from "../../../lib/adapters/aws/aws-clients.ts";
import { S3EntryStore } from "../../../lib/adapters/aws/s3-entry-store.ts";
import { LogClient } from "../../../lib/client/log-client.ts";
import { type BookieEntry, type RegionSettings, storageOf } from "../../../lib/environment.ts";
import { answerBookieCall } from "../../../lib/lambda/answer-bookie-call.ts";
import { AppendFunction } from "../../../lib/lambda/append-function.ts";
import { ReadFunction } from "../../../lib/lambda/read-function.ts";
import { type RegionWorld, regionWorld } from "../../../lib/lambda/region-world.ts";
import { StoredBookie, setUpStorage } from "../../../lib/protocol/bookie/stored-bookie.ts";
import { bookieId } from "../../../lib/protocol/ids.ts";
import { registerBookie } from "../../../lib/protocol/placement/registry.ts";
import type { Bookie } from "../../../lib/protocol/ports.ts";
import type { MiniStack } from "../../e2e/ministack.ts";
import { asReader } from "./deployed-functions.ts";
import { clock, endpointOf, newBucket, newTable, PATIENT, random } from "./emulator.ts";
import { type FaultLayer, LAG_MS } from "./fault-layer.ts";

export const REGIONS = ["us-east-1", "eu-west-1"] as const;
const HOME = REGIONS[0];
const SEGMENT_BYTES = 2_000;

type Served = (event: unknown) => Promise<unknown>;

export interface RegionsInProcess {
  readonly clients: readonly LogClient[];
}

export async function regionsInProcess(emulator: MiniStack, faults: FaultLayer): Promise<RegionsInProcess> {
  const functions = new Map<string, Served>();
  const aws = faultyClients(emulator, faults, functions);
  const metadata = (await newTable(emulator, ["pk", "sk"], HOME)).table.name;
  const bookies = REGIONS.flatMap((region) =>
    ["b1", "b2"].map((name): BookieEntry => {
      return {
        id: `${region}.${name}~${region}-${name}`,
        region,
        rack: name,
        functionName: `bookie-${name}`,
      };
    }),
  );
  for (const one of bookies) {
    const stored = await bookie(emulator, faults, one);
    functions.set(`${one.region} ${one.functionName}`, (event) => answerBookieCall(stored, event));
    functions.set(`${one.region} ${asReader(one).functionName}`, (event) =>
      answerBookieCall(stored, event, "read"),
    );
  }
  const common = {
    deployment: "faulty",
    logLevel: "ERROR",
    regions: REGIONS.map((one) => ({ region: one, appendFunction: "append" })),
    bookies,
    // Both have a copy; an emulator knows one, and the faults make it two.
    metadata: { table: metadata, mode: "home", homeRegion: HOME, replicas: REGIONS },
    defaultReplication: { ensembleSize: 4, writeQuorum: 4, ackQuorum: 3, minRegions: 2 },
    reads: "buffered",
    inboxTable: "none",
    allowedOrigins: [],
  } as const;
  const deploying = regionWorld({ ...common, leaseTable: "none" }, { region: HOME, stage: "auditor" }, aws);
  for (const one of deploying.bookies) await untilDone(() => registerBookie(deploying.ports, one));
  // Functions start later than bookies are registered, and replicas have heard of those by then.
  await sleep(LAG_MS);
  const clients: LogClient[] = [];
  for (const region of REGIONS) {
    const leaseTable = (await newTable(emulator, ["pk"], HOME)).table.name;
    const settings: RegionSettings = { ...common, leaseTable };
    const world = withShortSegments(regionWorld(settings, { region, stage: "append" }, aws));
    const append = new AppendFunction(world);
    const read = new ReadFunction(
      regionWorld({ ...settings, bookies: bookies.map(asReader) }, { region, stage: "read" }, aws),
    );
    functions.set(`${region} append`, (event) => append.serve(event));
    clients.push(clientOf(region, append, read));
  }
  return { clients };
}

/** Segments end all the time, so that metadata is written and read all the time. */
function withShortSegments(world: RegionWorld): RegionWorld {
  return { ...world, defaultConfig: { ...world.defaultConfig, segmentBytesMax: SEGMENT_BYTES } };
}

function faultyClients(
  emulator: MiniStack,
  faults: FaultLayer,
  functions: ReadonlyMap<string, Served>,
): AwsClients {
  return {
    dynamoDb: () => faults.underDynamoDb(dynamoDbClient(HOME, PATIENT, endpointOf(emulator))),
    lambda: (region) => {
      const send = async ({ input }: InvokeCommand) => {
        const served = functions.get(`${region} ${input.FunctionName}`);
        if (served === undefined) throw new Error(`no function ${input.FunctionName} in ${region}`);
        const event: unknown = JSON.parse(Buffer.from(input.Payload as Uint8Array).toString());
        const answer = await faults.call(() => served(event));
        return { Payload: Buffer.from(JSON.stringify(answer)) };
      };
      return { send } as unknown as LambdaClient;
    },
  };
}

async function bookie(emulator: MiniStack, faults: FaultLayer, entry: BookieEntry): Promise<Bookie> {
  const { client, bucket } = await newBucket(emulator);
  const store = new S3EntryStore({ client, bucket, clock, random });
  const storage = storageOf(entry.id);
  await setUpStorage(store, storage);
  faults.underS3(client);
  return new StoredBookie({ id: bookieId(entry.id), storage, store, clock });
}

/** Requests as API Gateway passes them on: what changes something to `append`, the rest to `read`. */
function clientOf(region: string, append: AppendFunction, read: ReadFunction): LogClient {
  return new LogClient({
    endpoint: `http://${region}`,
    timeoutMs: 60_000,
    send: async (url, request) => {
      const { pathname, searchParams } = new URL(url);
      const event = {
        httpMethod: request.method,
        path: pathname,
        headers: request.headers,
        queryStringParameters: Object.fromEntries(searchParams),
        requestContext: { domainName: region },
        body: request.body ?? null,
        isBase64Encoded: false,
      };
      const served = request.method === "GET" ? read : append;
      const answer = (await served.serve(event)) as {
        statusCode: number;
        headers: Record<string, string>;
        body: string;
      };
      return new Response(answer.body, { status: answer.statusCode, headers: answer.headers });
    },
  });
}

async function untilDone<T>(call: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await call();
    } catch (error) {
      if (attempt >= 20) throw error;
    }
  }
}
