/** A cloud in a process of its own, which can be killed, and commands in processes of their own. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import { createInterface } from "node:readline";
import { LogClient } from "../../lib/client/log-client.ts";
import { COMMAND } from "../command-file.ts";

/** Starts `fenceline` with these arguments. */
export function spawnCommand(
  args: readonly string[],
  stdio: ("pipe" | "ignore" | "inherit")[],
): ChildProcess {
  return spawn(process.execPath, [COMMAND, ...args], { stdio });
}

export async function exitOf(child: ChildProcess): Promise<number | null> {
  if (child.exitCode !== null || child.signalCode !== null) return child.exitCode;
  const [code] = await once(child, "exit");
  return code as number | null;
}

export class CloudProcess implements AsyncDisposable {
  #child: ChildProcess | undefined;
  #urls: ReadonlyMap<string, string> = new Map();

  private constructor(
    private readonly dataDir: string,
    private readonly port: number,
    private readonly flags: readonly string[],
  ) {}

  static async start(dataDir: string, ...flags: string[]): Promise<CloudProcess> {
    const cloud = new CloudProcess(dataDir, await freePorts(3), flags);
    await cloud.restart();
    return cloud;
  }

  url(region: string): string {
    const url = this.#urls.get(region);
    if (url === undefined) throw new Error(`no region ${region}`);
    return url;
  }

  get pid(): number {
    if (this.#child?.pid === undefined) throw new Error("no process");
    return this.#child.pid;
  }

  client(region: string): LogClient {
    return new LogClient({ endpoint: this.url(region) });
  }

  /** kill -9, whatever it is doing. */
  async kill(): Promise<void> {
    const child = this.#child;
    if (child === undefined) return;
    child.kill("SIGKILL");
    await exitOf(child);
    this.#child = undefined;
  }

  /** Starts again on the same directory and the same ports. */
  async restart(): Promise<void> {
    const args = ["local", "--data", this.dataDir, "--port", String(this.port), "--output", "json"];
    const child = spawnCommand([...args, ...this.flags], ["ignore", "pipe", "inherit"]);
    this.#child = child;
    if (child.stdout === null) throw new Error("no standard output");
    const lines = createInterface({ input: child.stdout });
    const line = await Promise.race([once(lines, "line"), once(child, "exit").then(() => undefined)]);
    if (line === undefined) throw new Error("the cloud did not start");
    const ready = JSON.parse(String(line[0])) as { regions: { name: string; url: string }[] };
    this.#urls = new Map(ready.regions.map((region) => [region.name, region.url]));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
  }
}

/** The first of `count` ports in a row that are free now. */
async function freePorts(count: number): Promise<number> {
  for (let attempt = 0; attempt < 100; attempt++) {
    const first = 20_000 + Math.floor(Math.random() * 10_000);
    const ports = Array.from({ length: count }, (_, index) => first + index);
    const free = await Promise.all(ports.map(isFree));
    if (free.every(Boolean)) return first;
  }
  throw new Error("no free ports");
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
  });
}
