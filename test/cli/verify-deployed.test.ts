/** `fenceline verify` against a deployment on AWS, whose gateways and functions take signed requests only. */
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { createServer, type IncomingMessage } from "node:http";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { ScratchDirectory } from "../adapters/scratch-directory.ts";
import { FaultyEndpoint } from "./faulty-endpoint.ts";
import { run } from "./run-command.ts";

interface ProxyEvent {
  readonly httpMethod: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly queryStringParameters: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** Stands for API Gateway and Lambda of all regions, with one region's surface behind them. */
class SignedFront implements AsyncDisposable {
  /** "service region" of each request's credentials, as often as it came. */
  readonly scopes = new Map<string, number>();
  readonly #server = createServer();

  private constructor(private readonly behind: string) {
    this.#server.on("request", async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk);
      const answer = await this.#answer(request, Buffer.concat(chunks).toString());
      response.writeHead(answer.status, { "content-type": answer.type }).end(answer.text);
    });
  }

  static async open(behind: string): Promise<SignedFront> {
    const front = new SignedFront(behind);
    front.#server.listen(0, "127.0.0.1");
    await once(front.#server, "listening");
    return front;
  }

  get url(): string {
    const address = this.#server.address();
    if (address === null || typeof address === "string") throw new Error("no port");
    return `http://127.0.0.1:${address.port}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, "close");
  }

  async #answer({ method = "", url = "", headers }: IncomingMessage, text: string) {
    const [, region, service] =
      /Credential=AKIDTEST\/\d{8}\/([^/]+)\/([^/]+)\/aws4_request/.exec(headers.authorization ?? "") ?? [];
    const isInvocation = url.startsWith("/2015-03-31/functions/");
    if (service !== (isInvocation ? "lambda" : "execute-api"))
      return { status: 403, type: "application/json", text: '{"message":"Missing Authentication Token"}' };
    const scope = `${service} ${region}`;
    this.scopes.set(scope, (this.scopes.get(scope) ?? 0) + 1);
    if (!isInvocation) {
      const asked = { accept: String(headers.accept), "content-type": headers["content-type"] ?? "" };
      const format = headers["log-format"];
      const named = typeof format === "string" ? { "log-format": format } : {};
      return await this.#behind(method, url, { ...asked, ...named }, text);
    }
    const event = JSON.parse(text) as ProxyEvent;
    const query = new URLSearchParams(event.queryStringParameters).toString();
    const path = query === "" ? event.path : `${event.path}?${query}`;
    const { host: _, ...given } = event.headers;
    const answer = await this.#behind(event.httpMethod, path, given, event.body ?? "");
    const proxied = {
      statusCode: answer.status,
      headers: { "content-type": answer.type },
      body: answer.text,
    };
    return { status: 200, type: "application/json", text: JSON.stringify(proxied) };
  }

  async #behind(method: string, url: string, headers: Record<string, string>, body: string) {
    const response = await fetch(`${this.behind}${url}`, {
      method,
      headers,
      ...(body === "" ? {} : { body }),
    });
    const type = response.headers.get("content-type") ?? "";
    return { status: response.status, type, text: await response.text() };
  }
}

describe("verify --outputs", () => {
  let scratch: ScratchDirectory;
  let endpoint: FaultyEndpoint;
  let front: SignedFront;
  let outputs: string;

  beforeEach(async () => {
    scratch = await ScratchDirectory.make();
    endpoint = await FaultyEndpoint.open();
    front = await SignedFront.open(endpoint.url);
    outputs = join(scratch.path, "cdk-outputs.json");
    const region = (Region: string) => ({
      Region,
      Endpoint: front.url,
      AppendFunction: "glog-append",
      ReadFunction: "glog-read",
    });
    await writeFile(
      outputs,
      JSON.stringify({ east: region("us-east-1"), ohio: region("us-east-2"), west: region("us-west-2") }),
    );
    for (const name of ["AWS_REGION", "AWS_DEFAULT_REGION", "AWS_PROFILE", "AWS_SESSION_TOKEN"])
      vi.stubEnv(name, undefined);
    vi.stubEnv("AWS_CONFIG_FILE", join(scratch.path, "config"));
    vi.stubEnv("AWS_SHARED_CREDENTIALS_FILE", join(scratch.path, "credentials"));
    vi.stubEnv("AWS_ACCESS_KEY_ID", "AKIDTEST");
    vi.stubEnv("AWS_SECRET_ACCESS_KEY", "a secret of this test");
    vi.stubEnv("AWS_ENDPOINT_URL", front.url);
  });

  afterEach(async () => {
    await front[Symbol.asyncDispose]();
    await endpoint[Symbol.asyncDispose]();
    await scratch.remove();
  });

  const verify = (...args: string[]) =>
    run(["verify", "--appenders", "3", "--duration", "1", "--retry-for", "5", "--json", ...args]);

  test.each([
    ["all regions", [], ["execute-api us-east-1", "execute-api us-east-2", "execute-api us-west-2"]],
    [
      "those that are named",
      ["--region", "us-east-1", "--region", "us-west-2"],
      ["execute-api us-east-1", "execute-api us-west-2"],
    ],
    [
      "all regions without their gateways",
      ["--direct"],
      ["lambda us-east-1", "lambda us-east-2", "lambda us-west-2"],
    ],
  ])("%s are asked with signed requests", async (_, flags, scopes) => {
    const { code, out, err } = await verify("--outputs", outputs, ...flags);
    expect([code, err]).toEqual([0, ""]);
    expect(JSON.parse(out)).toMatchObject({ passed: true, violation_count: 0, strong_reads_failed: 0 });
    expect([...front.scopes.keys()].sort()).toEqual(scopes);
  });

  test("without it a deployment answers nothing that verify could take for a pass", async () => {
    const { code } = await verify("--endpoint", front.url);
    expect(code).not.toBe(0);
  });

  test("one place is named, and a region of a deployment only with its outputs", async () => {
    const both = await verify("--outputs", outputs, "--endpoint", front.url);
    expect([both.code, both.err]).toEqual([2, expect.stringContaining("leave one out")]);
    for (const flags of [["--region", "us-east-1"], ["--direct"]]) {
      const { code, err } = await verify(...flags);
      expect([code, err]).toEqual([2, expect.stringContaining("--outputs")]);
    }
    const unknown = await verify("--outputs", outputs, "--region", "eu-west-1");
    expect([unknown.code, unknown.err]).toEqual([4, expect.stringContaining("no region eu-west-1")]);
  });
});
