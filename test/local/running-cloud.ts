/** A cloud in this process, in a directory of its own, and requests to its regions. */
import { join } from "node:path";
import { LogClient } from "../../lib/client/log-client.ts";
import { type CloudOptions, EmbeddedCloud } from "../../lib/local/embedded-cloud.ts";
import { ScratchDirectory } from "../adapters/scratch-directory.ts";

export class RunningCloud implements AsyncDisposable {
  readonly written: string[] = [];
  #cloud: EmbeddedCloud | undefined;

  private constructor(private readonly scratch: ScratchDirectory) {}

  static async start(options: Partial<CloudOptions> = {}): Promise<RunningCloud> {
    const running = new RunningCloud(await ScratchDirectory.make());
    await running.open(options);
    return running;
  }

  get dataDir(): string {
    return join(this.scratch.path, "data");
  }

  get cloud(): EmbeddedCloud {
    if (this.#cloud === undefined) throw new Error("the cloud is stopped");
    return this.#cloud;
  }

  async open(options: Partial<CloudOptions> = {}): Promise<void> {
    const write = (line: string) => this.written.push(line);
    this.#cloud = await EmbeddedCloud.open({ dataDir: this.dataDir, port: 0, write, ...options });
  }

  async stop(): Promise<void> {
    await this.#cloud?.close();
    this.#cloud = undefined;
  }

  url(region: string): string {
    const found = this.cloud.regions().find((one) => one.name === region);
    if (found === undefined) throw new Error(`no region ${region}`);
    return found.url;
  }

  client(region: string, timeoutMs = 30_000): LogClient {
    return new LogClient({ endpoint: this.url(region), timeoutMs });
  }

  /** Bodies of the whole log, as a strong read in the region returns them. */
  bodies(region: string, log: string): Promise<string[]> {
    return this.bodiesFrom(region, log, 0);
  }

  /** The same from a seq_num on. */
  async bodiesFrom(region: string, log: string, from: number): Promise<string[]> {
    const client = this.client(region);
    const bodies: string[] = [];
    for (;;) {
      const page = await client.read(log, { from: from + bodies.length });
      bodies.push(...page.records.map((record) => record.body));
      if (page.up_to_date) return bodies;
      if (page.records.length === 0) throw new Error(`stuck at ${bodies.length} of ${page.tail}`);
    }
  }

  /** Fails if a route answered with what the OpenAPI document does not list (RP1). */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
    await this.scratch.remove();
    const undeclared = this.written.filter((line) => line.includes("openapi.json does not list"));
    if (undeclared.length > 0) throw new Error(undeclared.join("; "));
  }
}

export function batchOf(...bodies: string[]) {
  return { records: bodies.map((body) => ({ body })) };
}
