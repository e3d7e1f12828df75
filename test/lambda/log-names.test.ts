/**
 * One table of log names, each by three ways: the surface of a laptop, a function behind the gateway's events,
 * and the shipped client, whose signature is checked as AWS documents it for services other than S3: each
 * segment of the path encoded once more, the query by RFC 3986.
 *
 * The events have the shape that AWS documents for a REST API: `path` as it stood on the request line, without
 * the stage, and `pathParameters` decoded or not.
 */
import { createHash, createHmac } from "node:crypto";
import type { APIGatewayProxyEvent } from "aws-lambda";
import { describe, expect, it, test } from "vitest";
import { signedSend } from "../../lib/client/aws/signed-send.ts";
import type { HttpRequest } from "../../lib/client/http-words.ts";
import { LogClient } from "../../lib/client/log-client.ts";
import { answerHttp } from "../../lib/lambda/http-requests.ts";
import { apiUnderTest } from "../api/api-under-test.ts";

const NAMES = [
  "orders",
  "a/b",
  "/a//b/",
  "100%",
  "%2F",
  "a%2Fb",
  "a%252Fb",
  "a+b",
  "a b",
  " a ",
  "a?b#c&d=e;f",
  "a\\b",
  "a:b@c,d",
  "!'()*~-_.$",
  "...",
  ".a",
  "a..b",
  "Zürich",
  "日本/ログ",
  "👍🏽",
  "e\u0301 and \u00e9",
  "\u00a0\u200b\ufeff",
];

/** Of dot segments, folded or not by what lies between: never taken, and never another log. */
const REFUSED = [".", "..", "a/..", "../a", "a/./b"];

const STAGE = "/live";
const HOST = "a1.execute-api.us-east-1.amazonaws.com";
const keys = { accessKeyId: "AKIDEXAMPLE", secretAccessKey: "secret", sessionToken: "token/+=" };

/** What the gateway hands on. */
function eventOf(url: URL, request: HttpRequest, parameters: Record<string, string>): APIGatewayProxyEvent {
  const body = request.body === undefined ? null : Buffer.from(request.body).toString("base64");
  const path = url.pathname.slice(STAGE.length);
  const query = [...new Set(url.searchParams.keys())];
  const list = query.map((name) => [name, url.searchParams.getAll(name)]);
  return {
    resource: "/v1/logs/{log}",
    path,
    httpMethod: request.method,
    headers: { ...request.headers, Host: HOST },
    multiValueHeaders: Object.fromEntries(
      Object.entries({ ...request.headers, Host: HOST }).map(([name, value]) => [name, [value]]),
    ),
    queryStringParameters: query.length === 0 ? null : Object.fromEntries(url.searchParams),
    multiValueQueryStringParameters: query.length === 0 ? null : Object.fromEntries(list),
    pathParameters: parameters,
    stageVariables: null,
    requestContext: { apiId: "a1", domainName: HOST, path: `${STAGE}${path}`, stage: "live" },
    body,
    isBase64Encoded: body !== null,
  } as unknown as APIGatewayProxyEvent;
}

