/** What a failed request may have done, by what the network said of it. */
import { expect, it } from "vitest";
import { noAnswer } from "../../lib/client/http-words.ts";

const patience = { endpoint: "http://127.0.0.1:9", timeoutMs: 1_000 };

it.each([
  ["ECONNREFUSED", "connect", "none"],
  ["EHOSTUNREACH", "connect", "none"],
  ["EHOSTUNREACH", "read", "possible"],
  ["ENOTFOUND", "getaddrinfo", "none"],
  ["UND_ERR_CONNECT_TIMEOUT", undefined, "none"],
  ["ECONNRESET", "read", "possible"],
  ["UND_ERR_SOCKET", undefined, "possible"],
])("%s of a %s: side effects %s", (code, syscall, effects) => {
  const cause = Object.assign(new Error(code), { code, ...(syscall === undefined ? {} : { syscall }) });
  const error = noAnswer(patience, "POST /", new TypeError("fetch failed", { cause }), "possible");
  expect(error.sideEffects).toBe(effects);
  expect(error.message).toContain(code);
});

it("says in words what was tried and why it failed, with the network's own word behind", () => {
  const cause = Object.assign(new Error("connect"), { code: "ECONNREFUSED", syscall: "connect" });
  const refused = noAnswer(patience, "GET /v1/logs/x", new TypeError("fetch failed", { cause }), "none");
  expect(refused.message).toBe(
    "http://127.0.0.1:9 gave no answer to GET /v1/logs/x: nobody listens there (ECONNREFUSED)",
  );
  const port = new TypeError("fetch failed", { cause: new Error("bad port") });
  const told = noAnswer(patience, "PUT /v1/logs/x", port, "possible");
  expect(told.message).toContain("PUT /v1/logs/x: fetch sends nothing to that port (bad port)");
  expect(told).toMatchObject({ sideEffects: "none", retryable: false });
});
