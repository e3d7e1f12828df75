/** Regions and bookies over HTTP, and what a creation is warned of. */
import { describe, expect, test } from "vitest";
import { apiUnderTest, problemIn } from "./api-under-test.ts";

const b1 = { bookie: "us-east-1.b1~s1", region: "us-east-1", rack: "a", state: "writable" };
const b2 = { bookie: "us-east-1.b2~s2", region: "us-east-1", rack: "b", state: "read-only" };

describe("regions", () => {
  test("are listed with their states, bookies and places", async () => {
    const answer = await apiUnderTest().send("GET", "/v1/regions");
    expect(answer.status).toBe(200);
    expect(await answer.json()).toEqual({
      regions: [
        { region: "us-east-1", state: "accepting", bookies: [b1, b2] },
        { region: "us-west-2", state: "draining", bookies: [] },
      ],
    });
  });

  test.each(["draining", "lost", "accepting"])("become %s, twice as well as once", async (state) => {
    const { logs, sendJson } = apiUnderTest();
    for (let time = 0; time < 2; time++) {
      const answer = await sendJson("PATCH", "/v1/regions/us-east-1", { state });
      expect(answer.status).toBe(200);
      expect(await answer.json()).toEqual({ region: "us-east-1", state, bookies: [b1, b2] });
    }
    expect(logs.known.map((one) => one.state)).toEqual([state, "draining"]);
  });

  test.each(["read-only", "lost", "writable"])("have bookies that become %s", async (state) => {
    const { logs, sendJson } = apiUnderTest();
    const path = "/v1/regions/us-east-1/bookies/us-east-1.b1~s1";
    const answer = await sendJson("PATCH", path, { state });
    expect([answer.status, await answer.json()]).toEqual([200, { ...b1, state }]);
    expect(logs.known[0]?.bookies.map((one) => one.state)).toEqual([state, "read-only"]);
    const encoded = await sendJson("PATCH", path.replace("~", "%7E"), { state });
    expect(encoded.status).toBe(200);
  });

  test("that are not there, and bookies that are not, are problems of their own", async () => {
    const { sendJson } = apiUnderTest();
    const noRegion = await problemIn(await sendJson("PATCH", "/v1/regions/x", { state: "lost" }));
    expect(noRegion).toMatchObject({ status: 404, code: "region_not_found", side_effects: "none" });
    const bookies = "/v1/regions/us-east-1/bookies";
    const noBookie = await problemIn(await sendJson("PATCH", `${bookies}/y`, { state: "lost" }));
    expect(noBookie).toMatchObject({ status: 404, code: "bookie_not_found", side_effects: "none" });
  });

  test.each([
    ["/v1/regions/us-east-1", { state: "writable" }, "must be accepting, draining or lost"],
    ["/v1/regions/us-east-1", {}, "must be accepting, draining or lost"],
    ["/v1/regions/us-east-1", { state: "lost", force: true }, 'does not take "force"'],
    [
      "/v1/regions/us-east-1/bookies/us-east-1.b1~s1",
      { state: "draining" },
      "must be writable, read-only or lost",
    ],
  ])("PATCH %s with %j is refused and changes nothing", async (path, body, why) => {
    const { logs, sendJson } = apiUnderTest();
    const problem = await problemIn(await sendJson("PATCH", path, body));
    expect(problem).toMatchObject({ status: 400, code: "invalid_request", side_effects: "none" });
    expect(problem.detail).toContain(why);
    expect(logs.known[0]).toMatchObject({ state: "accepting", bookies: [{ state: "writable" }, {}] });
  });

  test("a state comes as JSON, in few bytes; other methods are named", async () => {
    const { send, sendJson } = apiUnderTest();
    const text = await send("PATCH", "/v1/regions/us-east-1", { body: "state=lost" });
    expect(await problemIn(text)).toMatchObject({ status: 415, code: "unsupported_media_type" });
    const long = await sendJson("PATCH", "/v1/regions/us-east-1", { state: "x".repeat(2_000) });
    expect(await problemIn(long)).toMatchObject({ status: 413, limit_bytes: 1024 });
    const broken = await sendJson("PATCH", "/v1/regions/us-east-1", "{");
    expect(await problemIn(broken)).toMatchObject({ status: 400, code: "bad_json" });
    const put = await send("PUT", "/v1/regions/us-east-1");
    expect([put.status, put.headers.get("allow")]).toEqual([405, "OPTIONS, PATCH"]);
  });
});

test("a creation tells its warnings, also when the log was there", async () => {
  const { logs, send } = apiUnderTest();
  expect(await (await send("PUT", "/v1/logs/orders")).json()).toMatchObject({ log: "orders", warnings: [] });
  logs.warnings = ["1 of 3 sets"];
  expect(await (await send("PUT", "/v1/logs/orders")).json()).toMatchObject({ warnings: ["1 of 3 sets"] });
  expect(await (await send("GET", "/v1/logs/orders")).json()).not.toHaveProperty("warnings");
});
