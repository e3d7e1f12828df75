/**
 * The SDK's clients as the adapters need them: one attempt per call, so that the protocol sees each outcome;
 * kept-alive connections; and waits that end, which the SDK's own defaults do not.
 */
import { DynamoDBClient, type DynamoDBClientConfig } from "@aws-sdk/client-dynamodb";
import { LambdaClient, type LambdaClientConfig } from "@aws-sdk/client-lambda";
import { S3Client, type S3ClientConfig } from "@aws-sdk/client-s3";

export interface ClientWaits {
  /** For a connection to be made: TCP and TLS, three round trips. */
  readonly connectMs: number;
  /** For an answer to begin. */
  readonly answerMs: number;
  /** Requests at once; more wait for a socket. */
  readonly socketsMax?: number;
}

/** Objects of two megabytes, from a store whose slowest answers take a second. */
export const S3_WAITS: ClientWaits = { connectMs: 800, answerMs: 1_500, socketsMax: 128 };
/** Below a third of what one metadata call may take, so that three replicas can be asked. */
export const METADATA_WAITS: ClientWaits = { connectMs: 900, answerMs: 950 };
/** One home for all: there is nobody else to ask. */
export const HOME_WAITS: ClientWaits = { connectMs: 1_400, answerMs: 2_800 };
/** In the function's own region, and within what one lease call may take. */
export const LEASE_WAITS: ClientWaits = { connectMs: 500, answerMs: 950 };
/** As long as a writer waits for one answer of a bookie, and a little longer. */
export const BOOKIE_WAITS: ClientWaits = { connectMs: 1_000, answerMs: 1_800, socketsMax: 256 };
/** Append functions of other regions wait, recover and write. Their callers' own deadlines are shorter. */
export const FORWARD_WAITS: ClientWaits = { connectMs: 1_000, answerMs: 25_000, socketsMax: 256 };

/** How the functions come to their clients; tests put faults under them. */
export interface AwsClients {
  dynamoDb(region: string, waits: ClientWaits): DynamoDBClient;
  lambda(region: string, waits: ClientWaits): LambdaClient;
}

export const awsClients: AwsClients = {
  dynamoDb: (region, waits) => dynamoDbClient(region, waits),
  lambda: (region, waits) => lambdaClient(region, waits),
};

export function dynamoDbClient(
  region: string,
  waits: ClientWaits,
  more: DynamoDBClientConfig = {},
): DynamoDBClient {
  return new DynamoDBClient({ region, maxAttempts: 1, requestHandler: handlerOf(waits), ...more });
}

export function lambdaClient(
  region: string,
  waits: ClientWaits,
  more: LambdaClientConfig = {},
): LambdaClient {
  return new LambdaClient({ region, maxAttempts: 1, requestHandler: handlerOf(waits), ...more });
}

/** `pathStyle`: buckets in the path, for emulators that have no names for them. */
export function s3Client(
  region: string,
  waits: ClientWaits,
  pathStyle: boolean,
  more: S3ClientConfig = {},
): S3Client {
  return new S3Client({
    region,
    maxAttempts: 1,
    forcePathStyle: pathStyle,
    requestHandler: handlerOf(waits),
    ...more,
  });
}

function handlerOf({ connectMs, answerMs, socketsMax = 64 }: ClientWaits) {
  const pool = { keepAlive: true, maxSockets: socketsMax };
  return {
    connectionTimeout: connectMs,
    requestTimeout: answerMs,
    // Without it the SDK warns that the time is over, and waits on.
    throwOnRequestTimeout: true,
    // Silence in the middle of an answer.
    socketTimeout: connectMs + answerMs,
    httpAgent: pool,
    httpsAgent: pool,
  };
}
