/** `fenceline --outputs`: a deployment on AWS, by its gateways with signed requests, or by its functions. */
import { createHash, createHmac } from "node:crypto";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { createServer, type IncomingMessage } from "node:http";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { directSend } from "../../lib/client/aws/direct-send.ts";
import { signedSend } from "../../lib/client/aws/signed-send.ts";
import { LogClient } from "../../lib/client/log-client.ts";
import { ScratchDirectory } from "../adapters/scratch-directory.ts";
import { run } from "./run-command.ts";

interface Received {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

/** Stands for API Gateway and for Lambda: keeps what it receives, gives what it was prepared to. */
class FakeAws implements AsyncDisposable {
  readonly received: Received[] = [];
  answer: unknown = { regions: [] };
  headers: Readonly<Record<string, string>> = {};
  status = 200;
  /** Of the requests after the next ones: the status is theirs alone. */
  failures = Number.POSITIVE_INFINITY;
  /** Hangs up in place of an answer. */
  isSilent = false;

  private constructor(private readonly server: ReturnType<typeof createServer>) {}

  static async open(): Promise<FakeAws> {
    const server = createServer();
    const fake = new FakeAws(server);
    server.on("request", async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk);
      const { method = "", url = "", headers } = request;
      fake.received.push({ method, url, headers, body: Buffer.concat(chunks).toString() });
      if (fake.isSilent) {
        request.socket.destroy();
        return;
      }
      response.setHeader("content-type", "application/json");
      response.statusCode = fake.failures-- > 0 ? fake.status : 200;
      for (const [name, value] of Object.entries(fake.headers)) response.setHeader(name, value);
      response.end(JSON.stringify(fake.answer));
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    return fake;
  }

