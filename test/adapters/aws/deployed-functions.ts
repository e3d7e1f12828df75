/** Two regions of functions on the emulator, as the infrastructure would deploy them, without it. */
import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import {
  CreateFunctionCommand,
  DeleteFunctionCommand,
  GetFunctionCommand,
  InvokeCommand,
  type LambdaClient,
} from "@aws-sdk/client-lambda";
import { CreateBucketCommand } from "@aws-sdk/client-s3";
import { lambdaClient, s3Client } from "../../../lib/adapters/aws/aws-clients.ts";
import { bundleFunctions, type FunctionName } from "../../../lib/bundles/function-bundles.ts";
import {
  type BookieAccess,
  type BookieEntry,
  bookieAccesses,
  bookieVariables,
  type RegionSettings,
  regionVariables,
} from "../../../lib/environment.ts";
import type { MiniStack } from "../../e2e/ministack.ts";
import { endpointOf, newTable, PATIENT } from "./emulator.ts";

const REGIONS = ["us-east-1", "eu-west-1"] as const;
const HOME = REGIONS[0];
const BOOKIES_PER_REGION = 2;

export interface HttpReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
}

export class DeployedFunctions {
  private constructor(
    private readonly clients: ReadonlyMap<string, LambdaClient>,
    readonly bookies: readonly BookieEntry[],
  ) {}

  static async deploy(emulator: MiniStack): Promise<DeployedFunctions> {
    const directory = await mkdtemp(join(tmpdir(), "fenceline-functions-"));
    try {
      const bundles = await bundleFunctions(directory);
      const code = new Map<FunctionName, Buffer>();
      for (const [name, folder] of Object.entries(bundles)) {
        code.set(name as FunctionName, await zipped(folder));
      }
      return await deployed(emulator, code, (...fields) => new DeployedFunctions(...fields));
    } finally {
      await rm(directory, { recursive: true, force: true });
    }
  }

  /** Calls a function with an event of its own. */
  async invoke(region: string, name: string, event: object): Promise<unknown> {
    const Payload = Buffer.from(JSON.stringify(event));
    const answer = await this.#client(region).send(new InvokeCommand({ FunctionName: name, Payload }));
    const text = Buffer.from(answer.Payload ?? new Uint8Array()).toString();
    if (answer.FunctionError !== undefined) throw new Error(`${name} in ${region}: ${text}`);
    return JSON.parse(text);
  }

  /** A request as API Gateway's REST API hands it over. */
  async http(
    region: string,
    name: "append" | "read",
    method: string,
    path: string,
    body?: object,
  ): Promise<HttpReply> {
    const [pathOnly = "", query = ""] = path.split("?");
    const parameters = Object.fromEntries(new URLSearchParams(query));
    const answer = (await this.invoke(region, name, {
      httpMethod: method,
      path: pathOnly,
      resource: "/{proxy+}",
      headers: { "content-type": "application/json", host: "api" },
      multiValueHeaders: null,
      queryStringParameters: parameters,
      multiValueQueryStringParameters: null,
      requestContext: { domainName: "api", stage: "v", path: pathOnly, httpMethod: method },
      body: body === undefined ? null : JSON.stringify(body),
      isBase64Encoded: false,
    })) as { statusCode: number; headers: Record<string, string>; body: string };
    return { status: answer.statusCode, headers: answer.headers, body: JSON.parse(answer.body) };
  }

  async remove(region: string, name: string): Promise<void> {
    await this.#client(region).send(new DeleteFunctionCommand({ FunctionName: name }));
  }

  close(): void {
    for (const client of this.clients.values()) client.destroy();
  }

  #client(region: string): LambdaClient {
    const client = this.clients.get(region);
    if (client === undefined) throw new Error(`no region ${region}`);
    return client;
  }
}

/** The same bookie, as `read` knows it. */
export function asReader(bookie: BookieEntry): BookieEntry {
  return { ...bookie, functionName: bookie.functionName.replace("bookie", "reader") };
}

async function deployed<T>(
  emulator: MiniStack,
  code: ReadonlyMap<FunctionName, Buffer>,
  made: (clients: ReadonlyMap<string, LambdaClient>, bookies: readonly BookieEntry[]) => T,
): Promise<T> {
  const metadata = (await newTable(emulator, ["pk", "sk"], HOME)).table.name;
  const bookies = REGIONS.flatMap((region) =>
    Array.from({ length: BOOKIES_PER_REGION }, (_, index): BookieEntry => {
      const name = `b${index + 1}`;
      return {
        id: `${region}.${name}~${region}-s${index}`,
        region,
        rack: name,
        functionName: `bookie-${name}`,
      };
    }),
  );
  const clients = new Map<string, LambdaClient>();
  for (const region of REGIONS) {
    const client = lambdaClient(region, PATIENT, endpointOf(emulator));
    clients.set(region, client);
    const leaseTable = (await newTable(emulator, ["pk"], region)).table.name;
    const inboxTable = (await newTable(emulator, ["pk", "sk"], region)).table.name;
    const settings = (access: BookieAccess): RegionSettings => ({
      deployment: "emulated",
      logLevel: "INFO",
      regions: REGIONS.map((one) => ({ region: one, appendFunction: "append" })),
      bookies: access === "read" ? bookies.map(asReader) : bookies,
      metadata: { table: metadata, mode: "home", homeRegion: HOME, replicas: [HOME] },
      leaseTable,
      inboxTable,
      defaultReplication: { ensembleSize: 4, writeQuorum: 4, ackQuorum: 3, minRegions: 2 },
      reads: "buffered",
      allowedOrigins: [],
    });
    for (const name of ["append", "read", "auditor"] as const) {
      const variables = regionVariables(settings(name === "read" ? "read" : "write"));
      await create(client, name, code.get(name), variables);
    }
    for (const bookie of bookies.filter((one) => one.region === region)) {
      const { id, functionName } = bookie;
      const bucket = `slots-${region}-${functionName}-${metadata.slice(-8)}`;
      await s3Client(region, PATIENT, true, endpointOf(emulator)).send(
        new CreateBucketCommand({ Bucket: bucket }),
      );
      for (const access of bookieAccesses) {
        const { functionName: name } = access === "read" ? asReader(bookie) : bookie;
        const common = { deployment: "emulated", logLevel: "INFO", storageClass: "STANDARD_IA" } as const;
        const settings = { ...common, bookieId: id, bucket, access };
        await create(client, name, code.get("bookie"), bookieVariables(settings));
      }
    }
  }
  return made(clients, bookies);
}

async function create(
  client: LambdaClient,
  name: string,
  ZipFile: Buffer | undefined,
  variables: Record<string, string>,
): Promise<void> {
  if (ZipFile === undefined) throw new Error(`no bundle for ${name}`);
  await client.send(
    new CreateFunctionCommand({
      FunctionName: name,
      Runtime: "nodejs20.x",
      Handler: "index.handler",
      Role: "arn:aws:iam::000000000000:role/any",
      Code: { ZipFile },
      Timeout: 60,
      MemorySize: 1_024,
      Environment: { Variables: variables },
    }),
  );
  for (let attempt = 0; attempt < 100; attempt++) {
    const { Configuration } = await client.send(new GetFunctionCommand({ FunctionName: name }));
    if (Configuration?.State === undefined || Configuration.State === "Active") return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(`${name} is not active`);
}

/** Python is there wherever the emulator is, and knows the format. */
async function zipped(folder: string): Promise<Buffer> {
  const file = `${folder}.zip`;
  await promisify(execFile)("python3", ["-m", "zipfile", "-c", file, join(folder, "index.js")]);
  return await readFile(file);
}
