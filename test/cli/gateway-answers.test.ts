/** Answers of what stands between a command and its region: what they say, and how they are put up with. */
import { createServer, type RequestListener } from "node:http";
import { describe, expect, onTestFinished, test } from "vitest";
import { BatchInDoubtError } from "../../lib/client/batch-outcome.ts";
import type { RequestError } from "../../lib/client/client-errors.ts";
import { retryAfterMsOf } from "../../lib/client/foreign-answer.ts";
import { LogClient } from "../../lib/client/log-client.ts";
import { LogProducer } from "../../lib/client/log-producer.ts";
import { FaultyEndpoint } from "./faulty-endpoint.ts";
import { at, run } from "./run-command.ts";

const HTML = "<html><body>something went wrong</body></html>";

function page(status: number, headers: Readonly<Record<string, string>> = {}, body = HTML): Response {
  return new Response(body, { status, headers: { "content-type": "text/html; charset=utf-8", ...headers } });
}

/** What API Gateway says of itself. */
const gateway = (status: number, message: string) =>
  new Response(JSON.stringify({ message }), { status, headers: { "content-type": "application/json" } });

/** Another's problem document. */
const foreignProblem = (status: number) =>
  new Response(JSON.stringify({ type: "about:blank", title: "Bad Gateway", status }), {
    status,
    headers: { "content-type": "application/problem+json" },
  });

const passing: readonly (readonly [string, () => Response])[] = [
  ["429 as HTML", () => page(429)],
  ["500 as HTML", () => page(500)],
  ["502 as HTML", () => page(502)],
  ["503 as HTML", () => page(503, { "retry-after": "0" })],
  ["504 as text", () => page(504, { "content-type": "text/plain" }, "")],
  ["504 without a type", () => new Response(null, { status: 504 })],
  ["429 of API Gateway", () => gateway(429, "Too Many Requests")],
  ["500 of API Gateway", () => gateway(500, "Internal server error")],
  ["504 of API Gateway", () => gateway(504, "Endpoint request timed out")],
  ["another's problem document", () => foreignProblem(502)],
  [
    "a problem document that is cut",
    () => page(502, { "content-type": "application/problem+json" }, '{"code"'),
  ],
];

describe("what passes is tried again within the patience:", () => {
  test.each(passing)("%s", async (_, answer) => {
    await using endpoint = await FaultyEndpoint.open();
    const fenceline = at(endpoint);
    for (const [line, input] of [
      ["create x"],
      ["append x", "a\nb\n"],
      ["append x --match-seq-num 2", "c\n"],
      ["read x"],
      ["describe x"],
      ["owner transfer x --to us-east-1"],
      ["region list"],
    ] as const) {
      endpoint.between.push({ answer: answer() });
      const { code, err } = await fenceline(line, input);
      expect([line, code, err]).toEqual([line, 0, expect.not.stringContaining("fenceline:")]);
    }
    expect(endpoint.bodies("x")).toEqual(["a", "b", "c"]);
  });

  test.each(passing)("%s, after the region had appended: once in the log", async (_, answer) => {
    await using endpoint = await FaultyEndpoint.open();
    await at(endpoint)("create x");
    for (const [line, input] of [
      ["append x", "a\nb\n"],
      ["append x --match-seq-num 2", "c\n"],
    ] as const) {
      const tail = await endpoint.client().tail("x");
      endpoint.between.push({ answer: Response.json(tail) }, { answer: answer(), isServed: true });
      expect((await at(endpoint)(line, input)).code).toBe(0);
    }
    expect(endpoint.bodies("x")).toEqual(["a", "b", "c"]);
  });

  test("when the patience ends it is 5, with what answered", async () => {
    await using endpoint = await FaultyEndpoint.open();
    for (let count = 0; count < 30; count++) endpoint.between.push({ answer: page(503) });
    const { code, err } = await at(endpoint)("describe x");
    expect(code).toBe(5);
    expect(err).toContain("answered 503 with text/html: something between here and the region answers");
  });
});

describe("an append that something in between answered", () => {
  async function outcome(answer: () => Response): Promise<RequestError | BatchInDoubtError> {
    await using endpoint = await FaultyEndpoint.open();
    const client = endpoint.client();
    await client.createLog("x", {});
    for (let count = 0; count < 30; count++) endpoint.between.push({ answer: answer() });
    const producer = new LogProducer({ client, log: "x", id: "mine", patienceMs: 100, pauseMs: 10 });
    return await producer.append([Buffer.from("a")]).then(
      () => expect.unreachable(),
      (error) => error,
    );
  }

  test("with 429 is not done, and so nothing is in doubt", async () => {
    const error = await outcome(() => page(429));
    expect(error).toMatchObject({ name: "GatewayError", status: 429, retryable: true, sideEffects: "none" });
  });

  test.each([500, 502, 503, 504])("with %i may be in the log", async (status) => {
    expect(await outcome(() => page(status))).toBeInstanceOf(BatchInDoubtError);
  });

  test.each([400, 401, 403, 404, 405, 413, 431])("with %i was refused", async (status) => {
    const error = await outcome(() => gateway(status, "Missing Authentication Token"));
    expect(error).toMatchObject({ name: "ForeignAnswerError", retryable: false, sideEffects: "none" });
  });

  test.each([408, 409])("with %i may be in the log", async (status) => {
    expect(await outcome(() => page(status))).toBeInstanceOf(BatchInDoubtError);
  });

  test("without a producer is sent once", async () => {
    await using endpoint = await FaultyEndpoint.open();
    const client = endpoint.client();
    await client.createLog("x", {});
    endpoint.between.push({ answer: page(502), isServed: true });
    const appended = client.append("x", { records: [{ body: "a" }] }, "utf8");
    await expect(appended).rejects.toMatchObject({ name: "GatewayError", sideEffects: "possible" });
    expect(endpoint.bodies("x")).toEqual(["a"]);
  });
});

