/** What reaches a region's port, and what is refused before it does. */
import { once } from "node:events";
import { stat } from "node:fs/promises";
import { connect } from "node:net";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { LoopbackServer } from "../../lib/local/loopback-server.ts";
import { HurriedClock } from "./hurried-clock.ts";
import { RunningCloud } from "./running-cloud.ts";

const JSON_TYPE = { "content-type": "application/json" };

/** Sends bytes as they are, and returns all that comes back until the connection ends. */
async function sent(url: string, bytes: string): Promise<string> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  const chunks: Buffer[] = [];
  socket.on("data", (chunk) => chunks.push(chunk));
  socket.write(bytes);
  await once(socket, "close");
  return Buffer.concat(chunks).toString();
}

/** The same of one answer, which is a problem document. */
async function exchange(
  url: string,
  bytes: string,
): Promise<{ status: number; problem: Record<string, unknown> }> {
  const [head = "", body = ""] = (await sent(url, bytes)).split("\r\n\r\n");
  expect(head.toLowerCase()).toContain("content-type: application/problem+json");
  return { status: Number(head.split(" ")[1]), problem: JSON.parse(body) };
}

const get = (target: string, host: string, more = "") =>
  `GET ${target} HTTP/1.1\r\nHost: ${host}\r\n${more}Connection: close\r\n\r\n`;

