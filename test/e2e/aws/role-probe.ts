/**
 * What the roles of a deployment allow, tried out: a function that borrows a deployed function's role and
 * makes calls that its code never would. Only where IAM is enforced does this prove anything.
 */
import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import {
  CreateFunctionCommand,
  DeleteFunctionCommand,
  GetFunctionCommand,
  InvokeCommand,
  LambdaClient,
} from "@aws-sdk/client-lambda";
import { build } from "esbuild";
import { bundleOptions } from "../../../lib/bundles/function-bundles.ts";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));

export type ProbedCall =
  | { readonly kind: "invoke"; readonly region: string; readonly functionName: string }
  | { readonly kind: "put" | "get" | "delete"; readonly region: string; readonly bucket: string };

/** Makes the calls that it is asked for and gives the status of each; 0: no answer. */
const source = `
  import { InvokeCommand, LambdaClient } from "@aws-sdk/client-lambda";
  import { DeleteObjectCommand, GetObjectCommand, PutObjectCommand, S3Client } from "@aws-sdk/client-s3";
  async function made({ kind, region, functionName, bucket }) {
    const fields = { Bucket: bucket, Key: "probe" };
    const s3 = new S3Client({ region, maxAttempts: 1, forcePathStyle: true });
    if (kind === "put") return s3.send(new PutObjectCommand({ ...fields, Body: "x" }));
    if (kind === "get") return s3.send(new GetObjectCommand(fields));
    if (kind === "delete") return s3.send(new DeleteObjectCommand(fields));
    const lambda = new LambdaClient({ region, maxAttempts: 1 });
    return lambda.send(new InvokeCommand({ FunctionName: functionName, Payload: "{}" }));
  }
  exports.handler = async ({ calls }) => {
    const statuses = [];
    for (const call of calls) {
      try {
        await made(call);
        statuses.push(200);
      } catch (error) {
        statuses.push(error.$metadata?.httpStatusCode ?? 0);
      }
    }
    return statuses;
  };
`;

/** The status of each call, made with the role of that function. */
export async function statusesUnderRole(
  directory: string,
  whose: { readonly region: string; readonly functionName: string },
  calls: readonly ProbedCall[],
): Promise<readonly number[]> {
  const client = new LambdaClient({ region: whose.region });
  const { Configuration } = await client.send(new GetFunctionCommand({ FunctionName: whose.functionName }));
  const name = `probe-${randomBytes(4).toString("hex")}`;
  await client.send(
    new CreateFunctionCommand({
      FunctionName: name,
      Runtime: "nodejs20.x",
      Handler: "index.handler",
      Role: Configuration?.Role,
      Code: { ZipFile: await zippedProbe(join(directory, name)) },
      Timeout: 60,
      MemorySize: 512,
    }),
  );
  try {
    const Payload = Buffer.from(JSON.stringify({ calls }));
    const answer = await client.send(new InvokeCommand({ FunctionName: name, Payload }));
    const text = Buffer.from(answer.Payload ?? []).toString();
    if (answer.FunctionError !== undefined) throw new Error(`the probe failed: ${text}`);
    return JSON.parse(text) as number[];
  } finally {
    await client.send(new DeleteFunctionCommand({ FunctionName: name }));
    client.destroy();
  }
}

/** The bucket of a deployed bookie's function. */
export async function bucketOf(region: string, functionName: string): Promise<string> {
  const client = new LambdaClient({ region });
  const { Configuration } = await client.send(new GetFunctionCommand({ FunctionName: functionName }));
  client.destroy();
  return Configuration?.Environment?.Variables?.FENCELINE_BUCKET ?? "";
}

async function zippedProbe(folder: string): Promise<Buffer> {
  const file = join(folder, "index.js");
  const stdin = { contents: source, resolveDir: ROOT, loader: "js" } as const;
  await build({ ...bundleOptions, stdin, outfile: file });
  await promisify(execFile)("python3", ["-m", "zipfile", "-c", `${folder}.zip`, file]);
  return await readFile(`${folder}.zip`);
}
