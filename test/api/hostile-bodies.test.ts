/** Bodies that are made to cost much: deep, many, or wrong throughout. Refused for what it costs to parse them. */
import { describe, expect, test } from "vitest";
import { apiUnderTest, problemIn } from "./api-under-test.ts";

const ANSWER_BYTES_MAX = 8_000;
const RECORDS = "/v1/logs/orders/records";

async function refusal(body: string, path = RECORDS, method = "POST") {
  const { logs, faults, send, sendJson } = apiUnderTest();
  await send("PUT", "/v1/logs/orders");
  const began = process.cpuUsage();
  const answer = await sendJson(method, path, body);
  const { user, system } = process.cpuUsage(began);
  const bytes = (await answer.clone().arrayBuffer()).byteLength;
  const problem = await problemIn(answer);
  expect(problem).toMatchObject({ retryable: false, side_effects: "none" });
  expect(bytes).toBeLessThanOrEqual(ANSWER_BYTES_MAX);
  expect(logs.appended).toEqual([]);
  expect(faults).toEqual([]);
  return { problem, cpuMs: (user + system) / 1_000 };
}

const MIB = 1024 * 1024;
const many = (count: number, element: string) => Array(count).fill(element).join(",");
const keys = (count: number) => Array.from({ length: count }, (_, index) => `"k${index}":0`).join(",");
const wrongHeaders = `{"body":"","headers":[${many(64, "0")}]}`;

describe("a body is refused with a short answer:", () => {
  test.each([
    ["lists 4,200 deep", `{"records":${"[".repeat(4_200)}${"]".repeat(4_200)}}`, 400, /16 levels deep/],
    ["objects 4,200 deep", `${'{"a":'.repeat(4_200)}0${"}".repeat(4_200)}`, 400, /16 levels deep/],
    ["4,200 brackets that are never closed", "[".repeat(4_200), 400, /16 levels deep/],
    ["124,000 records that are none", `{"records":[${many(124_000, "0")}]}`, 413, /got 124000; split/],
    ["1,000 records that are none", `{"records":[${many(1_000, "0")}]}`, 400, /records\/9 .*1 more at least/],
    [
      "64,000 headers that are none",
      `{"records":[${many(1_000, wrongHeaders)}]}`,
      400,
      /records\/0\/headers\/9 must be a list, got 0; and 1 more at least/,
    ],
    [
      "100,000 headers of one record",
      `{"records":[{"body":"","headers":[${many(100_000, "0")}]}]}`,
      400,
      /records\/0\/headers must have at most 64 elements, got 100000/,
    ],
    ["65 names that are not known", `{${keys(65)}}`, 400, /\/body must be an object of at most 64 members/],
    ["500,000 of them", `{${keys(500_000)}}`, 400, /at most 64 members/],
    ["60 of them", `{"records":[],${keys(60)}}`, 400, /does not take "k0", .*"k4" and 55 more/],
    ["a long name", `{"records":[],"${"n".repeat(MIB)}":0}`, 400, /does not take "n{80}\.\.\."/],
    ["a long name twice", `{"${"n".repeat(MIB)}":0,"${"n".repeat(MIB)}":0}`, 400, /has "n{80}\.\.\." twice/],
    ["a long value", `{"records":[],"match_seq_num":"${"\\u0000".repeat(MIB)}"}`, 400, /match_seq_num must/],
    ["a deep value", `{"records":[],"match_seq_num":{"a":{"b":{"c":[[[]]]}}}}`, 400, /got \{"a":\.\.\.\}/],
    ["many values in one", `{"records":[],"match_seq_num":[${many(100_000, "0")}]}`, 400, /a list of 100000/],
    ["a name of the language's own", '{"records":[],"__proto__":{"a":1}}', 400, /does not take "__proto__"/],
  ])("%s", async (_, body, status, detail) => {
    const { problem } = await refusal(body);
    expect(problem.status).toBe(status);
    expect(problem.detail).toMatch(detail);
  });

  test("whatever a small body is for", async () => {
    const deep = "[".repeat(900);
    for (const [method, path] of [
      ["POST", "/v1/logs/orders/trim"],
      ["PUT", "/v1/logs/orders"],
      ["PATCH", "/v1/regions/us-east-1"],
    ] as const) {
      expect((await refusal(deep, path, method)).problem).toMatchObject({ status: 400 });
    }
  });

  test("eight million bytes of wrong elements cost no more than to read them", async () => {
    const wrong = {
      numbers: `{"records":[${many(4_000_000, "0")}]}`,
      lists: `{"records":[${many(2_600_000, "[]")}]}`,
      records: `{"records":[${many(1_000, `{"body":${many(1, `"${"x".repeat(8_000)}"`)},"b":0}`)}]}`,
      names: `{${keys(700_000)}}`,
    };
    for (const [what, body] of Object.entries(wrong)) {
      const before = process.memoryUsage().rss;
      const { problem, cpuMs } = await refusal(body.slice(0, 8 * MIB));
      const grownMiB = (process.memoryUsage().rss - before) / MIB;
      process.stdout.write(
        `8 MB of ${what}: ${problem.status}, ${cpuMs.toFixed(0)} ms of CPU, ${grownMiB.toFixed(0)} MiB more\n`,
      );
      expect(cpuMs).toBeLessThan(1_000);
      expect(grownMiB).toBeLessThan(200);
    }
  });
});

