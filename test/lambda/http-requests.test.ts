/** Events of a REST API, as requests to the HTTP surface and back. */
import type { APIGatewayProxyEvent } from "aws-lambda";
import { expect, it } from "vitest";
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
