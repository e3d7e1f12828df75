/**
 * The emulator for a file of suites: started once if it was asked for, with a loud word if it cannot be had.
 */
import { randomUUID } from "node:crypto";
import {
  BillingMode,
  CreateTableCommand,
  type DynamoDBClientConfig,
  KeyType,
  ScalarAttributeType,
} from "@aws-sdk/client-dynamodb";
import { CreateBucketCommand } from "@aws-sdk/client-s3";
import { afterAll, describe, it, vi } from "vitest";
import { type ClientWaits, dynamoDbClient, s3Client } from "../../../lib/adapters/aws/aws-clients.ts";
import type { Table } from "../../../lib/adapters/aws/table-rows.ts";
import { SystemClock } from "../../../lib/adapters/node/system-clock.ts";
import { SystemRandom } from "../../../lib/adapters/node/system-random.ts";
import { MiniStack, NoMiniStack } from "../../e2e/ministack.ts";

/** Set to run what needs an emulator: `npm run emulator`. */
const WANTED = process.env.FENCELINE_EMULATOR !== undefined;

export const clock = new SystemClock();
export const random = new SystemRandom();
const REGION = "us-east-1";
/** How long a busy machine takes is no matter here. */
export const PATIENT: ClientWaits = { connectMs: 60_000, answerMs: 60_000 };

/** Runs `suites` over an emulator, or one skipped test that says why not. */
export async function overEmulator(suites: (emulator: MiniStack) => void): Promise<void> {
  const emulator = await startedEmulator();
  if (typeof emulator === "string") {
    describe.skip(emulator, () => {
      it("is not run", () => undefined);
    });
    return;
  }
  // Each call is a request to one process, which may share its machine with others.
  vi.setConfig({ testTimeout: 600_000, hookTimeout: 60_000 });
  afterAll(() => emulator.stop());
  suites(emulator);
}

async function startedEmulator(): Promise<MiniStack | string> {
  if (!WANTED) return "needs an emulator: npm run emulator";
  try {
    return await MiniStack.start();
  } catch (error) {
    if (!(error instanceof NoMiniStack)) throw error;
    process.stderr.write(`\n!!! NOT TESTED against S3, DynamoDB and Lambda: ${error.message}\n\n`);
    return error.message;
  }
}

/** What a client needs to reach the emulator. */
export function endpointOf(emulator: MiniStack) {
  const credentials = { accessKeyId: "test", secretAccessKey: "test" };
  return { endpoint: emulator.url, credentials } satisfies DynamoDBClientConfig;
}

/** A bucket of its own, and a client for it. */
export async function newBucket(emulator: MiniStack) {
  const client = s3Client(REGION, PATIENT, true, endpointOf(emulator));
  const bucket = `bucket-${randomUUID()}`;
  await client.send(new CreateBucketCommand({ Bucket: bucket }));
  return { client, bucket, close: async () => client.destroy() };
}

/** A table of its own, as the infrastructure makes it. */
export async function newTable(emulator: MiniStack, keys: readonly ("pk" | "sk")[], region = REGION) {
  const client = dynamoDbClient(region, PATIENT, endpointOf(emulator));
  const name = `table-${randomUUID()}`;
  await client.send(
    new CreateTableCommand({
      TableName: name,
      BillingMode: BillingMode.PAY_PER_REQUEST,
      AttributeDefinitions: keys.map((key) => ({ AttributeName: key, AttributeType: ScalarAttributeType.S })),
      KeySchema: keys.map((key) => ({
        AttributeName: key,
        KeyType: key === "pk" ? KeyType.HASH : KeyType.RANGE,
      })),
    }),
  );
  const table = { client, name, region, clock, random };
  return { table, close: async () => client.destroy() };
}

/** The same table where nothing listens: a replica that is down. */
export function unreachable(table: Table): Table {
  const nowhere = { endpoint: "http://127.0.0.1:9", credentials: { accessKeyId: "x", secretAccessKey: "x" } };
  const region = "us-east-2";
  return { ...table, region, client: dynamoDbClient(region, PATIENT, nowhere) };
}
