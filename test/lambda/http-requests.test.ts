/** Events of a REST API, as requests to the HTTP surface and back. */
import type { APIGatewayProxyEvent } from "aws-lambda";
import { describe, expect, it } from "vitest";
import type { ApiApp } from "../../lib/api/route.ts";
import { answerHttp, isHttpRequest } from "../../lib/lambda/http-requests.ts";
import { apiUnderTest } from "../api/api-under-test.ts";

function event(method: string, path: string, more: Partial<APIGatewayProxyEvent> = {}): APIGatewayProxyEvent {
  const plain = {
    httpMethod: method,
    path,
    headers: { "content-type": "application/json" },
    multiValueHeaders: null,
    queryStringParameters: null,
    multiValueQueryStringParameters: null,
    requestContext: { domainName: "api" },
    body: null,
    isBase64Encoded: false,
  };
  return { ...plain, ...more } as unknown as APIGatewayProxyEvent;
}

function answering() {
  const { api } = apiUnderTest();
  const answer = answerHttp(api, "here");
  return async (one: APIGatewayProxyEvent) => {
    const { statusCode, headers, body, isBase64Encoded } = await answer(one);
    return { statusCode, headers, isBase64Encoded, json: JSON.parse(body) as Record<string, unknown> };
  };
}

it("a log's name keeps its encoded slashes and characters of any script", async () => {
  const answer = answering();
  const created = await answer(event("PUT", "/v1/logs/a%2Fb%20%E6%97%A5", { body: "{}" }));
  expect(created).toMatchObject({ statusCode: 201, isBase64Encoded: false, json: { log: "a/b \u65e5" } });
  expect(await answer(event("GET", "/v1/logs/a%2Fb%20%E6%97%A5"))).toMatchObject({ statusCode: 200 });
});

it("a path is judged as it stood on the request line, before anything folded it", async () => {
  const answer = answering();
  for (const path of ["/v1/logs/x/..", "/v1/logs/%2e%2e", "/v1/logs/x/%2E"]) {
    expect(await answer(event("GET", path))).toMatchObject({
      statusCode: 400,
      json: { code: "invalid_request" },
    });
  }
});

it("a record's bytes come through as they are, in base 64 on the way", async () => {
  const answer = answering();
  await answer(event("PUT", "/v1/logs/bytes", { body: "{}" }));
  const bytes = Buffer.from([0, 255, 128, 10]);
  const appended = await answer(
    event("POST", "/v1/logs/bytes/records", {
      headers: { "Content-Type": "application/octet-stream" },
      body: bytes.toString("base64"),
      isBase64Encoded: true,
    }),
  );
  expect(appended).toMatchObject({ statusCode: 200, json: { end: 1 } });
  const read = await answer(
    event("GET", "/v1/logs/bytes/records", {
      headers: { "log-format": "base64" },
      queryStringParameters: { seq_num: "0" },
    }),
  );
  expect(read.json.records).toMatchObject([{ body: bytes.toString("base64") }]);
});

it("every answer names its request and its region; a problem is a document of its own type", async () => {
  const { headers } = await answering()(event("GET", "/v1/nothing"));
  expect(headers).toMatchObject({
    "content-type": "application/problem+json",
    "log-region": expect.any(String),
    "request-id": expect.any(String),
  });
});

it("an event of anything else is no request", () => {
  for (const other of [null, {}, { format: 1, operation: "append" }, { httpMethod: "GET" }, "text"]) {
    expect(isHttpRequest(other)).toBe(false);
  }
  expect(isHttpRequest(event("GET", "/"))).toBe(true);
});

