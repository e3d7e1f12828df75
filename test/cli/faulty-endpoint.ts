/** A region's HTTP surface over a log in memory, whose answers can be lost. */
import { createApi } from "../../lib/api/api.ts";
import { presets } from "../../lib/api/log-config.ts";
import { LogClient } from "../../lib/client/log-client.ts";
import { LoopbackServer } from "../../lib/local/loopback-server.ts";
import { FakeLogs, here } from "../api/fake-log.ts";

/** What happens to the next append: its request is lost, or its answer, or it takes effect after the next. */
export type AppendFault = "request lost" | "answer lost" | "late";

/** What may be lost or late of an append and its repetitions, each with its name. */
export const appendFaults: readonly (readonly [string, readonly AppendFault[]])[] = [
  ["nothing lost", []],
  ["requests lost", ["request lost", "request lost"]],
  ["an answer lost", ["answer lost"]],
  ["a request, then an answer lost", ["request lost", "answer lost"]],
  ["a copy that arrives behind its own repetition", ["late"]],
  ["late copies, and an answer lost", ["late", "late", "answer lost"]],
];

export class FaultyEndpoint implements AsyncDisposable {
  readonly logs = new FakeLogs();
  /** Taken by appends in turn. */
  readonly faults: AppendFault[] = [];
  /** Whether all requests stay without an answer from now on. */
  isSilent = false;
  /** Answers of something in between to the next requests, which reach the region before or not at all. */
  readonly between: { readonly answer: Response; readonly isServed?: boolean }[] = [];
  /** Bodies of the append requests that came. */
  readonly requests: string[] = [];
  #late: (() => Promise<unknown>)[] = [];
  #server: LoopbackServer | undefined;

  static async open(): Promise<FaultyEndpoint> {
    const endpoint = new FaultyEndpoint();
    const api = createApi({
      append: endpoint.logs,
      read: endpoint.logs,
      regions: endpoint.logs,
      region: here,
      defaultConfig: { replication: presets.standard, digest: "crc32", segmentBytesMax: 1 << 20 },
      health: () => Promise.reject(new Error("not asked")),
    });
    endpoint.#server = await LoopbackServer.open({
      name: "test",
      port: 0,
      serve: (request) => endpoint.#serve(request, async (forwarded) => await api.fetch(forwarded)),
    });
    return endpoint;
  }

  get url(): string {
    return this.#server?.url ?? "";
  }

  client(): LogClient {
    return new LogClient({ endpoint: this.url });
  }

  /** Bodies of a log's records. */
  bodies(log: string): string[] {
    const found = [...this.logs.logs].find(([name]) => name === log)?.[1];
    return (found?.records ?? []).map((record) => Buffer.from(record.body).toString("latin1"));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server?.cut();
  }

  async #serve(
    request: Request,
    handle: (request: Request) => Promise<Response>,
  ): Promise<Response | "no answer"> {
    if (this.isSilent) return await new Promise<never>(() => {});
    const between = this.between.shift();
    if (between?.isServed) await handle(request);
    if (between !== undefined) return between.answer;
    if (request.method !== "POST") return await handle(request);
    const body = await request.text();
    this.requests.push(body);
    const again = () => handle(new Request(request.url, { method: "POST", headers: request.headers, body }));
    const fault = this.faults.shift();
    if (fault === "request lost") return "no answer";
    if (fault === "late") {
      this.#late.push(again);
      return "no answer";
    }
    const answer = await again();
    for (const late of this.#late.splice(0)) await late();
    return fault === "answer lost" ? "no answer" : answer;
  }
}