describe("a region's port", () => {
  test.each([
    ["a log name with /..", "/v1/logs/orders/.."],
    ["dots that are encoded", "/v1/logs/a/%2e%2e/orders"],
    ["bytes that are not UTF-8", "/v1/logs/%ff"],
    ["a target with a host", "http://localhost/v1/logs/x/../y"],
  ])("refuses %s as it stands on the request line", async (_, target) => {
    await using running = await RunningCloud.start();
    const { status, problem } = await exchange(running.url("us-east-1"), get(target, "localhost"));
    expect(status).toBe(400);
    expect(problem).toMatchObject({ code: "invalid_request", side_effects: "none" });
    expect(problem.detail).toMatch(/is no log name/);
  });

  test.each([
    ["another host's name", get("/v1/health", "attacker.example")],
    ["no host", "GET /v1/health HTTP/1.0\r\n\r\n"],
    ["no host, in HTTP/1.1", "GET /v1/health HTTP/1.1\r\nConnection: close\r\n\r\n"],
    ["two hosts", get("/v1/health", "localhost", "host: attacker.example\r\n")],
    ["the same host twice", get("/v1/health", "localhost", "Host: localhost\r\n")],
    ["a target of another host", get("http://attacker.example/v1/health", "localhost")],
    ["a target of this machine for another host", get("http://localhost/v1/health", "attacker.example")],
    ["a fragment", get("/v1/logs/a#b", "localhost")],
    ["characters that are not encoded", get("/v1/logs/\u00fc", "localhost")],
    ["what is no HTTP", "hello\r\n\r\n"],
    ["a host that is none", get("/v1/health", "a b")],
  ])("refuses %s with a problem document", async (_, bytes) => {
    await using running = await RunningCloud.start();
    const { status, problem } = await exchange(running.url("us-east-1"), bytes);
    expect(status).toBe(400);
    expect(problem).toMatchObject({ code: "invalid_request", retryable: false, side_effects: "none" });
  });

  test.each([
    ["a page of another origin", "Origin: https://attacker.example\r\n"],
    ["a page of another port", "Origin: http://localhost:3000\r\n"],
    ["a page of another site", "Sec-Fetch-Site: cross-site\r\n"],
    [
      "a page that hides behind 2,100 headers",
      `${"a:\r\n".repeat(2_100)}Origin: https://attacker.example\r\n`,
    ],
  ])("refuses %s, and so does the control endpoint", async (_, header) => {
    await using running = await RunningCloud.start();
    for (const url of [running.url("us-east-1"), running.cloud.controlUrl]) {
      const { status, problem } = await exchange(url, get("/v1/health", "localhost", header));
      expect(status).toBe(403);
      expect(problem).toMatchObject({ code: "origin_not_allowed", retryable: false, side_effects: "none" });
    }
  });

  const post = (headers: string, body: string) =>
    `POST /v1/logs/orders/records HTTP/1.1\r\nHost: localhost\r\n${headers}\r\n${body}`;

  test.each([
    [414, "uri_too_long", "a target over its limit", get(`/v1/logs/${"a".repeat(9_000)}`, "localhost")],
    [414, "uri_too_long", "a target over all limits", get(`/v1/logs/${"a".repeat(60_000)}`, "localhost")],
    [
      431,
      "headers_too_large",
      "a long header",
      get("/v1/health", "localhost", `a: ${"b".repeat(60_000)}\r\n`),
    ],
    [431, "headers_too_large", "many headers", get("/v1/health", "localhost", "a:b\r\n".repeat(9_000))],
    [
      413,
      "body_too_large",
      "long extensions of chunks",
      post("Transfer-Encoding: chunked\r\n", `1;${"a".repeat(60_000)}\r\nx\r\n0\r\n\r\n`),
    ],
  ])("answers %i %s to %s", async (status, code, _, bytes) => {
    await using running = await RunningCloud.start();
    const answer = await exchange(running.url("us-east-1"), bytes);
    expect(answer.status).toBe(status);
    expect(answer.problem).toMatchObject({ status, code, retryable: false, side_effects: "none" });
    expect((await fetch(`${running.url("us-east-1")}/v1/health`)).status).toBe(200);
  });

  test.each([
    ["nothing", ""],
    ["half of its headers", "GET /v1/health HTTP/1.1\r\nHost: local"],
    ["half of its body", post("Content-Length: 10\r\n", "12345")],
  ])("answers 408 to a client that sends %s and then waits", async (_, bytes) => {
    await using server = await LoopbackServer.open({
      name: "a",
      port: 0,
      serve: async (request) => new Response(await request.text()),
      waits: { headersMs: 100, requestMs: 100, checkMs: 20 },
    });
    const { status, problem } = await exchange(server.url, bytes);
    expect(status).toBe(408);
    expect(problem).toMatchObject({ status, code: "request_timeout", side_effects: "none" });
  });

  test.each([
    ["garbage", "GARBAGE\r\n\r\n"],
    ["headers that are too long", `GET /v1/health HTTP/1.1\r\nx: ${"y".repeat(20_000)}\r\n\r\n`],
    ["a length that is none", "GET / HTTP/1.1\r\nHost: localhost\r\ncontent-length: -1\r\n\r\n"],
  ])("answers an append, and closes the connection on what follows it: %s", async (_, behind) => {
    await using running = await RunningCloud.start();
    const url = running.url("us-east-1");
    await fetch(`${url}/v1/logs/pipelined`, { method: "PUT", headers: JSON_TYPE, body: "{}" });
    const body = JSON.stringify({ records: [{ body: "one" }] });
    const append =
      "POST /v1/logs/pipelined/records HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n" +
      `Content-Length: ${body.length}\r\n\r\n${body}`;
    const answers = await sent(url, append + behind);
    expect([...answers.matchAll(/^HTTP\/1\.1 (\d+)/gm)].map(([, code]) => code)).toEqual(["200"]);
    expect(answers).toContain('"seq_num":0');
  });

  test("answers CONNECT with a problem document", async () => {
    await using running = await RunningCloud.start();
    const connecting = "CONNECT /v1/health HTTP/1.1\r\nHost: localhost\r\n\r\n";
    expect(await exchange(running.url("us-east-1"), connecting)).toMatchObject({ status: 405 });
  });

  test("keeps what is stored from other users of the machine", async () => {
    await using running = await RunningCloud.start();
    for (const folder of [".", "metadata", "regions"]) {
      expect((await stat(join(running.dataDir, folder))).mode & 0o777).toBe(0o700);
    }
  });

  test("takes an Idempotency-Key behind 2,100 other headers", async () => {
    await using running = await RunningCloud.start();
    const url = running.url("us-east-1");
    await fetch(`${url}/v1/logs/orders`, { method: "PUT" });
    const request =
      `POST /v1/logs/orders/records HTTP/1.1\r\nHost: localhost\r\n${"a:\r\n".repeat(2_100)}` +
      "Idempotency-Key: a key\r\nContent-Type: text/plain\r\nContent-Length: 1\r\nConnection: close\r\n\r\nx";
    const { status, problem } = await exchange(url, request);
    expect(status).toBe(400);
    expect(problem.detail).toMatch(/Idempotency-Key has 1 to 64 .* no spaces, got "a key"/);
  });

  test.each(["Transfer-Encoding: gzip, chunked", "Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked"])(
    "refuses a body in %j, whose bytes would be stored as they come",
    async (coding) => {
      await using running = await RunningCloud.start();
      const url = running.url("us-east-1");
      await fetch(`${url}/v1/logs/orders`, { method: "PUT" });
      const head = "POST /v1/logs/orders/records HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n";
      const body = "Content-Type: text/plain\r\n\r\n1\r\nx\r\n0\r\n\r\n";
      const { status, problem } = await exchange(url, `${head}${coding}\r\n${body}`);
      expect(status).toBe(415);
      expect(problem).toMatchObject({ code: "unsupported_media_type", coding: "gzip, chunked" });
      expect((await running.client("us-east-1").tail("orders")).tail).toBe(0);
    },
  );

  test("refuses an expectation that it does not know with a problem document, and goes on serving", async () => {
    await using running = await RunningCloud.start();
    const url = running.url("us-east-1");
    const expecting = get("/v1/health", "localhost", "Expect: a miracle\r\n");
    const { status, problem } = await exchange(url, expecting);
    expect(status).toBe(417);
    expect(problem).toMatchObject({ status: 417, code: "expectation_failed", side_effects: "none" });
    expect(problem.detail).toMatch(/Expect: "a miracle" cannot be met.*100-continue.*Leave the header out/);
    expect((await fetch(`${url}/v1/health`)).status).toBe(200);
  });

  test("a log whose quorum sizes are refused: they are called what they were sent as", async () => {
    await using running = await RunningCloud.start();
    const replication = { ensemble_size: 4, write_quorum: 4, ack_quorum: 2, min_regions: 2 };
    const answer = await fetch(`${running.url("us-east-1")}/v1/logs/x`, {
      method: "PUT",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ replication }),
    });
    const problem = (await answer.json()) as Record<string, unknown>;
    expect(problem).toMatchObject({ status: 400, change: ["ack_quorum"], smallest_ack_quorum: 3 });
    expect(problem.detail).toMatch(
      /ack_quorum is 2; with ensemble_size 4, write_quorum 4 and min_regions 2 it/,
    );
    expect(problem.detail).not.toMatch(/[a-z][A-Z]/);
  });

  test("serves a page whose origin is named, and the control endpoint serves none", async () => {
    const origin = "http://localhost:3000";
    await using running = await RunningCloud.start({ allowedOrigins: [origin] });
    const headers = { origin };
    const answer = await fetch(`${running.url("us-east-1")}/v1/health`, { headers });
    expect(answer.headers.get("access-control-allow-origin")).toBe(origin);
    expect((await fetch(`${running.cloud.controlUrl}/regions`, { headers })).status).toBe(403);
  });

  test("takes this machine's own names", async () => {
    await using running = await RunningCloud.start();
    const { port } = new URL(running.url("us-east-1"));
    for (const name of ["localhost", "127.0.0.1"]) {
      expect((await fetch(`http://${name}:${port}/v1/health`)).status).toBe(200);
    }
  });

  test("refuses 10 MB of body, stated or not, and goes on serving", async () => {
    await using running = await RunningCloud.start();
    const url = `${running.url("us-east-1")}/v1/logs/orders/records`;
    const headers = { "content-type": "application/json" };
    const stated = await fetch(url, { method: "POST", headers, body: Buffer.alloc(10_000_000, " ") });
    expect(await stated.json()).toMatchObject({
      status: 413,
      code: "body_too_large",
      actual_bytes: 10_000_000,
    });
    const body = new ReadableStream({
      start(controller) {
        for (let chunk = 0; chunk < 100; chunk++) controller.enqueue(Buffer.alloc(100_000, " "));
        controller.close();
      },
    });
    const streamed = await fetch(url, { method: "POST", headers, body, duplex: "half" } as RequestInit);
    expect(await streamed.json()).toMatchObject({ status: 413, code: "body_too_large" });
    expect((await fetch(`${running.url("us-east-1")}/v1/health`)).status).toBe(200);
  });
});

test("a log is not transferred to a region that takes none, which is the state's fault", async () => {
  await using running = await RunningCloud.start({ clock: new HurriedClock(4) });
  const url = running.url("us-east-1");
  const send = (method: string, path: string, body: object) =>
    fetch(`${url}${path}`, {
      method,
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
  await send("PUT", "/v1/logs/orders", {});
  await send("POST", "/v1/logs/orders/records", { records: [{ body: "x" }] });
  await send("PATCH", "/v1/regions/us-west-2", { state: "draining" });
  await expect
    .poll(
      async () => (await send("POST", "/v1/logs/orders/owner/transfer", { region: "us-west-2" })).json(),
      {
        timeout: 20_000,
        interval: 500,
      },
    )
    .toMatchObject({ status: 409, code: "region_not_accepting", retryable: false, side_effects: "none" });
}, 30_000);