describe("a name that an object has twice is refused, and none of the two is chosen:", () => {
  const record = '{"body":"x"}';
  test.each([
    ["records", `{"records":[${record}],"records":[${record}]}`, "/body", /has "records" twice/],
    [
      "a condition",
      `{"records":[${record}],"match_seq_num":5,"match_seq_num":0}`,
      "/body",
      /has "match_seq_num" twice/,
    ],
    ["in a record", `{"records":[${record},{"body":"x","body":"y"}]}`, "/body/records/1", /has "body" twice/],
    [
      "in a producer",
      `{"records":[${record}],"producer":{"id":"a","epoch":0,"seq":0,"seq":1}}`,
      "/body/producer",
      /has "seq" twice/,
    ],
    ["once with an escape", `{"records":[${record}],"\\u0072ecords":[]}`, "/body", /has "records" twice/],
  ])("%s", async (_, body, pointer, detail) => {
    const { problem } = await refusal(body);
    expect(problem).toMatchObject({ status: 400, code: "invalid_request", errors: [{ pointer }] });
    expect(problem.detail).toMatch(detail);
  });

  test("but not one that two objects have, or a value that looks like a name", async () => {
    const { logs, send, sendJson } = apiUnderTest();
    await send("PUT", "/v1/logs/orders");
    const texts = [
      '{"body":1,"body":2}',
      '\\":{',
      "[[[[[[[[[[[[[[[[[[[[[",
      ",:".repeat(1_000),
      "\\\\",
      '\\\\"',
    ];
    const records = [...texts, "\ud83d\ude00"].map((body) => ({ body, headers: [["body", "body"]] }));
    expect((await sendJson("POST", RECORDS, { records })).status).toBe(200);
    const stored = logs.appended[0]?.records.map(({ body }) => new TextDecoder().decode(body));
    expect(stored).toEqual([...texts, "\ud83d\ude00"]);
  });
});

test("a full batch of records with all the headers that they may have is within the bounds", async () => {
  const { send, sendJson } = apiUnderTest();
  await send("PUT", "/v1/logs/orders");
  const headers = Array(64).fill(["a", "b"]);
  const records = Array(1_000).fill({ body: "x", headers, timestamp: 1 });
  const producer = { id: "p", epoch: 0, seq: 0 };
  const answer = await sendJson("POST", RECORDS, { records, producer, match_seq_num: 0 });
  expect(await answer.json()).toMatchObject({ end: 1_000 });
});

describe("base 64 that is not the one of its bytes", () => {
  test.each(["QR==", "QQF=", "QQ=Q", "QQ", "Q===", "====", "Q Q="])("%s", async (body) => {
    const { logs, send, sendJson } = apiUnderTest();
    await send("PUT", "/v1/logs/orders");
    const base64 = { "log-format": "base64" };
    const answer = await sendJson("POST", RECORDS, { records: [{ body }] }, base64);
    expect((await problemIn(answer)).detail).toMatch(/records\/0\/body .*not base 64/);
    expect(logs.appended).toEqual([]);
  });

  test.each(["", "QQ==", "QUE=", "QUFB", "AAAA", "/+8="])("%s is", async (body) => {
    const { logs, send, sendJson } = apiUnderTest();
    await send("PUT", "/v1/logs/orders");
    const base64 = { "log-format": "base64" };
    expect((await sendJson("POST", RECORDS, { records: [{ body }] }, base64)).status).toBe(200);
    expect(Buffer.from(logs.appended[0]?.records[0]?.body ?? []).toString("base64")).toBe(body);
  });
});

