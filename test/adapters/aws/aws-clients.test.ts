/**
 * The SDK's clients as they are made for the adapters, against a server that is slow, fails or is silent: waits
 * end, each call is one attempt, and connections are kept.
 */
import { once } from "node:events";
import { createServer, type RequestListener, type Server } from "node:http";
import { ListTablesCommand } from "@aws-sdk/client-dynamodb";
import { InvokeCommand } from "@aws-sdk/client-lambda";
import { ListObjectsV2Command } from "@aws-sdk/client-s3";
import { NodeHttpHandler } from "@smithy/node-http-handler";
import { afterEach, describe, expect, it } from "vitest";
import {
  BOOKIE_WAITS,
  type ClientWaits,
  dynamoDbClient,
  FORWARD_WAITS,
  HOME_WAITS,
  LEASE_WAITS,
  lambdaClient,
  METADATA_WAITS,
  S3_WAITS,
  s3Client,
} from "../../../lib/adapters/aws/aws-clients.ts";
import { callFailure } from "../../../lib/adapters/aws/call-failure.ts";
import { limits } from "../../../lib/protocol/limits.ts";

const credentials = { accessKeyId: "x", secretAccessKey: "x" };
const HURRIED: ClientWaits = { connectMs: 200, answerMs: 150 };

/** One call of each service, by a client that is made as the adapters' are. */
const calls: Readonly<Record<string, (waits: ClientWaits, endpoint: string) => () => Promise<unknown>>> = {
  DynamoDB: (waits, endpoint) => {
    const client = dynamoDbClient("us-east-1", waits, { endpoint, credentials });
    return () => client.send(new ListTablesCommand({}));
  },
  Lambda: (waits, endpoint) => {
    const client = lambdaClient("us-east-1", waits, { endpoint, credentials });
    return () => client.send(new InvokeCommand({ FunctionName: "f" }));
  },
  S3: (waits, endpoint) => {
    const client = s3Client("us-east-1", waits, true, { endpoint, credentials });
    return () => client.send(new ListObjectsV2Command({ Bucket: "slots" }));
  },
};

describe.each(Object.entries(calls))("a client of %s", (_, make) => {
  let server: Server | undefined;
  let [requests, connections] = [0, 0];

  async function listening(answer: RequestListener): Promise<string> {
    [requests, connections] = [0, 0];
    server = createServer((request, response) => {
      requests += 1;
      request.resume();
      answer(request, response);
    });
    server.on("connection", () => {
      connections += 1;
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const address = server.address();
    return `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}`;
  }

  afterEach(() => {
    server?.closeAllConnections();
    server?.close();
  });

  it("gives up on a silent service, once, and what it asked for may have happened", async () => {
    const call = make(HURRIED, await listening(() => undefined));
    const error = await call().then(
      () => expect.fail("it was answered"),
      (failure: unknown) => failure,
    );
    expect(callFailure(error)).toMatchObject({ name: "TimeoutError", sideEffects: "possible" });
    expect(requests).toBe(1);
  });

  it("asks once where the service fails or throttles: the protocol sees each outcome", async () => {
    for (const status of [500, 503, 429]) {
      const call = make(HURRIED, await listening((_request, response) => response.writeHead(status).end()));
      await expect(call()).rejects.toMatchObject({ $metadata: { httpStatusCode: status } });
      expect(requests).toBe(1);
    }
  });

  it("keeps its connection from one call to the next", async () => {
    const call = make(HURRIED, await listening((_request, response) => response.end()));
    for (let n = 0; n < 3; n++) await call().catch(() => undefined); // an empty answer may be none
    expect([requests, connections]).toEqual([3, 1]);
  });
});

describe("waits", () => {
  it("end before whoever asks has gone, and no connection is waited for without end", () => {
    const { metadataCallTimeoutMs, leaseCallTimeoutMs, bookieCallTimeoutMs } = limits;
    const together = ({ connectMs, answerMs }: ClientWaits) => connectMs + answerMs;
    expect(3 * METADATA_WAITS.answerMs).toBeLessThanOrEqual(metadataCallTimeoutMs);
    expect(HOME_WAITS.answerMs).toBeLessThanOrEqual(metadataCallTimeoutMs);
    expect(LEASE_WAITS.answerMs).toBeLessThanOrEqual(leaseCallTimeoutMs);
    expect(BOOKIE_WAITS.answerMs).toBeGreaterThanOrEqual(bookieCallTimeoutMs);
    for (const waits of [S3_WAITS, METADATA_WAITS, HOME_WAITS, LEASE_WAITS, BOOKIE_WAITS, FORWARD_WAITS]) {
      expect(waits.connectMs).toBeGreaterThan(0);
      expect(together(waits)).toBeLessThan(29_000);
    }
  });

  it.each(Object.keys(calls))("%s: the client has them", async (name) => {
    const client = {
      DynamoDB: dynamoDbClient("us-east-1", HURRIED),
      Lambda: lambdaClient("us-east-1", HURRIED),
      S3: s3Client("us-east-1", HURRIED, true),
    }[name];
    const { requestHandler } = client?.config ?? expect.fail(`no client ${name}`);
    // The handler resolves what it was given when it is first used.
    await requestHandler.handle({} as never).catch(() => undefined);
    if (!(requestHandler instanceof NodeHttpHandler)) expect.fail("another handler of requests");
    expect(requestHandler.httpHandlerConfigs()).toMatchObject({
      connectionTimeout: HURRIED.connectMs,
      requestTimeout: HURRIED.answerMs,
      throwOnRequestTimeout: true,
    });
  });
});