describe("octets, as the gateway hands them on: every body in base 64", () => {
  const sent = (type: string, bytes: Uint8Array | string, more: Partial<APIGatewayProxyEvent> = {}) =>
    event("POST", "/v1/logs/bytes/records", {
      headers: { "Content-Type": type },
      body: Buffer.from(bytes).toString("base64"),
      isBase64Encoded: true,
      ...more,
    });
  const every = Uint8Array.from({ length: 256 }, (_, byte) => byte);
  const noText = Buffer.from([0x61, 0xff, 0xfe, 0x80, 0x0a, 0xc3, 0x28, 0x0d, 0x0a]);

  async function made() {
    const answer = answering();
    await answer(event("PUT", "/v1/logs/bytes", { body: "{}" }));
    const bodies = async () => {
      const read = await answer(
        event("GET", "/v1/logs/bytes/records", { headers: { "log-format": "base64" } }),
      );
      return (read.json.records as { body: string }[]).map(({ body }) => Buffer.from(body, "base64"));
    };
    return { answer, bodies };
  }

  it("one record of every byte is that record", async () => {
    const { answer, bodies } = await made();
    expect(await answer(sent("application/octet-stream", every))).toMatchObject({ statusCode: 200 });
    expect(await bodies()).toEqual([Buffer.from(every)]);
  });

  it.each(["application/x-ndjson", "application/jsonl", "text/plain", "text/plain; charset=utf-8"])(
    "lines of %s are kept as they are, though they are no UTF-8",
    async (type) => {
      const { answer, bodies } = await made();
      expect(await answer(sent(type, noText))).toMatchObject({ statusCode: 200, json: { end: 2 } });
      expect(await bodies()).toEqual([noText.subarray(0, 4), noText.subarray(5, 8)]);
    },
  );

  it("JSON that is no UTF-8 is refused, and never stored as something else", async () => {
    const { answer, bodies } = await made();
    const json = Buffer.concat([Buffer.from('{"records":[{"body":"'), noText, Buffer.from('"}]}')]);
    const refused = await answer(sent("application/json", json));
    expect(refused).toMatchObject({ statusCode: 400, json: { code: "bad_json", side_effects: "none" } });
    expect(await bodies()).toEqual([]);
  });

  it("JSON in base 64 is JSON, and an empty body is an empty record", async () => {
    const { answer, bodies } = await made();
    const json = JSON.stringify({ records: [{ body: "\u65e5\ud83d\udc4d" }] });
    expect(await answer(sent("application/json", json))).toMatchObject({ statusCode: 200 });
    const empty = sent("application/octet-stream", "", { body: null, isBase64Encoded: false });
    expect(await answer(empty)).toMatchObject({ statusCode: 200 });
    expect(await bodies()).toEqual([Buffer.from("\u65e5\ud83d\udc4d"), Buffer.alloc(0)]);
  });

  it("what was compressed is refused", async () => {
    const { answer } = await made();
    const headers = { "Content-Type": "application/octet-stream", "Content-Encoding": "gzip" };
    expect(await answer(sent("application/octet-stream", every, { headers }))).toMatchObject({
      statusCode: 415,
    });
  });

  it("an answer of octets is in base 64, and says so; one of text is not", async () => {
    const answered = (body: Uint8Array | string) =>
      answerHttp(
        { fetch: async () => new Response(body) } as unknown as ApiApp,
        "here",
      )(event("GET", "/any"));
    expect(await answered(every)).toMatchObject({
      body: Buffer.from(every).toString("base64"),
      isBase64Encoded: true,
    });
    expect(await answered("\ufeff\u65e5")).toMatchObject({ body: "\ufeff\u65e5", isBase64Encoded: false });
  });
});

it("a body that GET has is none of its business, as on a laptop", async () => {
  const answer = answering();
  expect(await answer(event("GET", "/v1/health", { body: "e30=", isBase64Encoded: true }))).toMatchObject({
    statusCode: 200,
  });
});

it("an event of no request that can be made is refused as a problem document", async () => {
  const answer = answering();
  for (const strange of [event("TRACE", "/v1/logs"), event("GET", "/v1/logs", { headers: { "a b": "c" } })]) {
    expect(await answer(strange)).toMatchObject({
      statusCode: 400,
      headers: { "content-type": "application/problem+json", "log-region": "here" },
      json: { code: "invalid_request", side_effects: "none", retryable: false },
    });
  }
});

it("a page of a named origin may read the answer, and one of another gets 403 before anything is done", async () => {
  const { api } = apiUnderTest({}, ["https://app.example"]);
  const answer = answerHttp(api, "here");
  const of = (origin: string) => ({ headers: { "content-type": "application/json", origin }, body: "{}" });
  const served = await answer(event("PUT", "/v1/logs/mine", of("https://app.example")));
  expect(served).toMatchObject({
    statusCode: 201,
    headers: { "access-control-allow-origin": "https://app.example", vary: "Origin" },
  });
  const refused = await answer(event("PUT", "/v1/logs/theirs", of("https://other.example")));
  expect(refused.statusCode).toBe(403);
  expect(refused.headers).not.toHaveProperty("access-control-allow-origin");
  expect(JSON.parse(refused.body).detail).toContain("allowedOrigins");
});