describe("Retry-After", () => {
  test.each([
    [{ "retry-after": "2" }, 2_000],
    [{ "retry-after": " 0 " }, 0],
    [{ "retry-after": "Tue, 01 Dec 2026 00:00:05 GMT", date: "Tue, 01 Dec 2026 00:00:02 GMT" }, 3_000],
    [{ "retry-after": "Tue, 01 Dec 2026 00:00:01 GMT", date: "Tue, 01 Dec 2026 00:00:02 GMT" }, 0],
    [{ "retry-after": "Tue, 01 Dec 2026 00:00:05 GMT" }, undefined],
    [{ "retry-after": "-1" }, undefined],
    [{ "retry-after": "soon" }, undefined],
    [{}, undefined],
  ])("%j is a wait of %s ms", (headers, wantedMs) => {
    expect(retryAfterMsOf(new Headers(headers))).toBe(wantedMs);
  });

  test("is waited for", async () => {
    await using endpoint = await FaultyEndpoint.open();
    endpoint.between.push({ answer: page(429, { "retry-after": "1" }) });
    const begunMs = performance.now();
    const args = ["region", "list", "--endpoint", endpoint.url, "--retry-for", "5"];
    expect((await run(args)).code).toBe(0);
    expect(performance.now() - begunMs).toBeGreaterThanOrEqual(1_000);
  });

  test("that is longer than the patience ends it at once", async () => {
    await using endpoint = await FaultyEndpoint.open();
    endpoint.between.push({ answer: page(503, { "retry-after": "3600" }) });
    const begunMs = performance.now();
    const { code, err } = await at(endpoint)("region list");
    expect([code, err]).toEqual([5, expect.stringContaining("and asks to wait 3600 s")]);
    expect(performance.now() - begunMs).toBeLessThan(900);
    expect(endpoint.between).toEqual([]);
  });
});

describe("what does not pass is said at once:", () => {
  test("a page, whatever its status says", async () => {
    await using endpoint = await FaultyEndpoint.open();
    endpoint.between.push({ answer: page(200) });
    const { code, err } = await at(endpoint)("region list");
    expect([code, err]).toEqual([
      1,
      expect.stringMatching(/200 with text\/html: is it a Fenceline endpoint\?/),
    ]);
  });

  test("JSON that is no answer to what was asked", async () => {
    await using endpoint = await FaultyEndpoint.open();
    await at(endpoint)("create x");
    const tail = await endpoint.client().tail("x");
    const wrong = ["{}", "[]", "null", "1", '"tail"', '{"ok":true}', '{"tail'];
    for (const json of wrong) {
      const other = () => page(200, { "content-type": "Application/JSON ; charset=utf-8" }, json);
      for (const line of [
        "create x",
        "read x",
        "logs",
        "describe x",
        "owner show x",
        "region list",
        "seal x",
      ]) {
        endpoint.between.push({ answer: other() });
        const { code, out, err } = await at(endpoint)(line);
        expect([json, line, code, out]).toEqual([json, line, 1, ""]);
        expect(err).toContain("answered 200 with application/json: is it a Fenceline endpoint?");
      }
      endpoint.between.push({ answer: Response.json(tail) }, { answer: other() });
      expect([json, (await at(endpoint)("append x", "a\n")).code]).toEqual([json, 6]);
    }
    expect(endpoint.bodies("x")).toEqual([]);
  });

  test.each([301, 302, 303, 307, 308])(
    "a way elsewhere (%i) is no answer, and is not followed",
    async (status) => {
      await using endpoint = await FaultyEndpoint.open();
      await at(endpoint)("create x");
      await at(endpoint)("append x", "a\n");
      const tail = await endpoint.client().tail("x");
      const location = `${endpoint.url}/v1/logs/x/records?token=secret-word`;
      endpoint.between.push({ answer: Response.json(tail) }, { answer: page(status, { location }) });
      const { code, err } = await at(endpoint)("append x", "b\n");
      expect([301, 307, 308].includes(status) ? [1] : [6]).toContain(code);
      expect(err).toContain(`it sends requests to ${endpoint.url}`);
      expect(err).not.toContain("secret-word");
      expect(endpoint.bodies("x")).toEqual(["a"]);
    },
  );
});

test("a request that is too large for what is in between is not tried again", async () => {
  await using endpoint = await FaultyEndpoint.open();
  await at(endpoint)("create x");
  const tail = await endpoint.client().tail("x");
  endpoint.between.push({ answer: Response.json(tail) }, { answer: gateway(413, "Request Too Long") });
  const { code, err } = await at(endpoint)("append x", "a\n");
  expect(code).toBe(1);
  expect(err).toContain("Nothing was appended.");
  expect(err).toContain("413 with application/json: the request is too large for it");
});

test("an answer that is cut off is none", async () => {
  const cut: RequestListener = (_, response) => {
    response.writeHead(200, { "content-type": "application/json", "content-length": "100" });
    response.write('{"regions":[]');
    setTimeout(() => response.destroy(), 20);
  };
  const server = createServer(cut);
  onTestFinished(() => void server.close());
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  const client = new LogClient({ endpoint: `http://127.0.0.1:${address.port}` });
  await expect(client.regions()).rejects.toMatchObject({ name: "NoAnswerError", retryable: true });
});
