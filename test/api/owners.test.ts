/** The owner of a log, over HTTP. */
import { describe, expect, test } from "vitest";
import { FencelineError } from "../../lib/protocol/errors.ts";
import { apiUnderTest, problemIn } from "./api-under-test.ts";

async function withLog(body: object = {}) {
  const api = apiUnderTest();
  await api.sendJson("PUT", "/v1/logs/orders", body);
  return api;
}

describe("the owner of a log", () => {
  test("is nobody before the first append", async () => {
    const answer = await (await withLog()).send("GET", "/v1/logs/orders/owner");
    expect([answer.status, await answer.json()]).toEqual([200, { log: "orders", owner: null }]);
    expect(answer.headers.get("log-owner")).toBeNull();
  });

  test("is transferred, twice as well as once; the answer and its header name it", async () => {
    const { send, sendJson } = await withLog();
    for (let time = 0; time < 2; time++) {
      const answer = await sendJson("POST", "/v1/logs/orders/owner/transfer", { region: "us-west-2" });
      expect([answer.status, await answer.json()]).toEqual([
        200,
        { log: "orders", owner: "us-west-2", epoch: 4 },
      ]);
      expect(answer.headers.get("log-owner")).toBe("us-west-2;epoch=4");
    }
    const shown = await send("GET", "/v1/logs/orders/owner");
    expect(await shown.json()).toEqual({ log: "orders", owner: "us-west-2", epoch: 4 });
  });

  test("that could not be changed in time is a problem with what may have happened", async () => {
    const { logs, sendJson } = await withLog();
    logs.failure = new FencelineError("not_ready", { message: "in time", sideEffects: "possible" });
    const problem = await problemIn(
      await sendJson("POST", "/v1/logs/orders/owner/transfer", { region: "us-west-2" }),
    );
    expect(problem).toMatchObject({ status: 503, code: "not_ready", side_effects: "possible" });
  });

  test.each([
    ["POST", "/v1/logs/orders/owner/transfer", {}, "/body/region is missing"],
    ["POST", "/v1/logs/orders/owner/transfer", { region: "x", force: true }, 'does not take "force"'],
    ["PATCH", "/v1/logs/orders", {}, "/body/preferred_region is missing"],
    ["PATCH", "/v1/logs/orders", { digest: "crc32", preferred_region: null }, 'does not take "digest"'],
  ])("%s %s with %j is refused", async (method, path, body, why) => {
    const problem = await problemIn(await (await withLog()).sendJson(method, path, body));
    expect(problem).toMatchObject({ status: 400, code: "invalid_request" });
    expect(problem.detail).toContain(why);
  });
});

describe("the preferred region", () => {
  test("is said at creation, and told", async () => {
    const { send } = await withLog({ preferred_region: "us-west-2" });
    expect(await (await send("GET", "/v1/logs/orders")).json()).toMatchObject({
      preferred_region: "us-west-2",
    });
  });

  test("is changed and taken back", async () => {
    const { send, sendJson } = await withLog();
    const set = await sendJson("PATCH", "/v1/logs/orders", { preferred_region: "us-west-2" });
    expect([set.status, await set.json()]).toMatchObject([200, { preferred_region: "us-west-2" }]);
    expect(await (await send("GET", "/v1/logs/orders/owner")).json()).toMatchObject({
      preferred_region: "us-west-2",
    });
    const taken = await (await sendJson("PATCH", "/v1/logs/orders", { preferred_region: null })).json();
    expect(taken).not.toHaveProperty("preferred_region");
  });
});

test.each([
  [undefined, { route: "forward" }],
  ["no-forward", { route: "refuse" }],
  ["respond-async, wait=3", { route: "forward", timeoutMs: 3_000 }],
  ["wait=99, No-Forward", { route: "refuse", timeoutMs: 20_000 }],
  ["wait=0, wait=x", { route: "forward" }],
])("an append's preferences %s go with it", async (prefer, expected) => {
  const { logs, sendJson } = await withLog();
  const headers: Record<string, string> = prefer === undefined ? {} : { prefer };
  const answer = await sendJson("POST", "/v1/logs/orders/records", { records: [{ body: "a" }] }, headers);
  expect(answer.status).toBe(200);
  const { route, timeoutMs } = logs.appended[0] ?? {};
  expect({ route, timeoutMs }).toEqual({ timeoutMs: undefined, ...expected });
});
