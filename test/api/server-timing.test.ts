/** What reads report of their cost, to callers who ask. */
import { expect, test } from "vitest";
import { apiUnderTest } from "./api-under-test.ts";

const RECORDS = "/v1/logs/orders/records";
const asking = { headers: { prefer: "wait=5, Server-Timing" } };

async function withRecords() {
  const surface = apiUnderTest();
  await surface.send("PUT", "/v1/logs/orders");
  await surface.sendJson("POST", RECORDS, { records: [{ body: "a" }, { body: "b" }, { body: "c" }] });
  return surface;
}

test("who prefers server-timing is told what the read cost, and that this was done", async () => {
  const { send } = await withRecords();
  const answer = await send("GET", RECORDS, asking);
  expect(answer.status).toBe(200);
  expect(answer.headers.get("preference-applied")).toBe("server-timing");
  expect(answer.headers.get("server-timing")).toBe(
    'read;dur=41.3, attempts;desc="5", hedges;desc="1", cross-region-hedges;desc="1", failovers;desc="1", ' +
      'winner;desc="same-region=2 region eu-west-1=1"',
  );
});

test("a tail tells it as well", async () => {
  const { send } = await withRecords();
  const answer = await send("GET", `${RECORDS}/tail`, asking);
  expect(answer.headers.get("server-timing")).toContain('winner;desc="region eu-west-1=1"');
});

test("who does not ask is told nothing, nor is who prefers something else", async () => {
  const { send } = await withRecords();
  for (const init of [{}, { headers: { prefer: "no-forward" } }]) {
    const answer = await send("GET", RECORDS, init);
    expect(answer.status).toBe(200);
    expect(answer.headers.get("server-timing")).toBeNull();
    expect(answer.headers.get("preference-applied")).toBeNull();
  }
});

test("the document says how to ask", async () => {
  const { send } = await withRecords();
  const document = await (await send("GET", "/v1/openapi.json")).text();
  const { paths } = JSON.parse(document) as {
    paths: Record<string, { get: { parameters: { name: string; in: string; description?: string }[] } }>;
  };
  for (const path of ["/v1/logs/{log}/records", "/v1/logs/{log}/records/tail"]) {
    const prefer = paths[path]?.get.parameters.find(({ name }) => name === "prefer");
    expect(prefer, path).toMatchObject({ in: "header" });
    expect(prefer?.description).toContain("server-timing");
  }
});
