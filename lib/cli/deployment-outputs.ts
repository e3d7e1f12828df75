/** What `cdk deploy --outputs-file` wrote of a deployment, read for where its regions are. */
import { readFile } from "node:fs/promises";
import { endpointFault } from "../client/endpoint.ts";
import { NotFoundError, UsageError } from "./exit-codes.ts";
import { quoted } from "./shell-words.ts";

export interface DeployedRegion {
  readonly region: string;
  readonly endpoint: string;
  readonly functions: { readonly append: string; readonly read: string };
}

/** Throws UsageError. */
export async function readOutputs(path: string): Promise<readonly DeployedRegion[]> {
  let json: unknown;
  try {
    json = JSON.parse(await readFile(path, "utf8"));
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    const deploy = `npx cdk deploy --all --outputs-file ${quoted(path)}`;
    throw new UsageError(`--outputs ${path} cannot be read (${why}); ${deploy} writes it`);
  }
  const stacks = typeof json === "object" && json !== null ? Object.values(json) : [];
  const regions = stacks.flatMap((outputs: unknown) => regionOf(outputs) ?? []);
  if (regions.length > 0) return regions;
  throw new UsageError(`--outputs ${path} names no region of a deployment; it has no stack with an Endpoint`);
}

/** Throws UsageError. */
function regionOf(outputs: unknown): DeployedRegion | undefined {
  if (typeof outputs !== "object" || outputs === null) return undefined;
  const { Region, Endpoint, AppendFunction, ReadFunction } = outputs as Readonly<Record<string, unknown>>;
  if (typeof Region !== "string" || typeof Endpoint !== "string") return undefined;
  const fault = endpointFault(Endpoint);
  if (fault !== undefined) throw new UsageError(`the Endpoint of ${Region} that --outputs names ${fault}`);
  const functions = { append: String(AppendFunction), read: String(ReadFunction) };
  return { region: Region, endpoint: reachable(Endpoint), functions };
}

/**
 * An emulator serves its APIs at its own address, which the SDK's variable names; LocalStack and MiniStack
 * agree on the path. Throws UsageError.
 */
function reachable(endpoint: string): string {
  const emulator = process.env.AWS_ENDPOINT_URL;
  const [, id, stage] = /^https?:\/\/([^./]+)\.execute-api\.[^/]+\/([^/]+)\/?$/.exec(endpoint) ?? [];
  if (emulator === undefined || id === undefined || stage === undefined) return endpoint;
  const fault = endpointFault(emulator);
  if (fault !== undefined) throw new UsageError(`AWS_ENDPOINT_URL ${fault}`);
  return `${emulator.replace(/\/+$/, "")}/_aws/execute-api/${id}/${stage}`;
}

/** The region asked for, or the one that AWS's usual chain names. Throws UsageError or NotFoundError. */
export async function chooseRegion(
  regions: readonly DeployedRegion[],
  wanted: string | undefined,
  chain: () => Promise<string | undefined>,
): Promise<DeployedRegion> {
  const name = wanted ?? (await chain());
  const found = regions.find(({ region }) => region === name);
  if (found !== undefined) return found;
  const all = regions.map(({ region }) => region).join(", ");
  if (name === undefined) {
    throw new UsageError(`no region is named: give --region, or set AWS_REGION; the deployment has ${all}`);
  }
  throw new NotFoundError(
    `the deployment has no region ${name}; it has ${all}: give one of them with --region`,
  );
}