/** RFC 3986. */
const encoded = (text: string) =>
  encodeURIComponent(text).replaceAll(
    /[!'()*]/g,
    (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`,
  );

/** The signature that AWS computes of a request, from its bytes on the wire alone. */
function signatureOf(url: URL, request: HttpRequest): string {
  const headers = Object.fromEntries(
    Object.entries(request.headers).map(([name, value]) => [name.toLowerCase(), value.trim()]),
  );
  const [, scope = "", signed = ""] =
    /Credential=[^/]+\/([^,]+), SignedHeaders=([^,]+)/.exec(headers.authorization ?? "") ?? [];
  const query = url.search
    .slice(1)
    .split("&")
    .filter((part) => part !== "")
    .map((part) => part.split("=").map((word) => encoded(decodeURIComponent(word))))
    .map(([name = "", value = ""]) => `${name}=${value}`)
    .sort();
  const canonical = [
    request.method,
    url.pathname.split("/").map(encoded).join("/"),
    query.join("&"),
    ...signed.split(";").map((name) => `${name}:${name === "host" ? HOST : headers[name]}`),
    "",
    signed,
    createHash("sha256")
      .update(request.body ?? "")
      .digest("hex"),
  ].join("\n");
  const text = [
    "AWS4-HMAC-SHA256",
    headers["x-amz-date"],
    scope,
    createHash("sha256").update(canonical).digest("hex"),
  ].join("\n");
  const secret = scope
    .split("/")
    .reduce<Buffer | string>(
      (key, part) => createHmac("sha256", key).update(part).digest(),
      `AWS4${keys.secretAccessKey}`,
    );
  return createHmac("sha256", secret).update(text).digest("hex");
}

/** The shipped client before a gateway that checks its signature and hands the request to a function. */
function deployed(parametersOf: (segment: string) => string) {
  const { api, send } = apiUnderTest();
  const answer = answerHttp(api, "us-east-1");
  const client = new LogClient({
    endpoint: `https://${HOST}${STAGE}`,
    send: signedSend({
      region: "us-east-1",
      credentials: async () => keys,
      send: async (address, request) => {
        const url = new URL(address);
        expect(request.headers.authorization).toContain(`Signature=${signatureOf(url, request)}`);
        const log = parametersOf(url.pathname.split("/")[4] ?? "");
        const { statusCode, headers, body } = await answer(eventOf(url, request, { log }));
        return new Response(body, { status: statusCode, headers: headers as Record<string, string> });
      },
    }),
  });
  return { answer, client, send };
}

describe.each([
  ["as they were sent", (segment: string) => segment],
  ["decoded", (segment: string) => decodeURIComponent(segment)],
] as const)("a log's name, pathParameters %s", (_, parametersOf) => {
  test.each(NAMES)("%j is the same log on a laptop, in a function and for the client", async (name) => {
    const { client, send } = deployed(parametersOf);
    expect(await client.createLog(name, {})).toMatchObject({ created: true, log: { log: name } });
    expect(await client.describeLog(name)).toMatchObject({ log: name });
    const path = `/v1/logs/${encodeURIComponent(name)}`;
    const here = await send("GET", path, {}, path);
    expect(await here.json()).toMatchObject({ log: name });
    // Spelled as strictly as can be, it is the same.
    const strict = `/v1/logs/${encoded(name)}`;
    expect((await send("GET", strict, {}, strict)).status).toBe(200);
    const { logs } = await client.listLogs({ prefix: name });
    expect(logs).toEqual([name]);
  });
});

it.each(REFUSED)("%j is refused alike, and nothing else is answered for it", async (name) => {
  const { answer, client, send } = deployed((segment) => segment);
  await expect(client.createLog(name, {})).rejects.toThrow(/no name|segment/);
  const path = `/v1/logs/${encodeURIComponent(name).replaceAll(".", "%2E")}`;
  const here = await send("PUT", path, { body: "{}", headers: { "content-type": "application/json" } }, path);
  expect(here.status).toBe(400);
  const request = { method: "PUT", headers: { "content-type": "application/json" }, body: "{}" };
  const url = new URL(`https://${HOST}`);
  const event = eventOf(url, { ...request, signal: AbortSignal.timeout(1_000) }, {});
  expect(await answer({ ...event, path })).toMatchObject({ statusCode: 400 });
});

it("what a gateway decoded is never taken for a shorter name", async () => {
  const { answer, client } = deployed((segment) => segment);
  await client.createLog("a", {});
  const request = { method: "GET", headers: {}, signal: AbortSignal.timeout(1_000) };
  const event = eventOf(new URL(`https://${HOST}`), request, {});
  for (const path of ["/v1/logs/a?b", "/v1/logs/a#b", "/v1/logs/a b", "/v1/logs/ü", "/v1/logs/100%"]) {
    const { statusCode, body } = await answer({ ...event, path });
    expect([path, statusCode]).toEqual([path, path.includes("?") ? 404 : 400]);
    expect(JSON.parse(body).log).not.toBe("a");
  }
});
