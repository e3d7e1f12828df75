/** When schemas are made, and what the OpenAPI document says of them. */
import { beforeEach, expect, test, vi } from "vitest";
import * as z from "zod/mini";

interface OpenApi {
  readonly paths: Record<string, Record<string, Operation>>;
  readonly components: { readonly schemas: Record<string, Record<string, unknown>> };
}

interface Operation {
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly required: boolean; readonly content: Record<string, unknown> };
}

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required: boolean;
  readonly description?: string;
  readonly schema: Record<string, unknown>;
}

/** As in a process that has only just started. */
async function startedApi() {
  const { apiUnderTest } = await import("./api-under-test.ts");
  const { schemaNotes } = await import("../../lib/api/schema.ts");
  return { ...apiUnderTest(), made: () => [...schemaNotes._idmap.keys()].sort() };
}

beforeEach(() => {
  vi.resetModules();
});

test("a process that starts makes no schema, and a request those alone that it is checked by", async () => {
  const { sendJson, send, made } = await startedApi();
  expect(made()).toEqual([]);
  await sendJson("POST", "/v1/logs/orders/trim", { seq_num: -1 });
  expect(made()).toEqual(["Trim"]);
  await sendJson("POST", "/v1/logs/orders/records", { records: [{ body: 1 }] });
  expect(made()).toEqual(["Append", "Producer", "RecordInput", "Trim"]);
  await send("GET", "/v1/logs");
  expect(made()).toEqual(["Append", "Producer", "RecordInput", "Trim"]);
});

test("the document is the same whatever was asked before", async () => {
  const first = await startedApi();
  const document = await (await first.send("GET", "/v1/openapi.json")).text();
  vi.resetModules();
  const second = await startedApi();
  await second.sendJson("POST", "/v1/logs/orders/trim", { seq_num: 1 });
  await second.sendJson("POST", "/v1/logs/orders/records", { records: [] });
  const later = await (await second.send("GET", "/v1/openapi.json")).json();
  expect(later).toEqual(JSON.parse(document));
});

test("each reference of the document is to a component, and each component is referred to", async () => {
  const { send } = await startedApi();
  const text = await (await send("GET", "/v1/openapi.json")).text();
  const { components } = JSON.parse(text) as OpenApi;
  const referred = [...text.matchAll(/"\$ref":"([^"]*)"/g)].map(([, address]) => address);
  const known = Object.keys(components.schemas).map((id) => `#/components/schemas/${id}`);
  expect([...new Set(referred)].sort()).toEqual(known.sort());
  expect(text).not.toContain("$defs");
});

test("the document says of a query what its checks and defaults are", async () => {
  const { send } = await startedApi();
  const document = (await (await send("GET", "/v1/openapi.json")).json()) as OpenApi;
  const { parameters = [] } = document.paths["/v1/logs/{log}/records"]?.get ?? {};
  const told = new Map(parameters.map((one) => [one.name, one]));
  expect(told.get("log")).toMatchObject({ in: "path", required: true, schema: { type: "string" } });
  expect(told.get("count")).toEqual({
    name: "count",
    in: "query",
    required: false,
    description: "Records, at most; 1000 if absent.",
    schema: { type: "integer", minimum: 1, maximum: 1000, default: 1000 },
  });
  expect(told.get("bytes")?.schema).toMatchObject({ maximum: 1_048_576, default: 1_048_576 });
  expect(told.get("log")?.schema).toMatchObject({
    minLength: 1,
    maxLength: 512,
    pattern: expect.any(String),
  });
  expect(told.get("consistency")?.schema).toEqual({
    type: "string",
    enum: ["strong", "local"],
    default: "strong",
  });
  expect(told.get("log-format")).toMatchObject({ in: "header", schema: { enum: ["utf8", "base64"] } });
});

test("the document says which bodies there are, and which of them may be left out", async () => {
  const { send } = await startedApi();
  const { paths } = (await (await send("GET", "/v1/openapi.json")).json()) as OpenApi;
  const bodyOf = (method: string, path: string) => paths[path]?.[method]?.requestBody;
  const named = (id: string) => ({ schema: { $ref: `#/components/schemas/${id}` } });
  const lines = { schema: { type: "string", minLength: 1 } };
  expect(bodyOf("post", "/v1/logs/{log}/records")).toEqual({
    description: expect.stringMatching(
      /At most 1000 records\. At most 8388608 bytes \(413\); no Content-Enc/,
    ),
    required: true,
    content: {
      "application/json": named("Append"),
      "application/x-ndjson": lines,
      "application/jsonl": lines,
      "text/plain": lines,
      "application/octet-stream": { schema: { type: "string", format: "binary" } },
    },
  });
  expect(bodyOf("put", "/v1/logs/{log}")).toEqual({
    description: expect.stringMatching(/^At most 65536 bytes/),
    required: false,
    content: { "application/json": named("CreateLog") },
  });
  for (const [method, path, id] of [
    ["post", "/v1/logs/{log}/trim", "Trim"],
    ["post", "/v1/logs/{log}/owner/transfer", "TransferOwner"],
    ["patch", "/v1/logs/{log}", "ConfigureLog"],
    ["patch", "/v1/regions/{region}", "RegionState"],
    ["patch", "/v1/regions/{region}/bookies/{bookie}", "BookieState"],
  ] as const) {
    expect(bodyOf(method, path)).toEqual({
      description: expect.stringMatching(/^At most 1024 bytes/),
      required: true,
      content: { "application/json": named(id) },
    });
  }
  expect(bodyOf("get", "/v1/logs/{log}")).toBeUndefined();
});

