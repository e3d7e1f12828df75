/**
 * What the functions cost at a cold start: `npm run bench -- bundles [--json]`. Builds each, and beside it a
 * bare handler that has the same SDK clients and does nothing else, bundled as SDK users do; compares their
 * sizes, and the times that fresh processes take to load them. What is not done at load is done by the first
 * request, so the time until that is answered is printed, too. Exits with 1 if a gate fails.
 */
import { execFile } from "node:child_process";
import { mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { build } from "esbuild";
import {
  BUNDLE_FILE,
  bundleFunctions,
  bundleOptions,
  type FunctionName,
} from "../../lib/bundles/function-bundles.ts";
import { bookieVariables, regionVariables } from "../../lib/environment.ts";
import { oneRegion } from "../lambda/one-region.ts";
import { atMost, type Gate, gateLines } from "./reads/gates.ts";

/**
 * Fresh processes per bundle, one of each in turns. Their time is what the processors work, and the least of
 * them counts, since whatever else the machine does only adds.
 */
const LOADS = 20;

interface Compared {
  readonly name: FunctionName;
  readonly bare: "s3" | "dynamodb-lambda";
  readonly sizeMax: number;
  readonly loadMax: number;
}

const compared: readonly Compared[] = [
  { name: "bookie", bare: "s3", sizeMax: 1.15, loadMax: 1.15 },
  { name: "append", bare: "dynamodb-lambda", sizeMax: 2, loadMax: 1.5 },
  { name: "read", bare: "dynamodb-lambda", sizeMax: 2, loadMax: 1.5 },
];

/** One client each, with the commands that our functions send. */
const bareHandlers = {
  s3: `
    import * as sdk from "@aws-sdk/client-s3";
    const client = new sdk.S3Client({});
    const commands = [sdk.PutObjectCommand, sdk.GetObjectCommand, sdk.DeleteObjectCommand, sdk.ListObjectsV2Command];
    export const handler = (event) => client.send(new commands[event.index](event.input));`,
  "dynamodb-lambda": `
    import * as db from "@aws-sdk/client-dynamodb";
    import { InvokeCommand, LambdaClient } from "@aws-sdk/client-lambda";
    const [client, lambda] = [new db.DynamoDBClient({}), new LambdaClient({})];
    const commands = [db.PutItemCommand, db.GetItemCommand, db.DeleteItemCommand, db.QueryCommand];
    export const handler = (event) =>
      event.invoke ? lambda.send(new InvokeCommand(event.input)) : client.send(new commands[event.index](event.input));`,
} as const;

/**
 * First requests that go through all of the HTTP surface and are refused by the schemas of their bodies or
 * queries: they ask nothing of storage or metadata.
 */
const firstRequests: Partial<Record<FunctionName, object>> = {
  append: httpEvent("POST", {
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ records: [{ body: "x", headers: [["a", "b"]] }], match_seq_num: -1 }),
  }),
  read: httpEvent("GET", { queryStringParameters: { seq_num: "-1" } }),
};

function httpEvent(httpMethod: string, more: object): object {
  const path = "/v1/logs/orders/records";
  return { httpMethod, path, requestContext: {}, headers: {}, body: null, isBase64Encoded: false, ...more };
}

/** A function does not load without its environment. */
const environment = {
  AWS_REGION: "us-east-1",
  AWS_ACCESS_KEY_ID: "none",
  AWS_SECRET_ACCESS_KEY: "none",
  AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: "true",
  ...bookieVariables({
    deployment: "bench",
    logLevel: "ERROR",
    bookieId: "us-east-1.b1~s1",
    bucket: "b",
    access: "write",
    storageClass: "STANDARD",
  }),
  ...regionVariables(oneRegion),
};

