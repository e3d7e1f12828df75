/** Which names a log may have, and that no parser's folding of a path leads to another log. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { LOG_NAME_PATTERN, nameFault } from "../../lib/api/log-name.ts";
import { apiUnderTest, problemIn } from "./api-under-test.ts";

describe("names that are taken as they are", () => {
  test.each([
    "orders",
    "orders/eu",
    "a..b",
    "..a",
    "50%",
    "%2F",
    "a b+c",
    "Ærøskøbing",
    "日本",
    "?#&",
    "\u{1f600}",
  ])("%s", async (name) => {
    const { logs, send } = apiUnderTest();
    const created = await send("PUT", `/v1/logs/${encodeURIComponent(name)}`);
    expect(created.status).toBe(201);
    expect([...logs.logs.keys()]).toEqual([name]);
    const found = await send("GET", `/v1/logs/${encodeURIComponent(name)}`);
    expect(await found.json()).toMatchObject({ log: name });
  });

  test("512 bytes of UTF-8 and not one more", async () => {
    const { send } = apiUnderTest();
    const name = encodeURIComponent("é".repeat(256));
    expect((await send("PUT", `/v1/logs/${name}`)).status).toBe(201);
    const problem = await problemIn(await send("PUT", `/v1/logs/${name}x`));
    expect(problem).toMatchObject({ status: 400, code: "invalid_request" });
    expect(problem.detail).toMatch(/513 bytes, and 1 to 512/);
  });
});

describe("names that are refused", () => {
  test.each(["a/..", "../a", "a/../b", "a/./b", "..", ".", "a\u0000b", "a\nb", "\u007f", "\u0085"])(
    "%j",
    async (name) => {
      const { logs, send } = apiUnderTest();
      const path = `/v1/logs/${encodeURIComponent(name)}`;
      const problem = await problemIn(await send("PUT", path, {}, path));
      expect(problem).toMatchObject({ status: 400, code: "invalid_request", side_effects: "none" });
      expect(problem.detail).toMatch(/is no log name|a '\.' or '\.\.' segment/);
      expect(logs.logs.size).toBe(0);
    },
  );

  test.each([
    ["/v1/logs/a/..", "/v1/logs"],
    ["/v1/logs/orders/..", "/v1/logs"],
    ["/v1/logs/a/../orders/records", "/v1/logs/orders/records"],
    ["/v1/logs/a/%2e%2E/orders", "/v1/logs/orders"],
    ["/v1/./logs", "/v1/logs"],
    ["/v1/logs/a\\..", "/v1/logs"],
    ["/v1/logs/%ff", "/v1/logs/%ff"],
    ["/v1/logs/%zz", "/v1/logs/%zz"],
  ])("the raw path %s, although a parser makes %s of it", async (rawPath, folded) => {
    const { send } = apiUnderTest();
    await send("PUT", "/v1/logs/orders");
    const problem = await problemIn(await send("GET", folded, {}, `${rawPath}?x=1`));
    expect(problem).toMatchObject({ status: 400, code: "invalid_request" });
    expect(problem.detail).toMatch(/'\.' or '\.\.' segment|not percent-encoded UTF-8/);
    expect(problem.detail).toContain("%2F");
  });
});

test("the pattern of the document takes the names that are taken, and no others", () => {
  const pattern = new RegExp(LOG_NAME_PATTERN, "u");
  const piece = fc.constantFrom(
    ".",
    "..",
    "/",
    "a",
    " ",
    "\u0000",
    "\u001f",
    "\u007f",
    "\u009f",
    "\u00a0",
    "\u2028",
    "\u{1f600}",
  );
  const name = fc.oneof(
    fc.string({ unit: "grapheme" }),
    fc.array(piece).map((pieces) => pieces.join("")),
  );
  fc.assert(
    fc.property(name, (given) => pattern.test(given) === (nameFault(given) === undefined)),
    { numRuns: 2_000 },
  );
});
