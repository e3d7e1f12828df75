/** What reaches a region's port, and what is refused before it does. */
import { once } from "node:events";
import { connect } from "node:net";
import { describe, expect, test } from "vitest";
import { RunningCloud } from "./running-cloud.ts";

/** Sends bytes as they are, and tells all that comes back until the connection ends. */
async function exchange(
  url: string,
  bytes: string,
): Promise<{ status: number; problem: Record<string, unknown> }> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  const chunks: Buffer[] = [];
  socket.on("data", (chunk) => chunks.push(chunk));
  socket.write(bytes);
  await once(socket, "close");
  const [head = "", body = ""] = Buffer.concat(chunks).toString().split("\r\n\r\n");
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
    ["a page of another origin", get("/v1/health", "localhost", "Origin: https://attacker.example\r\n")],
    ["what is no HTTP", "hello\r\n\r\n"],
    ["a host that is none", get("/v1/health", "a b")],
  ])("refuses %s with a problem document", async (_, bytes) => {
    await using running = await RunningCloud.start();
    const { status, problem } = await exchange(running.url("us-east-1"), bytes);
    expect(status).toBe(400);
    expect(problem).toMatchObject({ code: "invalid_request", retryable: false, side_effects: "none" });
  });

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