test("what is noted of a shared schema stays with the place where it is noted", async () => {
  const { send } = await startedApi();
  const { components } = (await (await send("GET", "/v1/openapi.json")).json()) as OpenApi;
  const { AppendAck, Position } = components.schemas;
  expect(Position).not.toHaveProperty("description");
  expect(AppendAck?.properties).toMatchObject({
    start: { $ref: "#/components/schemas/Position", description: "The first record of the batch." },
    last: { $ref: "#/components/schemas/Position", description: "The last record of the batch." },
    end: { type: "integer", minimum: 0, description: "The seq_num after the last record." },
  });
});

test("what could not be made is made anew at the next use", async () => {
  const { once } = await import("../../lib/api/schema.ts");
  let attempts = 0;
  const schema = once(() => {
    attempts++;
    if (attempts === 1) throw new Error("not yet");
    return z.string();
  });
  expect(schema).toThrow("not yet");
  expect(schema()).toBe(schema());
  expect(attempts).toBe(2);
});

test("R1 a query is refused before a path, and a path before headers", async () => {
  const { send } = await startedApi();
  const detail = async (path: string) => {
    const answer = await send("GET", path, { headers: { "log-format": "hex" } });
    return ((await answer.json()) as { detail: string }).detail;
  };
  expect(await detail("/v1/logs/%00/records?count=0&odd=1")).toMatch(
    /^\/query\/count .*; \/query does not take/,
  );
  expect(await detail("/v1/logs/%00/records")).toMatch(/^\/path\/log is no log name/);
  expect(await detail("/v1/logs/x/records")).toMatch(/^\/header\/log-format must be utf8 or base64/);
});

test("the document says what is refused, in schemas as far as they can say it, and else in words", async () => {
  const { send } = await startedApi();
  const { paths, components } = (await (await send("GET", "/v1/openapi.json")).json()) as OpenApi;
  const schemas = components.schemas as Record<
    string,
    { properties: Record<string, Record<string, unknown>> }
  >;
  const given = (method: string, path: string, name: string) =>
    paths[path]?.[method]?.parameters?.find((one) => one.name === name);
  const name = { minLength: 1, maxLength: 512, pattern: expect.stringContaining("u001f") };
  expect(given("get", "/v1/logs", "start_after")?.schema).toMatchObject(name);
  expect(given("get", "/v1/logs", "limit")?.schema).toMatchObject({
    minimum: 1,
    maximum: 1_000,
    default: 100,
  });
  const sender = { minLength: 1, maxLength: 64, pattern: "^[!-~]+$" };
  const records = "/v1/logs/{log}/records";
  expect(given("post", records, "idempotency-key")?.schema).toMatchObject(sender);
  expect(given("post", records, "log-format")?.schema).toMatchObject({ default: "utf8" });
  expect(given("post", records, "match_seq_num")?.description).toMatch(/With JSON it is refused \(400\)/);
  expect(given("get", records, "dlsn")?.schema).toHaveProperty("pattern");
  for (const start of ["seq_num", "dlsn", "timestamp", "tail_offset"]) {
    expect(given("get", records, start)?.description).toMatch(/Not together with another of/);
  }
  expect(given("patch", "/v1/regions/{region}", "region")?.schema).toMatchObject({
    minLength: 1,
    maxLength: 64,
  });
  expect(schemas.Producer?.properties.id).toMatchObject(sender);
  expect(schemas.Append?.properties.producer?.description).toMatch(/Not together with an Idempotency-Key/);
  expect(schemas.Append?.properties.records).toMatchObject({ minItems: 1, maxItems: 1_000 });
  const { timestamp, headers } = schemas.RecordInput?.properties ?? {};
  expect(timestamp?.description).toMatch(/at most 60000 ms ahead of the server's clock \(400\)/);
  expect(headers).toMatchObject({ maxItems: 64, items: { minItems: 2, maxItems: 2 } });
  expect(headers?.description).toMatch(/8192 bytes together/);
  expect(schemas.CreateLog).toMatchObject({ not: { required: ["preset", "replication"] } });
  expect(schemas.Replication).toMatchObject({ description: expect.stringContaining("write_quorum >= ack") });
  expect(schemas.ReadAnswer?.properties.up_to_date?.description).toMatch(/false there, even where `next`/);
});

test("each answer of the document names its request and its region, and says when to come back", async () => {
  const { send } = await startedApi();
  const { paths } = (await (await send("GET", "/v1/openapi.json")).json()) as {
    paths: Record<
      string,
      Record<string, { responses: Record<string, { headers?: Record<string, object> }> }>
    >;
  };
  const operations = Object.values(paths).flatMap((methods) => Object.values(methods));
  for (const { responses } of operations) {
    for (const [status, { headers = {} }] of Object.entries(responses)) {
      if (status === "default") continue;
      expect(headers).toMatchObject({ "Request-Id": { required: true }, "Log-Region": { required: true } });
      if (status === "429" || status === "421") expect(headers).toHaveProperty("Retry-After");
      if (status === "421") expect(headers).toHaveProperty("Log-Owner");
    }
  }
});