describe("a body that is coded is refused, and its bytes are not stored:", () => {
  test.each([
    ["POST", RECORDS, "application/octet-stream", "gzip"],
    ["POST", RECORDS, "application/json", "br"],
    ["POST", RECORDS, "text/plain", "identity, gzip"],
    ["PUT", "/v1/logs/new", "application/json", "deflate"],
    ["POST", "/v1/logs/orders/trim", "application/json", "x-strange"],
  ])("%s %s as %s in %s", async (method, path, type, coding) => {
    const { logs, undeclared, send } = apiUnderTest();
    await send("PUT", "/v1/logs/orders");
    const headers = { "content-type": type, "content-encoding": coding };
    const answer = await send(method, path, { body: "\x1f\x8b", headers });
    const problem = await problemIn(answer);
    expect(problem).toMatchObject({ status: 415, code: "unsupported_media_type", coding });
    expect(problem.detail).toContain(`Content-Encoding "${coding}" is not taken`);
    expect(answer.headers.get("accept-encoding")).toBe("identity");
    expect(logs.appended).toEqual([]);
    expect(undeclared).toEqual([]);
  });

  test("but identity is no coding", async () => {
    const { send } = apiUnderTest();
    await send("PUT", "/v1/logs/orders");
    const headers = { "content-type": "application/octet-stream", "content-encoding": "Identity" };
    expect((await send("POST", RECORDS, { body: "x", headers })).status).toBe(200);
  });
});

describe("a query that is not percent-encoded UTF-8 is refused:", () => {
  test.each([
    "/v1/logs?prefix=%ff",
    "/v1/logs?prefix=%",
    "/v1/logs?prefix=%zz",
    "/v1/logs?%c3=x",
    "/v1/logs/orders/records?seq_num=%C3%28",
    "/v1/logs?prefix=%ed%a0%80",
  ])("%s", async (path) => {
    const problem = await problemIn(await apiUnderTest().send("GET", path));
    expect(problem).toMatchObject({ status: 400, code: "invalid_request", errors: [{ pointer: "/query" }] });
  });

  test.each([
    "/v1/logs?prefix=\u00fc",
    "/v1/logs/\u00fc",
    "/v1/logs/a#b",
    "/v1/logs?prefix=a#b",
    "/v1/logs/a b",
  ])("the target %s, of which a parser would make another one", async (rawPath) => {
    const answer = await apiUnderTest().send("GET", "/v1/logs", {}, rawPath);
    expect(await problemIn(answer)).toMatchObject({ status: 400, code: "invalid_request" });
  });

  test("and one that is, is read as such", async () => {
    const { send } = apiUnderTest();
    await send("PUT", "/v1/logs/%E6%97%A5+%2B");
    expect(await (await send("GET", "/v1/logs?prefix=%E6%97%A5%2B+")).json()).toMatchObject({ logs: [] });
    expect(await (await send("GET", "/v1/logs?prefix=%E6%97%A5%2B")).json()).toMatchObject({
      logs: ["\u65e5++"],
    });
  });
});

describe("no refusal is long, whatever is repeated in it:", () => {
  const long = "%22".repeat(5_000);
  test.each([
    ["GET", `/v1/logs/${long}`, {}],
    ["GET", `/v1/${long}`, {}],
    ["GET", `/v1/logs?start_after=${long}`, {}],
    ["GET", `/v1/logs?${long}=1`, {}],
    ["GET", `/v1/logs/orders/records?dlsn=${long}`, {}],
    ["GET", `/v1/logs/orders/records?consistency=${long}`, {}],
    ["POST", RECORDS, { "content-type": "x".repeat(15_000) }],
    ["POST", RECORDS, { "content-encoding": '"'.repeat(15_000), "content-type": "application/json" }],
    ["POST", RECORDS, { "idempotency-key": '"'.repeat(15_000), "content-type": "text/plain" }],
    ["POST", RECORDS, { "log-format": '"'.repeat(15_000) }],
    ["POST", RECORDS, { origin: '"'.repeat(15_000) }],
    ["PATCH", `/v1/regions/${long}`, { "content-type": "application/json" }],
  ])("%s %.40s", async (method, path, headers) => {
    const body = method === "GET" ? {} : { body: '{"state":"lost"}' };
    const answer = await apiUnderTest().send(method, path, { headers, ...body });
    expect(answer.status).toBeGreaterThanOrEqual(400);
    expect(answer.status).toBeLessThan(500);
    expect((await answer.arrayBuffer()).byteLength).toBeLessThanOrEqual(ANSWER_BYTES_MAX);
  });
});