async function main(isForPrograms: boolean): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), "fenceline-bundles-"));
  const tables = await emptyTables();
  try {
    // As in Lambda, where no package.json stands above that makes ES modules of them.
    await writeFile(join(directory, "package.json"), '{"type":"commonjs"}');
    const bundles = await bundleFunctions(join(directory, "functions"));
    const files = await bareBundles(directory);
    for (const { name } of compared) files.set(name, join(bundles[name], BUNDLE_FILE));
    const times = await quickest(files, { ...environment, AWS_ENDPOINT_URL: tables.endpoint });
    const gates: Gate[] = [];
    for (const { name, bare, sizeMax, loadMax } of compared) {
      const [ours, theirs] = [await sizeOf(files, name), await sizeOf(files, bare)];
      const [oursMs, theirsMs] = [timesOf(times, name), timesOf(times, bare)];
      const first =
        name in firstRequests ? ` (with its first request ${oursMs.answeredMs.toFixed(1)} ms)` : "";
      process.stdout.write(
        `${name}: ${Math.round(ours / 1024)} KB, ${oursMs.loadMs.toFixed(1)} ms${first}; ` +
          `bare ${bare}: ${Math.round(theirs / 1024)} KB, ${theirsMs.loadMs.toFixed(1)} ms\n`,
      );
      gates.push(atMost(`${name}: size over bare`, ours / theirs, sizeMax));
      gates.push(atMost(`${name}: load time over bare`, oursMs.loadMs / theirsMs.loadMs, loadMax));
    }
    process.stdout.write(`\n${gateLines(gates)}`);
    if (isForPrograms) process.stdout.write(`${JSON.stringify({ name: "bundles", gates })}\n`);
    if (gates.some((gate) => !gate.holds)) process.exitCode = 1;
  } finally {
    tables.server.close();
    tables.server.closeAllConnections();
    await rm(directory, { recursive: true, force: true });
  }
}

/** In DynamoDB's place, for what functions read when they start: nothing is there. */
async function emptyTables(): Promise<{ readonly server: Server; readonly endpoint: string }> {
  const server = createServer((request, response) => {
    request.resume().on("end", () => {
      response.writeHead(200, { "content-type": "application/x-amz-json-1.0" }).end("{}");
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { server, endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

async function bareBundles(directory: string): Promise<Map<string, string>> {
  const files = new Map<string, string>();
  for (const [name, contents] of Object.entries(bareHandlers)) {
    const outfile = join(directory, name, BUNDLE_FILE);
    const stdin = { contents, resolveDir: bundleOptions.absWorkingDir, loader: "js" as const };
    // What we leave out of ours stays in: a bare handler's author would not have looked.
    await build({ ...bundleOptions, plugins: [], stdin, outfile });
    files.set(name, outfile);
  }
  return files;
}

async function sizeOf(files: ReadonlyMap<string, string>, name: string): Promise<number> {
  return (await stat(files.get(name) ?? "")).size;
}

interface Times {
  readonly loadMs: number;
  /** From the start of the load until the first request is answered; of a handler without one, as `loadMs`. */
  readonly answeredMs: number;
}

/** The least times of each, all of them in turns, another one first each time: a busy moment hits all alike. */
async function quickest(
  files: ReadonlyMap<string, string>,
  env: Readonly<Record<string, string>>,
): Promise<ReadonlyMap<string, Times>> {
  const least = new Map<string, Times>();
  const names = [...files.keys()];
  for (let round = 0; round < LOADS; round++) {
    const first = round % names.length;
    for (const name of [...names.slice(first), ...names.slice(0, first)]) {
      const { loadMs, answeredMs } = await loadOnce(files.get(name) ?? "", name, env);
      const before = least.get(name) ?? { loadMs, answeredMs };
      least.set(name, {
        loadMs: Math.min(loadMs, before.loadMs),
        answeredMs: Math.min(answeredMs, before.answeredMs),
      });
    }
  }
  return least;
}

function timesOf(times: ReadonlyMap<string, Times>, name: string): Times {
  const found = times.get(name);
  if (found === undefined) throw new Error(`${name} was not measured`);
  return found;
}

const script = `
  const [file, request] = process.argv.slice(1);
  const before = process.cpuUsage();
  const workedMs = () => {
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1000;
  };
  const { handler } = require(file);
  const loadMs = workedMs();
  if (typeof handler !== "function") throw new Error("it has no handler");
  const tell = () => {
    process.stdout.write("\\n" + JSON.stringify({ loadMs, answeredMs: workedMs() }));
    process.exit(0);
  };
  if (request === "") tell();
  else handler(JSON.parse(request), {}).then(({ statusCode, body }) => {
    if (statusCode !== 400) throw new Error("it answered " + statusCode + ": " + body);
    tell();
  });`;

async function loadOnce(file: string, name: string, env: NodeJS.ProcessEnv): Promise<Times> {
  const event = name in firstRequests ? JSON.stringify(firstRequests[name as FunctionName]) : "";
  const run = promisify(execFile);
  const { stdout } = await run(process.execPath, ["-e", script, file, event], { env });
  // What the function itself logs stands above.
  return JSON.parse(stdout.slice(stdout.lastIndexOf("\n"))) as Times;
}

await main(process.argv.includes("--json"));
