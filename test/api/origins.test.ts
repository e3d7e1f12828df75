/** What pages in a browser may do: nothing, unless their origin is named. */
import { describe, expect, test } from "vitest";
import { isOrigin, LOOPBACK_ORIGINS } from "../../lib/api/origins.ts";
import { apiUnderTest, problemIn } from "./api-under-test.ts";

const RECORDS = "/v1/logs/orders/records";
const PAGE = "https://app.example";

/** A body that says when it is read. */
function watched() {
  let pulled = 0;
  const body = new ReadableStream<Uint8Array>(
    {
      pull: (controller) => {
        pulled += 1;
        controller.enqueue(new TextEncoder().encode("x\n"));
        controller.close();
      },
    },
    { highWaterMark: 0 },
  );
  return { init: { body, duplex: "half" } as RequestInit, pulled: () => pulled };
}

describe("a page that is not allowed", () => {
  const types = ["text/plain", "application/json", "application/octet-stream", "application/x-ndjson", ""];
  const pages = [
    { origin: PAGE },
    { origin: "null" },
    { origin: "http://localhost:3000" },
    { origin: "http://127.0.0.1:4702" },
    { origin: "https://localhost" },
    { origin: "" },
    { "sec-fetch-site": "cross-site" },
    { "sec-fetch-site": "same-site" },
    { origin: PAGE, "sec-fetch-site": "same-origin" },
  ];
  test.each(pages.flatMap((page) => types.map((type) => [page, type] as const)))(
    "%j cannot append %s, and its body is not read",
    async (page, type) => {
      const { logs, send } = apiUnderTest();
      await send("PUT", "/v1/logs/orders");
      const { init, pulled } = watched();
      const headers = { ...page, ...(type === "" ? {} : { "content-type": type }) } as Record<string, string>;
      const answer = await send("POST", RECORDS, { ...init, headers });
      expect(answer.headers.has("access-control-allow-origin")).toBe(false);
      expect(await problemIn(answer)).toMatchObject({
        status: 403,
        code: "origin_not_allowed",
        retryable: false,
        side_effects: "none",
      });
      expect(pulled()).toBe(0);
      expect(logs.appended).toEqual([]);
    },
  );

  test.each([
    ["POST", "/v1/logs/orders/seal"],
    ["DELETE", "/v1/logs/orders"],
    ["GET", RECORDS],
    ["GET", "/v1/nowhere"],
    ["PUT", "/v1/health"],
    ["OPTIONS", RECORDS],
  ])("cannot %s %s, nor ask whether it may", async (method, path) => {
    const { logs, send } = apiUnderTest({}, ["https://other.example"]);
    await send("PUT", "/v1/logs/orders");
    const headers = { origin: PAGE, "access-control-request-method": "POST" };
    const answer = await send(method, path, { headers });
    expect(answer.status).toBe(403);
    expect([...answer.headers.keys()].filter((name) => name.startsWith("access-control"))).toEqual([]);
    expect(logs.logs.size).toBe(1);
    expect(logs.sealed.size).toBe(0);
  });
});

describe("a program, and a page of the server itself, are served:", () => {
  test.each([
    {},
    { origin: "http://localhost" },
    { "sec-fetch-site": "none" },
    { "sec-fetch-site": "same-origin" },
  ])("%j", async (headers) => {
    const answer = await apiUnderTest().send("GET", "/v1/logs", {
      headers: headers as Record<string, string>,
    });
    expect(answer.status).toBe(200);
    expect(answer.headers.has("access-control-allow-origin")).toBe(false);
  });
});

describe("a page that is named", () => {
  test("reads and appends, and sees the answer's headers", async () => {
    const { send } = apiUnderTest({}, [PAGE]);
    await send("PUT", "/v1/logs/orders");
    const headers = { origin: PAGE, "sec-fetch-site": "cross-site", "content-type": "text/plain" };
    for (const answer of [
      await send("POST", RECORDS, { headers, body: "x" }),
      await send("GET", RECORDS, { headers }),
      await send("GET", "/v1/logs/nowhere", { headers }),
    ]) {
      expect(answer.headers.get("access-control-allow-origin")).toBe(PAGE);
      expect(answer.headers.get("access-control-expose-headers")).toMatch(
        /Log-Owner.*Request-Id.*Retry-After/,
      );
      expect(answer.headers.get("vary")).toContain("Origin");
      expect(answer.headers.has("access-control-allow-credentials")).toBe(false);
    }
  });

  test("may send what the surface takes, once it has asked", async () => {
    const { send } = apiUnderTest({}, [PAGE]);
    const headers = { origin: PAGE, "access-control-request-method": "POST" };
    const answer = await send("OPTIONS", RECORDS, { headers });
    expect(answer.status).toBe(204);
    expect(answer.headers.get("access-control-allow-origin")).toBe(PAGE);
    expect(answer.headers.get("access-control-allow-methods")).toBe("GET, HEAD, OPTIONS, POST");
    expect(answer.headers.get("access-control-allow-headers")).toMatch(/Content-Type, Idempotency-Key/);
    expect(answer.headers.has("access-control-allow-private-network")).toBe(false);
    const asking = { ...headers, "access-control-request-private-network": "true" };
    const near = await send("OPTIONS", RECORDS, { headers: asking });
    expect(near.headers.get("access-control-allow-private-network")).toBe("true");
  });

  test("is no other origin that looks like it", async () => {
    const { send } = apiUnderTest({}, [PAGE]);
    for (const origin of ["https://app.example:8443", "http://app.example", `${PAGE}.evil.example`]) {
      expect((await send("GET", "/v1/logs", { headers: { origin } })).status).toBe(403);
    }
  });

  test("of this machine has any port, if all of them are", async () => {
    const { send } = apiUnderTest({}, [LOOPBACK_ORIGINS]);
    for (const origin of ["http://localhost:3000", "http://127.0.0.1:1", "https://[::1]:8443"]) {
      const answer = await send("GET", "/v1/logs", { headers: { origin } });
      expect(answer.headers.get("access-control-allow-origin")).toBe(origin);
    }
    for (const origin of [
      "http://localhost.evil.example",
      "http://127.0.0.1.evil.example",
      PAGE,
      "loopback",
    ]) {
      expect((await send("GET", "/v1/logs", { headers: { origin } })).status).toBe(403);
    }
  });
});

test("OPTIONS says what a path takes, to programs too", async () => {
  const { send } = apiUnderTest();
  const answer = await send("OPTIONS", "/v1/logs/orders");
  expect(answer.status).toBe(204);
  expect(answer.headers.get("allow")).toBe("DELETE, GET, HEAD, OPTIONS, PATCH, PUT");
  expect((await send("OPTIONS", "/v1/nowhere")).status).toBe(404);
});

test.each([
  ["https://app.example", true],
  ["http://localhost:3000", true],
  ["https://app.example/", false],
  ["https://app.example:443", false],
  ["https://user@app.example", false],
  ["HTTPS://app.example", false],
  ["app.example", false],
  ["*", false],
  ["null", false],
])("%s as an origin: %s", (text, expected) => {
  expect(isOrigin(text)).toBe(expected);
});
