/**
 * What a function reads once when it starts, as the append function's rule AF2 has it: the registry, over
 * DynamoDB's client with a scripted service behind it.
 */
import { setTimeout } from "node:timers/promises";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { encodeAppendCall } from "../../lib/adapters/aws/append-call.ts";
import { dynamoDbClient, lambdaClient } from "../../lib/adapters/aws/aws-clients.ts";
import { SystemRandom } from "../../lib/adapters/node/system-random.ts";
import { AppendFunction } from "../../lib/lambda/append-function.ts";
import { AuditorFunction } from "../../lib/lambda/auditor-function.ts";
import { regionWorld } from "../../lib/lambda/region-world.ts";
import { type LogName, newLogIncarnation } from "../../lib/protocol/ids.ts";
import {
  dynamoError,
  json,
  type Script,
  type ScriptedReply,
  type ScriptedRequest,
  ScriptedService,
} from "../adapters/aws/scripted-service.ts";
import { oneRegion } from "./one-region.ts";

const empty = json({ Items: [], Count: 0 });
/** A refusal that is not tried again by itself. */
const refused = dynamoError(400, "ValidationException");

/** A partition that a query of the metadata is for; undefined of any other request. */
function partitionOf({ headers, body }: ScriptedRequest): string | undefined {
  if (headers["x-amz-target"]?.endsWith(".Query") !== true) return undefined;
  return ["regions", "bookies"].find((name) => body.includes(`"${name}"`));
}

/** A region's world; `registry` answers the queries of the registry, everything else is found empty. */
function started(registry: Script) {
  const script: Script = (request) => (partitionOf(request) === undefined ? json({}) : registry(request));
  const service = new ScriptedService(script);
  const world = (stage: string) =>
    regionWorld(
      oneRegion,
      { region: "us-east-1", stage },
      {
        dynamoDb: (region, waits) => dynamoDbClient(region, waits, service.config),
        lambda: (region, waits) => lambdaClient(region, waits, service.config),
      },
    );
  return { world, read: () => service.requests.map(partitionOf).filter((one) => one !== undefined) };
}

const log = "there-is-no-such-log" as LogName;
const records = [{ body: new Uint8Array(1), headers: [] }];
const appendCall = encodeAppendCall({ operation: "append", request: { log, records } });
const notFound = { failure: { code: "log_not_found" } };

const request = (append: AppendFunction) => append.serve(appendCall);

const until = (ready: () => boolean) => vi.waitFor(() => expect(ready()).toBe(true), { interval: 1 });

// Metrics go to the output of a function, which is not the output of a test.
beforeEach(() => {
  vi.stubEnv("POWERTOOLS_METRICS_DISABLED", "true");
});
afterEach(() => {
  vi.unstubAllEnvs();
});

test("AF2 the registry is read when the process starts, and for no request again", async () => {
  const { world, read } = started(() => empty);
  const append = new AppendFunction(world("append"));
  await until(() => read().length === 2);
  for (let times = 0; times < 3; times++) {
    expect(await request(append)).toMatchObject(notFound);
  }
  expect(read().sort()).toEqual(["bookies", "regions"]);
});

test("AF2 a request waits for the reading that the start began, and begins none beside it", async () => {
  const held: ((reply: ScriptedReply) => void)[] = [];
  const { world, read } = started(() => new Promise((resolve) => held.push(resolve)));
  const append = new AppendFunction(world("append"));
  let isAnswered = false;
  const answer = request(append).finally(() => {
    isAnswered = true;
  });
  await until(() => held.length === 2);
  expect(isAnswered).toBe(false);
  for (const release of held) release(empty);
  expect(await answer).toMatchObject(notFound);
  expect(read()).toHaveLength(2);
});

test("AF2 a start that failed is not remembered: the request is served, and the next one reads anew", async () => {
  let isUp = false;
  const answered: (string | undefined)[] = [];
  const { world, read } = started((asked) => {
    if (isUp) answered.push(partitionOf(asked));
    return isUp ? empty : refused;
  });
  const append = new AppendFunction(world("append"));
  await until(() => read().length >= 2);
  expect(await request(append)).toMatchObject(notFound);
  await setTimeout(20); // whatever the failed readings still ask
  isUp = true;
  for (let times = 0; times < 2; times++) {
    expect(await request(append)).toMatchObject(notFound);
    expect(answered.sort()).toEqual(["bookies", "regions"]);
  }
});

test("AF2 a registry that hangs holds up a request for a second, and no question whether the region lives", async () => {
  const { world } = started(() => new Promise(() => {}));
  const append = new AppendFunction(world("append"));
  const log = newLogIncarnation(new SystemRandom());
  const startedMs = performance.now();
  const answer = await append.serve(encodeAppendCall({ operation: "can-own", log }));
  expect(answer).toMatchObject({ answer: true });
  expect(performance.now() - startedMs).toBeLessThan(900);
  expect(await request(append)).toMatchObject(notFound);
});

test("the auditor reads the registry before each pass, however young its copy is", async () => {
  const { world, read } = started(() => empty);
  const auditor = new AuditorFunction(world("auditor"));
  await auditor.serve({});
  const first = read().length;
  await auditor.serve({});
  expect(first).toBeGreaterThanOrEqual(2);
  expect(read().length - first).toBeGreaterThanOrEqual(2);
});