  get url(): string {
    const address = this.server.address();
    if (address === null || typeof address === "string") throw new Error("no port");
    return `http://127.0.0.1:${address.port}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, "close");
  }
}

const PLAN =
  "--ensemble 4 --write-quorum 4 --ack-quorum 3 --min-regions 2 --topology us-east-1:9,us-west-2:9";
const secret = "a secret of this test";

/** Signature Version 4 from its description, without the library that made it. */
function signatureOf({ method, url, headers, body }: Received): string {
  const [, scope = "", names = ""] =
    /Credential=[^/]+\/([^,]+), SignedHeaders=([^,]+)/.exec(headers.authorization ?? "") ?? [];
  const { pathname, searchParams } = new URL(url, "http://any");
  const path = pathname.split("/").map(encodeURIComponent).join("/");
  const query = [...searchParams].map(
    ([name, one]) => `${encodeURIComponent(name)}=${encodeURIComponent(one)}`,
  );
  const lines = names.split(";").map((name) => `${name}:${headers[name]}\n`);
  const hashed = createHash("sha256").update(body).digest("hex");
  const canonical = [method, path, query.sort().join("&"), lines.join(""), names, hashed].join("\n");
  const digest = createHash("sha256").update(canonical).digest("hex");
  const toSign = ["AWS4-HMAC-SHA256", headers["x-amz-date"], scope, digest].join("\n");
  const key = scope.split("/").reduce<string | Buffer>((last, part) => {
    return createHmac("sha256", last).update(part).digest();
  }, `AWS4${secret}`);
  return createHmac("sha256", key).update(toSign).digest("hex");
}

describe("a deployment's outputs", () => {
  let scratch: ScratchDirectory;
  let aws: FakeAws;
  let outputs: string;

  beforeEach(async () => {
    scratch = await ScratchDirectory.make();
    aws = await FakeAws.open();
    outputs = join(scratch.path, "cdk-outputs.json");
    const region = (name: string, Endpoint: string) => ({
      Region: name,
      Endpoint,
      AppendFunction: "glog-append",
      ReadFunction: "glog-read",
    });
    await writeFile(
      outputs,
      JSON.stringify({
        "glog-metadata": { MetadataTable: "glog-metadata" },
        "glog-us-east-1": region("us-east-1", aws.url),
        "glog-us-west-2": region("us-west-2", "https://abc123.execute-api.us-west-2.amazonaws.com/live"),
      }),
    );
    for (const name of ["AWS_REGION", "AWS_DEFAULT_REGION", "AWS_PROFILE", "AWS_ENDPOINT_URL"])
      vi.stubEnv(name, undefined);
    vi.stubEnv("AWS_CONFIG_FILE", join(scratch.path, "config"));
    vi.stubEnv("AWS_SHARED_CREDENTIALS_FILE", join(scratch.path, "credentials"));
    vi.stubEnv("AWS_ACCESS_KEY_ID", "AKIDTEST");
    vi.stubEnv("AWS_SECRET_ACCESS_KEY", secret);
    vi.stubEnv("AWS_SESSION_TOKEN", "a session");
  });

  afterEach(async () => {
    await aws[Symbol.asyncDispose]();
    await scratch.remove();
  });

  test.each([
    ["before the command", (file: string) => ["--outputs", file, "--region", "us-east-1", "region", "list"]],
    ["after it", (file: string) => ["region", "list", "--outputs", file, "--region", "us-east-1"]],
  ])("named %s: the request is signed for execute-api in that region", async (_, args) => {
    expect(await run([...args(outputs), "--output", "json"])).toMatchObject({ code: 0, err: "" });
    const [request] = aws.received;
    expect(request).toMatchObject({ method: "GET", url: "/v1/regions" });
    const authorization = request?.headers.authorization ?? "";
    expect(authorization).toMatch(/Credential=AKIDTEST\/\d{8}\/us-east-1\/execute-api\/aws4_request/);
    expect(request?.headers["x-amz-security-token"]).toBe("a session");
    expect(authorization).toContain(`Signature=${request && signatureOf(request)}`);
  });

  test("nothing is sent to an API of AWS in another region than requests are signed for", async () => {
    const credentials = async () => ({ accessKeyId: "AKIDTEST", secretAccessKey: secret });
    const client = new LogClient({
      endpoint: "https://abc123.execute-api.us-east-1.amazonaws.com/live",
      send: signedSend({ region: "us-west-2", credentials }),
    });
    const refused = await client.createLog("x", {}).catch((error: unknown) => error);
    expect(refused).toMatchObject({ name: "WrongRegionError", retryable: false, sideEffects: "none" });
    expect(String(refused)).toContain("is in us-east-1, and requests to it would be signed for us-west-2");
  });

  test("names with slashes and spaces, queries and bodies are signed as they are sent", async () => {
    await run(["create", "a/b c+%", "--outputs", outputs, "--region", "us-east-1"]);
    await run(["read", "a/b c+%", "--outputs", outputs, "--region", "us-east-1", "--retry-for", "0"]);
    expect(aws.received.map(({ method }) => method)).toEqual(["PUT", "GET"]);
    for (const request of aws.received) {
      expect(request.url).toContain("/v1/logs/a%2Fb%20c%2B%25");
      expect(request.headers.authorization).toContain(`Signature=${signatureOf(request)}`);
    }
  });

  test("the region comes from the environment or the profile when none is given", async () => {
    // The SDK reads the file once, so it is there from the start.
    await writeFile(join(scratch.path, "config"), "[default]\nregion = us-east-1\n");
    vi.stubEnv("AWS_REGION", "us-east-1");
    expect(await run(["region", "list", "--outputs", outputs])).toMatchObject({ code: 0 });
    vi.stubEnv("AWS_REGION", undefined);
    expect(await run(["region", "list", "--outputs", outputs])).toMatchObject({ code: 0 });
    expect(aws.received).toHaveLength(2);
  });

  test("--direct invokes the region's functions: reads one, changes the other", async () => {
    vi.stubEnv("AWS_ENDPOINT_URL", aws.url);
    aws.answer = {
      statusCode: 200,
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ regions: [] }),
    };
    const where = ["--outputs", outputs, "--region", "us-west-2", "--direct"];
    expect(await run(["region", "list", ...where])).toMatchObject({ code: 0, err: "" });
    await run(["create", "a/b", ...where]);
    expect(aws.received.map(({ url }) => url)).toEqual([
      "/2015-03-31/functions/glog-read/invocations",
      "/2015-03-31/functions/glog-append/invocations",
    ]);
    expect(JSON.parse(aws.received[1]?.body ?? "")).toMatchObject({
      httpMethod: "PUT",
      path: "/v1/logs/a%2Fb",
      headers: { "content-type": "application/json" },
      body: "{}",
    });
  });

  test("--direct: a function that died has answered nothing", async () => {
    vi.stubEnv("AWS_ENDPOINT_URL", aws.url);
    aws.headers = { "x-amz-function-error": "Unhandled" };
    aws.answer = { errorMessage: "RequestId: x Process exited before completing request" };
    const where = ["--outputs", outputs, "--region", "us-west-2", "--direct", "--retry-for", "0"];
    for (const command of ["read", "append", "create"]) {
      const { code, out, err } = await run([command, "a/b", ...where], "a record\n");
      expect({ code, out }).toEqual({ code: 5, out: "" });
      expect(err).toContain("Process exited");
    }
  });

  test("--direct: what Lambda throttles was not done, and is tried again; what it refuses is not", async () => {
    vi.stubEnv("AWS_ENDPOINT_URL", aws.url);
    const send = directSend({ region: "us-west-2", functions: { append: "glog-append", read: "glog-read" } });
    const client = new LogClient({ endpoint: "https://us-west-2.invalid", send });
    const append = () => client.append("x", { records: [{ body: "a" }] }, "utf8");
    for (const [status, type, sideEffects, retryable] of [
      [429, "TooManyRequestsException", "none", true],
      [500, "ServiceException", "possible", true],
      [502, "EC2AccessDeniedException", "possible", true],
      [413, "RequestTooLargeException", "none", false],
      [404, "ResourceNotFoundException", "none", false],
      [403, "AccessDeniedException", "none", false],
    ] as const) {
      [aws.status, aws.headers] = [status, { "x-amzn-errortype": type }];
      const error = await append().catch((one: unknown) => one);
      expect([type, error]).toEqual([type, expect.objectContaining({ sideEffects, retryable })]);
      expect(String(error)).toContain(`Lambda did not invoke glog-append`);
      expect(String(error)).toContain(type);
    }
    expect(aws.received).toHaveLength(6);
    const answer = { headers: { "content-type": "application/json" }, body: JSON.stringify({ regions: [] }) };
    Object.assign(aws, { status: 429, headers: {}, failures: 2, answer: { statusCode: 200, ...answer } });
    const where = ["--outputs", outputs, "--region", "us-west-2", "--direct", "--retry-for", "5"];
    expect((await run(["region", "list", ...where])).code).toBe(0);
  });

  test.each(["--direct", "--region=us-east-1"])(
    "%s: what no function takes is refused unsent",
    async (how) => {
      vi.stubEnv("AWS_ENDPOINT_URL", how === "--direct" ? aws.url : undefined);
      const functions = { append: "glog-append", read: "glog-read" };
      const credentials = async () => ({ accessKeyId: "AKIDTEST", secretAccessKey: secret });
      const send =
        how === "--direct"
          ? directSend({ region: "us-east-1", functions })
          : signedSend({ region: "us-east-1", credentials });
      const client = new LogClient({ endpoint: aws.url, send });
      const append = (body: string) => client.append("x", { records: [{ body }] }, "utf8");
      // As text each is six bytes: as an event one more, or a third more in the gateway's base 64.
      await expect(append("\x00".repeat(1_000_000))).rejects.toMatchObject({
        code: "body_too_large",
        problem: { status: 413, detail: expect.stringContaining("which takes 6291456; nothing was sent") },
        retryable: false,
        sideEffects: "none",
      });
      expect(aws.received).toEqual([]);
      await append("\x00".repeat(780_000)).catch(() => {});
      expect(aws.received).toHaveLength(1);
    },
  );

  test("a mebibyte of controls goes through as it is", async () => {
    await run(["append", "x", "--outputs", outputs, "--region", "us-east-1", "--retry-for", "0"], "\x00");
    const tail = { tail: 0, up_to_date: true, sealed: false };
    aws.answer = tail;
    aws.received.length = 0;
    const line = Buffer.alloc(1_048_568);
    await run(["append", "x", "--outputs", outputs, "--region", "us-east-1", "--retry-for", "0"], line);
    const sent = aws.received.find(({ method }) => method === "POST");
    expect(sent?.headers["log-format"]).toBe("base64");
    const [record] = JSON.parse(sent?.body ?? "").records;
    expect(Buffer.compare(Buffer.from(record.body, "base64"), line)).toBe(0);
  });

  test.each([
    ["behind the command", (where: readonly string[]) => ["append", "a/b", ...where, "--retry-for", "0"]],
    ["in front of it", (where: readonly string[]) => [...where, "append", "a/b", "--retry-for", "0"]],
  ])("how an append is completed is a line to run, with what was said %s", async (_, args) => {
    vi.stubEnv("AWS_ENDPOINT_URL", aws.url);
    aws.isSilent = true;
    for (const how of [["--region", "us-west-2", "--direct"], ["--direct"], ["--region", "us-west-2"]]) {
      vi.stubEnv("AWS_REGION", how.includes("--region") ? undefined : "us-west-2");
      aws.received.length = 0;
      const { err } = await run(args(["--outputs", outputs, ...how]), "a record\n");
      const [, line = ""] = /: npx fenceline (append .*)/.exec(err) ?? [];
      expect(line).toBe(`append a/b - --outputs ${outputs} ${how.join(" ")}`);
      const asked = aws.received.map(({ url }) => url);
      expect(asked.length).toBeGreaterThan(0);
      aws.received.length = 0;
      await run([...line.split(" "), "--retry-for", "0"], "a record\n");
      expect(aws.received.map(({ url }) => url)).toEqual(asked);
    }
  });

  test("--direct: what gave no answer are functions, and no address that nobody has", async () => {
    vi.stubEnv("AWS_ENDPOINT_URL", aws.url);
    aws.headers = { "x-amz-function-error": "Unhandled" };
    aws.answer = { errorMessage: "Process exited" };
    const where = ["--outputs", outputs, "--region", "us-west-2", "--direct", "--retry-for", "0"];
    const { err } = await run(["read", "a/b", ...where]);
    expect(err).toContain("us-west-2's functions glog-read and glog-append");
    expect(err).toContain("name another region of the deployment with --region");
    expect(err).not.toContain("invalid");
  });

  test.each([
    ["--outputs x.json local region us-east-1 down", "--outputs means nothing to local region"],
    ["--region us-east-1 local bookie add us-east-1", "--region means nothing to local bookie add"],
    [`--direct placement check ${PLAN}`, "--direct means nothing to placement check"],
  ])("%s: said to a command that asks no deployment, and so refused", async (line, words) => {
    const { code, err } = await run([...line.split(" ")]);
    expect(err).toContain(words);
    expect(code).toBe(2);
  });

  test("a deployment and an endpoint are two places, wherever they are said", async () => {
    const endpoint = ["--endpoint", aws.url];
    for (const args of [
      ["region", "list", "--outputs", outputs, "--region", "us-east-1", ...endpoint],
      ["--outputs", outputs, "--region", "us-east-1", "region", "list", ...endpoint],
    ]) {
      const { code, err } = await run(args);
      expect(err).toContain("both say where the regions are; leave one out");
      expect(code).toBe(2);
    }
    expect(aws.received).toEqual([]);
  });

  test("an emulator's API is asked at the emulator's address", async () => {
    vi.stubEnv("AWS_ENDPOINT_URL", aws.url);
    await run(["region", "list", "--outputs", outputs, "--region", "us-west-2"]);
    expect(aws.received[0]?.url).toBe("/_aws/execute-api/abc123/live/v1/regions");
  });

  test.each([
    [["--region", "eu-west-1"], 4, "no region eu-west-1; it has us-east-1, us-west-2"],
    [[], 2, "no region is named: give --region, or set AWS_REGION"],
  ])("%j is refused with the regions there are", async (args, wanted, words) => {
    const { code, err } = await run(["region", "list", "--outputs", outputs, ...args]);
    expect(code).toBe(wanted);
    expect(err).toContain(words);
  });

  test("a file that is not there, or of something else, is refused with what writes it", async () => {
    const missing = await run(["region", "list", "--outputs", join(scratch.path, "none.json")]);
    expect(missing).toMatchObject({ code: 2 });
    expect(missing.err).toContain("npx cdk deploy --all --outputs-file");
    await writeFile(outputs, JSON.stringify({ other: { Endpoint: "x" } }));
    expect((await run(["region", "list", "--outputs", outputs])).err).toContain("names no region");
  });

  test("--region and --direct mean nothing without a deployment", async () => {
    for (const flags of [["--region", "us-east-1"], ["--direct"]]) {
      const { code, err } = await run(["region", "list", ...flags]);
      expect(code).toBe(2);
      expect(err).toContain("--outputs");
    }
  });
});
