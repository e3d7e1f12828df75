/**
 * A deployment that the CDK made of a topology file, on whatever answers at AWS_ENDPOINT_URL: bootstrapped,
 * deployed, deployed again with more regions, and asked through its gateways.
 */
import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { createWriteStream } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { deployedClient } from "../../../lib/cli/deployed-client.ts";
import { type DeployedRegion, readOutputs } from "../../../lib/cli/deployment-outputs.ts";
import { chainCredentials } from "../../../lib/client/aws/credential-chain.ts";
import { signedSend } from "../../../lib/client/aws/signed-send.ts";
import { LogClient } from "../../../lib/client/log-client.ts";
import { zonePrefix } from "../../../lib/infra/topology/region-sets.ts";

/** A page whose origin each deployment names. */
export const PAGE = "https://app.example";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
const CDK = createRequire(import.meta.url).resolve("aws-cdk/bin/cdk");
const STEP_MAX_MS = 15 * 60_000;
const LINES_TOLD = 40;

export class DeployedCloud {
  #regions: readonly DeployedRegion[] = [];
  readonly #storages = new Map<string, string>();

  /** `prefix` names the deployment; files go to `directory`. */
  constructor(
    private readonly prefix: string,
    private readonly directory: string,
  ) {}

  /** Bootstraps every region and deploys to it. What is there already is changed in place. */
  async deploy(names: readonly string[]): Promise<void> {
    const outputs = join(this.directory, "cdk-outputs.json");
    const topology = join(this.directory, "topology.json");
    await writeFile(topology, JSON.stringify(this.#topology(names), undefined, 2));
    const assembly = join(this.directory, "cdk.out");
    await this.#cdk("synth", ["--context", `topology=${topology}`, "--output", assembly, "--quiet"]);
    await this.#cdk("bootstrap", ["--app", assembly]);
    // One stack after another: MiniStack takes the functions of all regions for one when it makes them.
    const flags = ["--all", "--require-approval", "never", "--concurrency", "1", "--progress", "events"];
    await this.#cdk("deploy", ["--app", assembly, ...flags, "--outputs-file", outputs]);
    this.#regions = await readOutputs(outputs);
  }

  get regions(): readonly DeployedRegion[] {
    return this.#regions;
  }

  region(name: string): DeployedRegion {
    const found = this.#regions.find(({ region }) => region === name);
    if (found === undefined) throw new Error(`no region ${name} was deployed`);
    return found;
  }

  client(name: string): LogClient {
    const { endpoint } = this.region(name);
    const send = signedSend({ region: name, credentials: chainCredentials(name) });
    return new LogClient({ endpoint, send });
  }

  /** The command's own client of the same region, without the gateway in front of its functions. */
  directClient(name: string): Promise<LogClient> {
    const outputs = join(this.directory, "cdk-outputs.json");
    const { signal } = new AbortController();
    return deployedClient({ outputs, region: name, isDirect: true, signal });
  }

  #topology(names: readonly string[]): unknown {
    const [home] = names;
    return {
      format: 1,
      namePrefix: this.prefix,
      metadata: { mode: "home", home },
      regions: names.map((name) => ({ name, bookies: ["b1", "b2"].map((one) => this.#bookie(name, one)) })),
      storageClass: "STANDARD",
      allowedOrigins: [PAGE],
      presets: ["standard", "economy"],
      retentionDays: 1,
      logLevel: "warn",
    };
  }

  #bookie(region: string, name: string) {
    const key = `${region}.${name}`;
    const storage = this.#storages.get(key) ?? randomBytes(4).toString("hex");
    this.#storages.set(key, storage);
    return { name, rack: `${zonePrefix(region)}-az${name.slice(1)}`, storage };
  }

  /** What it says goes to a file; its end is printed if it fails. */
  async #cdk(command: string, args: readonly string[]): Promise<void> {
    const path = join(this.directory, `cdk-${command}.log`);
    const log = createWriteStream(path);
    const child = spawn(process.execPath, [CDK, command, ...args, "--no-notices", "--ci"], {
      cwd: ROOT,
      // MiniStack with its authorisation on knows too few conditions for the policies of bootstrap roles.
      env: { ...process.env, FENCELINE_CDK_ROLES: "none" },
      stdio: ["ignore", "pipe", "pipe"],
      timeout: STEP_MAX_MS,
    });
    child.stdout.pipe(log, { end: false });
    child.stderr.pipe(log, { end: false });
    const [code, signal] = await once(child, "close");
    log.end();
    await once(log, "close");
    if (code === 0) return;
    const told = (await readFile(path, "utf8")).trimEnd().split("\n").slice(-LINES_TOLD).join("\n");
    throw new Error(`cdk ${command} ended with ${code ?? signal}:\n${told}`);
  }
}
