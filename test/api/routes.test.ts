/** The routes that go well, on fakes: what goes in, what comes out, which headers travel. */
import { describe, expect, test } from "vitest";
import { apiUnderTest } from "./api-under-test.ts";
import { fakeLedgerId, secretKey } from "./fake-log.ts";

interface OpenApi {
  readonly paths: Record<string, object>;
  readonly components: {
    readonly schemas: Record<string, { properties: Record<string, unknown>; required: string[] }>;
  };
}

async function withLog() {
  const surface = apiUnderTest();
  await surface.send("PUT", "/v1/logs/orders");
  return surface;
}

describe("logs", () => {
  test("are created once; the same again is 200, another configuration 409", async () => {
    const { send, sendJson } = apiUnderTest();
    const created = await send("PUT", "/v1/logs/orders");
    expect(created.status).toBe(201);
    expect(await created.json()).toMatchObject({
      log: "orders",
      state: "active",
      config: { replication: { ensemble_size: 4, write_quorum: 4, ack_quorum: 3, min_regions: 2 } },
      first_seq_num: 0,
    });
    expect((await send("PUT", "/v1/logs/orders")).status).toBe(200);
    expect((await sendJson("PUT", "/v1/logs/orders", { preset: "standard" })).status).toBe(200);
    expect((await sendJson("PUT", "/v1/logs/orders", { preset: "economy" })).status).toBe(409);
  });

  test("take a replication, a digest and a segment size", async () => {
    const { logs, sendJson } = apiUnderTest();
    const replication = { ensemble_size: 3, write_quorum: 3, ack_quorum: 2, min_regions: 2 };
    const body = { replication, digest: "hmac-sha256", segment_bytes_max: 4_096 };
    expect((await sendJson("PUT", "/v1/logs/orders", body)).status).toBe(201);
    expect([...logs.logs.values()][0]?.description.config).toEqual({
      replication: { ensembleSize: 3, writeQuorum: 3, ackQuorum: 2, minRegions: 2 },
      digest: "hmac-sha256",
      segmentBytesMax: 4_096,
    });
  });

  test("are listed by prefix in pages", async () => {
    const { send } = apiUnderTest();
    for (const name of ["a", "b%2F1", "b%2F2", "b%2F3"]) await send("PUT", `/v1/logs/${name}`);
    const first = await send("GET", "/v1/logs?prefix=b/&limit=2");
    expect(await first.json()).toEqual({ logs: ["b/1", "b/2"], has_more: true });
    const rest = await send("GET", "/v1/logs?prefix=b/&limit=2&start_after=b%2F2");
    expect(await rest.json()).toEqual({ logs: ["b/3"], has_more: false });
  });

  test("tell their segments, and settle", async () => {
    const { send } = await withLog();
    const segments = await send("GET", "/v1/logs/orders/segments");
    const open = { number: 1, first_seq_num: 0, ledger_id: fakeLedgerId, owner: "us-east-1", created_at: 1 };
    const completion = { end: 3, last_entry: 0, last_timestamp: 7, bytes: 11 };
    expect(await segments.json()).toEqual({ segments: [{ ...open, ...completion }, open] });
    const settled = await send("POST", "/v1/logs/orders/settle");
    expect(await settled.json()).toEqual({ log: "orders", settled: true });
  });
});

describe("the end of a log", () => {
  test("trim moves the first record, forward only", async () => {
    const { send, sendJson } = await withLog();
    const trimmed = await sendJson("POST", "/v1/logs/orders/trim", { seq_num: 5 });
    expect([trimmed.status, await trimmed.json()]).toEqual([200, { log: "orders", first_seq_num: 5 }]);
    const less = await sendJson("POST", "/v1/logs/orders/trim", { seq_num: 2 });
    expect(await less.json()).toEqual({ log: "orders", first_seq_num: 5 });
    expect(await (await send("GET", "/v1/logs/orders")).json()).toMatchObject({ first_seq_num: 5 });
  });

  test("seal tells where the log ends, and so does its tail", async () => {
    const { send } = await withLog();
    const sealed = await send("POST", "/v1/logs/orders/seal");
    expect([sealed.status, await sealed.json()]).toEqual([200, { log: "orders", sealed: true, tail: 0 }]);
    const tail = await send("GET", "/v1/logs/orders/records/tail");
    expect(await tail.json()).toMatchObject({ tail: 0, sealed: true });
  });

  test.each([
    ["deleted", 200],
    ["deleting", 202],
  ] as const)("delete that says %s is %d", async (state, status) => {
    const { logs, send } = await withLog();
    logs.deletionAnswer = state;
    const deleted = await send("DELETE", "/v1/logs/orders");
    expect([deleted.status, await deleted.json()]).toEqual([status, { log: "orders", state }]);
    expect((await send("GET", "/v1/logs/orders")).status).toBe(404);
    expect((await send("DELETE", "/v1/logs/orders")).status).toBe(404);
  });

  test.each([{}, { seq_num: -1 }, { seq_num: 1.5 }, { seq_num: "5" }, { seq_num: 1, all: true }, "[]", ""])(
    "trim to %j is refused and trims nothing",
    async (body) => {
      const { send, sendJson } = await withLog();
      expect((await sendJson("POST", "/v1/logs/orders/trim", body)).status).toBe(400);
      expect(await (await send("GET", "/v1/logs/orders")).json()).toMatchObject({ first_seq_num: 0 });
    },
  );
});

describe("records", () => {
  test("go in as JSON text and come out as they were, headers and timestamps too", async () => {
    const { send, sendJson } = await withLog();
    const given = [
      { body: "grüß\u0000 dich\n", headers: [["k", ""]], timestamp: 1_000 },
      { body: "\ufeffBOM" },
    ];
    const ack = await sendJson("POST", "/v1/logs/orders/records", { records: given, match_seq_num: 0 });
    const dlsn = (slot: number) => `0000000000000001-0000000000000000-0000${slot}`;
    expect(await ack.json()).toEqual({
      log: "orders",
      start: { seq_num: 0, dlsn: dlsn(0), timestamp: 1_000 },
      last: { seq_num: 1, dlsn: dlsn(1), timestamp: 7 },
      end: 2,
      tail: 2,
      durable_in: ["us-east-1", "us-west-2"],
      duplicate: false,
      epoch: 3,
    });
    expect(ack.headers.get("log-owner")).toBe("us-east-1;epoch=3");
    const read = await send("GET", "/v1/logs/orders/records");
    expect(read.headers.get("log-format")).toBe("utf8");
    expect(await read.json()).toEqual({
      records: [
        { seq_num: 0, dlsn: dlsn(0), timestamp: 1_000, headers: [["k", ""]], body: given[0]?.body },
        { seq_num: 1, dlsn: dlsn(1), timestamp: 7, headers: [], body: "\ufeffBOM" },
      ],
      next: 2,
      tail: 2,
      up_to_date: true,
      sealed: false,
    });
  });

  test("of any bytes go in and out as base 64", async () => {
    const { logs, send, sendJson } = await withLog();
    const bytes = Uint8Array.from({ length: 100_000 }, (_, index) => (index * 7) % 256);
    const body = Buffer.from(bytes).toString("base64");
    const base64 = { "log-format": "base64" };
    await sendJson("POST", "/v1/logs/orders/records", { records: [{ body }] }, base64);
    expect(Buffer.compare(logs.appended[0]?.records[0]?.body ?? Buffer.of(), bytes)).toBe(0);
    const read = await send("GET", "/v1/logs/orders/records", { headers: base64 });
    expect(await read.json()).toMatchObject({ records: [{ body }] });
  });

  test("of one octet stream are one record, conditional by the query", async () => {
    const { logs, send } = await withLog();
    const octets = (match: number) =>
      send("POST", `/v1/logs/orders/records?match_seq_num=${match}`, {
        body: Uint8Array.of(0, 255, 10),
        headers: { "content-type": "application/octet-stream" },
      });
    expect((await octets(0)).status).toBe(200);
    expect((await octets(0)).status).toBe(412);
    expect(logs.appended.map((request) => request.records)).toEqual([
      [{ body: Uint8Array.of(0, 255, 10), headers: [] }],
    ]);
  });

  test("1,000 in one batch of exactly 1 MiB", async () => {
    const { sendJson } = await withLog();
    const body = "\u0001".repeat((1024 * 1024 - 8_000) / 1_000);
    const rest = "x".repeat(1024 * 1024 - 8_000 - 999 * body.length);
    const records = [...Array.from({ length: 999 }, () => ({ body })), { body: rest }];
    const ack = await sendJson("POST", "/v1/logs/orders/records", { records });
    expect(await ack.json()).toMatchObject({ end: 1_000 });
  });

  test("are read from a position, so many at most; the tail names the owner", async () => {
    const { send, sendJson } = await withLog();
    await sendJson("POST", "/v1/logs/orders/records", { records: ["a", "b", "c"].map((body) => ({ body })) });
    const read = await send("GET", "/v1/logs/orders/records?seq_num=1&count=1&bytes=10&consistency=local");
    expect(await read.json()).toMatchObject({ records: [{ seq_num: 1, body: "b" }], next: 2, tail: 3 });
    const tail = await send("GET", "/v1/logs/orders/records/tail");
    expect(await tail.json()).toEqual({ tail: 3, up_to_date: true, sealed: false, owner: "us-east-1" });
    expect(tail.headers.get("log-owner")).toBe("us-east-1");
  });
});

describe("ledgers", () => {
  test("are shown without their key, and recovered", async () => {
    const { send } = apiUnderTest();
    const shown = await (await send("GET", `/v1/ledgers/${fakeLedgerId}`)).text();
    expect(JSON.parse(shown)).toMatchObject({
      state: "OPEN",
      digest: "hmac-sha256",
      fragments: [
        { first_entry: 0, ensemble: [{ bookie: "us-east-1.b1~s1", region: "us-east-1", rack: "a" }] },
      ],
    });
    expect(shown).not.toContain(secretKey);
    const recovered = await send("POST", `/v1/ledgers/${fakeLedgerId}/recover`);
    expect(await recovered.json()).toMatchObject({ state: "CLOSED", last_entry: 5, length: 9 });
  });
});

describe("every answer", () => {
  test("names its request and its region", async () => {
    const { send } = apiUnderTest();
    const ids = new Set<string | null>();
    for (const path of ["/v1/health", "/v1/nothing", "/v1/logs/x", "/v1/openapi.json"]) {
      const answer = await send("GET", path);
      expect(answer.headers.get("log-region")).toBe("us-east-1");
      ids.add(answer.headers.get("request-id"));
    }
    expect(ids.size).toBe(4);
    expect((await send("HEAD", "/v1/health")).status).toBe(200);
  });

  test("health says how many regions may be lost", async () => {
    const health = await (await apiUnderTest().send("GET", "/v1/health")).json();
    expect(health).toMatchObject({ region: "us-east-1", status: "ok", survivable_region_losses: 1 });
  });

  test("health is 503 with the same document while the region does not serve", async () => {
    const of = async (status: "ok" | "degraded" | "unavailable") => {
      const { send } = apiUnderTest({ status });
      const [answer, head] = [await send("GET", "/v1/health"), await send("HEAD", "/v1/health")];
      expect(head.status).toBe(answer.status);
      expect(answer.headers.get("content-type")).toBe("application/json");
      expect(await answer.json()).toMatchObject({ status, metadata_replicas: [{ name: "us-east-1" }] });
      return answer.status;
    };
    expect(await of("ok")).toBe(200);
    expect(await of("degraded")).toBe(200);
    expect(await of("unavailable")).toBe(503);
  });

  test("a query parameter that is none is refused with those that there are", async () => {
    const answer = await apiUnderTest().send("GET", "/v1/logs/x/records?limit=1");
    expect(answer.status).toBe(400);
    expect(((await answer.json()) as { detail: string }).detail).toContain(
      '/query does not take "limit"; there are seq_num, dlsn, timestamp, tail_offset, count, bytes, consistency',
    );
  });

  test("the OpenAPI document has every route, made from the schemas that check", async () => {
    const document = (await (await apiUnderTest().send("GET", "/v1/openapi.json")).json()) as OpenApi;
    const routes = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    );
    expect(routes.sort()).toEqual([
      "DELETE /v1/logs/{log}",
      "GET /v1/health",
      "GET /v1/ledgers/{id}",
      "GET /v1/logs",
      "GET /v1/logs/{log}",
      "GET /v1/logs/{log}/owner",
      "GET /v1/logs/{log}/records",
      "GET /v1/logs/{log}/records/tail",
      "GET /v1/logs/{log}/segments",
      "GET /v1/regions",
      "PATCH /v1/logs/{log}",
      "PATCH /v1/regions/{region}",
      "PATCH /v1/regions/{region}/bookies/{bookie}",
      "POST /v1/ledgers/{id}/recover",
      "POST /v1/logs/{log}/owner/transfer",
      "POST /v1/logs/{log}/records",
      "POST /v1/logs/{log}/seal",
      "POST /v1/logs/{log}/settle",
      "POST /v1/logs/{log}/trim",
      "PUT /v1/logs/{log}",
    ]);
    const { schemas } = document.components;
    expect(schemas.Append).toMatchObject({ additionalProperties: false, required: ["records"] });
    expect(schemas.Append?.properties.match_seq_num).toMatchObject({ type: "integer", maximum: 2 ** 53 - 1 });
    expect(schemas.RegionState).toMatchObject({ additionalProperties: false, required: ["state"] });
    expect(schemas.CreatedLog?.required).toContain("warnings");
    expect(schemas.Problem?.required).toEqual(expect.arrayContaining(["code", "retryable", "side_effects"]));
  });
});
