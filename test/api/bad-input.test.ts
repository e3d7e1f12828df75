/** Every kind of bad input gets a problem document with the value given, the limit and the remedy. */
import { describe, expect, test } from "vitest";
import { apiUnderTest, problemIn } from "./api-under-test.ts";

const records = (count: number) => Array.from({ length: count }, (_, index) => ({ body: `r${index}` }));

async function withLog() {
  const surface = apiUnderTest();
  await surface.send("PUT", "/v1/logs/orders");
  return surface;
}

describe("an append is refused, and nothing is appended:", () => {
  const MIB = 1024 * 1024;
  const half = { body: "x".repeat(MIB / 2) };
  test.each([
    ["text that is no JSON", "{", 400, "bad_json", /body of 1 bytes is not JSON/],
    ["an empty body", "", 400, "bad_json", /body of 0 bytes.*, at position 0\. Nothing was done\. Send/],
    ["names without quotes", "{records: 1}", 400, "bad_json", /at position 1\. .* double quotes/],
    ["one bracket too many", '{"records": []]}', 400, "bad_json", /is not JSON/],
    [
      "a list that is none",
      { records: {} },
      400,
      "invalid_request",
      /^\/body\/records must be a list, got \{\}/,
    ],
    [
      "half a header and a time that is none",
      { records: [{ body: "x", headers: [["a"]], timestamp: 1.5 }] },
      400,
      "invalid_request",
      /headers\/0 must have at least 2 elements, got .*timestamp must be an integer from 0 to 9007199254740991, got 1.5/,
    ],
    ["an empty batch", { records: [] }, 400, "invalid_request", /at least one record, got none/],
    [
      "no records at all",
      {},
      400,
      "invalid_request",
      /^\/body\/records is missing; it must be a list\. Nothing/,
    ],
    [
      "1,001 records",
      { records: records(1_001) },
      413,
      "batch_too_large",
      /at most 1000 records, got 1001; split/,
    ],
    [
      "a record over 1 MiB",
      { records: [half, { body: "x".repeat(MIB) }] },
      413,
      "record_too_large",
      /record 1 has/,
    ],
    [
      "a batch over 1 MiB",
      { records: [half, half] },
      413,
      "batch_too_large",
      /at most 1048576 metered bytes, got 1048592; split/,
    ],
    ["a misspelt member", { records: records(1), match_seqnum: 5 }, 400, "invalid_request", /"match_seqnum"/],
    [
      "a negative match_seq_num",
      { records: records(1), match_seq_num: -1 },
      400,
      "invalid_request",
      /got -1/,
    ],
    [
      "a fractional match_seq_num",
      { records: records(1), match_seq_num: 0.5 },
      400,
      "invalid_request",
      /got 0.5/,
    ],
    [
      "match_seq_num 2^53",
      { records: records(1), match_seq_num: 2 ** 53 },
      400,
      "invalid_request",
      /from 0 to 9007199254740991 .*got 9007199254740992/,
    ],
    [
      "a body that is no string",
      { records: [{ body: 7 }] },
      400,
      "invalid_request",
      /records\/0\/body .*got 7/,
    ],
    [
      "half a surrogate pair",
      '{"records":[{"body":"\\ud800"}]}',
      400,
      "invalid_request",
      /surrogate.*base64/,
    ],
    [
      "65 headers",
      { records: [{ body: "", headers: Array(65).fill(["a", "b"]) }] },
      400,
      "invalid_request",
      /64/,
    ],
    [
      "9 KiB of headers",
      { records: [{ body: "", headers: [["a", "b".repeat(9_216)]] }] },
      400,
      "invalid_request",
      /9217 bytes of headers, and at most 8192/,
    ],
  ] as const)("%s", async (_, body, status, code, detail) => {
    const { logs, sendJson } = await withLog();
    const problem = await problemIn(await sendJson("POST", "/v1/logs/orders/records", body));
    expect(problem).toMatchObject({ status, code, retryable: false, side_effects: "none", log: "orders" });
    expect(problem.detail).toMatch(detail);
    expect(logs.appended).toEqual([]);
  });

  test("bytes that are not UTF-8 in a JSON body, which a lenient decoder would change", async () => {
    const { send } = await withLog();
    const body = Buffer.concat([
      Buffer.from('{"records":[{"body":"'),
      Buffer.from([0xff]),
      Buffer.from('"}]}'),
    ]);
    const init = { body, headers: { "content-type": "application/json" } };
    const problem = await problemIn(await send("POST", "/v1/logs/orders/records", init));
    expect(problem).toMatchObject({ status: 400, code: "bad_json" });
    expect(problem.detail).toContain("it is not UTF-8");
  });

  test("base 64 that is none", async () => {
    const { sendJson } = await withLog();
    const body = { records: [{ body: "a_b=" }] };
    const answer = await sendJson("POST", "/v1/logs/orders/records", body, { "log-format": "base64" });
    expect((await problemIn(answer)).detail).toMatch(/records\/0\/body .*not base 64/);
  });

  test("an unknown format and an unknown media type", async () => {
    const { send, sendJson } = await withLog();
    const format = await sendJson("POST", "/v1/logs/orders/records", {}, { "log-format": "hex" });
    expect(await problemIn(format)).toMatchObject({ status: 400, code: "invalid_request" });
    const headers = { "content-type": "text/csv" };
    const text = await send("POST", "/v1/logs/orders/records", { body: "hello", headers });
    expect(await problemIn(text)).toMatchObject({ status: 415, code: "unsupported_media_type" });
  });

  test("an unknown log, with how to create it", async () => {
    const { sendJson } = apiUnderTest();
    const problem = await problemIn(
      await sendJson("POST", "/v1/logs/nowhere/records", { records: records(1) }),
    );
    expect(problem).toMatchObject({ status: 404, code: "log_not_found", log: "nowhere" });
  });
});

test("a parameter that is given more than once is called that", async () => {
  const { send } = await withLog();
  for (const [query, times] of [
    ["limit=1&limit=2", "twice"],
    ["limit=1&limit=1&limit=1", "3 times"],
  ] as const) {
    const { detail, status } = await problemIn(await send("GET", `/v1/logs?${query}`));
    expect(status).toBe(400);
    expect(detail).toMatch(new RegExp(`^/query/limit is given ${times}; give it once\\. `));
  }
});

test.each([
  ["POST", "/records", '{"records":[{"body":"a","timestamp":1e999}]}', "timestamp", "0 to 9007199254740991"],
  ["POST", "/records", '{"records":[{"body":"a","timestamp":"1"}]}', "timestamp", "0 to 9007199254740991"],
  [
    "POST",
    "/records",
    '{"records":[{"body":"a"}],"match_seq_num":1e999}',
    "match_seq_num",
    "0 to 9007199254740991",
  ],
  ["POST", "/trim", '{"seq_num":"1"}', "seq_num", "0 to 9007199254740991"],
  ["PUT", "", '{"segment_bytes_max":"1"}', "segment_bytes_max", "\\d+ to \\d+"],
  ["PUT", "", '{"segment_bytes_max":1e999}', "segment_bytes_max", "\\d+ to \\d+"],
  ["PUT", "", '{"segment_bytes_max":0}', "segment_bytes_max", "\\d+ to \\d+"],
] as const)("%s %s %s names the range", async (method, path, body, member, range) => {
  const { sendJson } = await withLog();
  const { status, detail } = await problemIn(await sendJson(method, `/v1/logs/orders${path}`, body));
  expect(status).toBe(400);
  expect(detail).toMatch(new RegExp(`${member} must be an integer from ${range}.*, got`));
});

test("what is repeated of a request never ends in half of a character", async () => {
  const { send, sendJson } = await withLog();
  for (let before = 70; before < 82; before++) {
    const name = `${"x".repeat(before)}${"\u{1f600}".repeat(200)}`;
    const query = encodeURIComponent(name);
    for (const answer of [
      await send("GET", `/v1/logs?limit=${query}`),
      await send("GET", `/v1/logs?${query}=1&${query}2=1&${query}3=1&${query}4=1`),
      await sendJson("POST", "/v1/logs/orders/records", { records: [], [name]: 1 }),
      await sendJson("POST", "/v1/logs/orders/records", {
        records: [],
        producer: { id: name, epoch: 0, seq: 0 },
      }),
    ]) {
      const text = await answer.text();
      expect([answer.status, text.isWellFormed()]).toEqual([400, true]);
      expect(text).not.toMatch(/\\ud[89a-f]/);
    }
  }
});

test("a log is not sealed by a request with a body that asks for something", async () => {
  const { send, sendJson, undeclared } = await withLog();
  const headers = { "content-type": "application/x-www-form-urlencoded" };
  for (const body of ['{"seq_num":5}', "[]", "null", "{", "x"]) {
    const problem = await problemIn(await sendJson("POST", "/v1/logs/orders/seal", body));
    expect(problem).toMatchObject({ status: 400, code: "invalid_request", side_effects: "none" });
    expect(problem.detail).toContain(`/body must be empty, or {}, got ${JSON.stringify(body)}`);
  }
  expect((await send("POST", "/v1/logs/orders/seal", { body: "x".repeat(2_000) })).status).toBe(413);
  expect((await sendJson("POST", "/v1/logs/orders/records", { records: records(1) })).status).toBe(200);
  for (const body of ["", "{}", " { }\n"]) {
    expect((await send("POST", "/v1/logs/orders/seal", { body, headers })).status).toBe(200);
  }
  expect((await send("POST", "/v1/logs/orders/seal")).status).toBe(200);
  expect(undeclared).toEqual([]);
});

test("health takes no parameters", async () => {
  const { send } = await withLog();
  const { status, detail } = await problemIn(await send("GET", "/v1/health?x=1"));
  expect([status, detail]).toEqual([
    400,
    expect.stringMatching(/^\/query does not take "x"; there is none\./),
  ]);
  expect((await send("GET", "/v1/health")).status).toBe(200);
});

describe("10 MB of body", () => {
  const TEN_MB = 10_000_000;

  test("are refused at their stated length, before a byte is read", async () => {
    const { send } = await withLog();
    let pulled = 0;
    const body = new ReadableStream<Uint8Array>(
      { pull: (controller) => controller.enqueue(new Uint8Array(++pulled)) },
      { highWaterMark: 0 },
    );
    const headers = { "content-type": "application/json", "content-length": String(TEN_MB) };
    const init = { body, headers, duplex: "half" } as RequestInit;
    const problem = await problemIn(await send("POST", "/v1/logs/orders/records", init));
    expect(problem).toMatchObject({ status: 413, code: "body_too_large", actual_bytes: TEN_MB });
    expect(problem.detail).toMatch(/at most 8388608 bytes of body.*has 10000000.*split/);
    expect(pulled).toBe(0);
  });

  test("without a stated length are refused at the limit, not read whole", async () => {
    const { send } = await withLog();
    const CHUNK = 100_000;
    let sent = 0;
    const body = new ReadableStream<Uint8Array>(
      {
        pull: (controller) => {
          sent += CHUNK;
          if (sent > TEN_MB) controller.close();
          else controller.enqueue(new Uint8Array(CHUNK));
        },
      },
      { highWaterMark: 0 },
    );
    const init = { body, headers: { "content-type": "application/json" }, duplex: "half" } as RequestInit;
    const problem = await problemIn(await send("POST", "/v1/logs/orders/records", init));
    expect(problem).toMatchObject({ status: 413, code: "body_too_large", limit_bytes: 8 * 1024 * 1024 });
    expect(sent).toBeLessThan(8 * 1024 * 1024 + 2 * CHUNK);
  });
});

describe("a read is refused:", () => {
  test.each([
    ["a negative seq_num", "seq_num=-1", /query\/seq_num .*got "-1"/],
    ["a fractional seq_num", "seq_num=1.5", /got "1.5"/],
    ["seq_num 2^53", "seq_num=9007199254740992", /from 0 to 9007199254740991, got "9007199254740992"/],
    ["a seq_num of words", "seq_num=first", /got "first"/],
    ["two seq_nums", "seq_num=1&seq_num=2", /query\/seq_num/],
    ["count 0", "count=0", /from 1 to 1000, got "0"/],
    ["count 1,001", "count=1001", /got "1001"/],
    ["bytes over 1 MiB", "bytes=1048577", /got "1048577"/],
    ["another consistency", "consistency=eventual", /must be strong or local, got "eventual"/],
    ["a misspelt name", "seqnum=5", /does not take "seqnum"/],
  ])("%s", async (_, query, detail) => {
    const { send } = await withLog();
    const problem = await problemIn(await send("GET", `/v1/logs/orders/records?${query}`));
    expect(problem).toMatchObject({ status: 400, code: "invalid_request", side_effects: "none" });
    expect(problem.detail).toMatch(detail);
  });

  test("a position beyond the tail", async () => {
    const { send } = await withLog();
    const problem = await problemIn(await send("GET", "/v1/logs/orders/records?seq_num=1"));
    expect(problem).toMatchObject({ status: 416, code: "position_unwritten", tail: 0 });
  });

  test("bytes that text cannot tell truly are never mended: use base64", async () => {
    const { send, sendJson } = await withLog();
    const body = { records: [{ body: Buffer.from([0xc3]).toString("base64") }] };
    await sendJson("POST", "/v1/logs/orders/records", body, { "log-format": "base64" });
    const problem = await problemIn(await send("GET", "/v1/logs/orders/records"));
    expect(problem).toMatchObject({ status: 406, code: "not_utf8", seq_num: 0 });
    expect(problem.detail).toContain("Log-Format: base64");
  });
});

describe("a configuration is refused:", () => {
  const sizes = { ensemble_size: 2, write_quorum: 3, ack_quorum: 2, min_regions: 1 };
  test.each([
    ["quorums out of order", { replication: sizes }, /ensemble_size >= write_quorum/],
    ["an unknown preset", { preset: "huge" }, /preset/],
    [
      "a preset and a replication",
      { preset: "standard", replication: { ...sizes, write_quorum: 2 } },
      /not both/,
    ],
    ["an unknown digest", { digest: "md5" }, /crc32 or hmac-sha256, got "md5"/],
    ["a tiny segment", { segment_bytes_max: 1 }, /segment_bytes_max/],
  ])("%s", async (_, body, detail) => {
    const { logs, sendJson } = apiUnderTest();
    const problem = await problemIn(await sendJson("PUT", "/v1/logs/orders", body));
    expect(problem).toMatchObject({ status: 400, code: "invalid_request" });
    expect(problem.detail).toMatch(detail);
    expect(logs.logs.size).toBe(0);
  });

  test("too much of it, and a body that is no JSON", async () => {
    const { send, sendJson } = apiUnderTest();
    const large = await sendJson("PUT", "/v1/logs/orders", `{"preset":"${"x".repeat(70_000)}"}`);
    expect(await problemIn(large)).toMatchObject({ status: 413, code: "body_too_large" });
    expect(await problemIn(await send("PUT", "/v1/logs/orders", { body: "x" }))).toMatchObject({
      status: 415,
    });
  });
});

test("what is refused is pointed at in one form, wherever it is checked", async () => {
  const { send, sendJson } = await withLog();
  const pointers = async (answer: Response) =>
    ((await problemIn(answer)).errors as { pointer: string }[]).map(({ pointer }) => pointer);
  const path = "/v1/logs/orders/records";
  const append = (body: object, headers = {}) => sendJson("POST", path, body, headers).then(pointers);
  const records = [{ body: "x" }];
  expect(await append({ records: [{ body: 7, timestamp: -1 }] })).toEqual([
    "/body/records/0/body",
    "/body/records/0/timestamp",
  ]);
  expect(await append({ records: [{ body: "\ud800" }] })).toEqual(["/body/records/0/body"]);
  expect(await append({ records: [] })).toEqual(["/body/records"]);
  expect(await append({ records: [{ body: "x", timestamp: 2 ** 50 }] })).toEqual([
    "/body/records/0/timestamp",
  ]);
  expect(await append({ records, producer: { id: "a b", epoch: 0, seq: 0 } })).toEqual(["/body/producer/id"]);
  expect(await append({ records }, { "idempotency-key": "a b" })).toEqual(["/header/idempotency-key"]);
  const both = { records, producer: { id: "p", epoch: 0, seq: 0 } };
  expect(await append(both, { "idempotency-key": "k" })).toEqual(["/body/producer"]);
  const octets = { body: "x", headers: { "content-type": "application/octet-stream" } };
  expect(await pointers(await send("POST", `${path}?match=0`, octets))).toEqual(["/query"]);
  expect(await pointers(await send("GET", `${path}?count=0`))).toEqual(["/query/count"]);
  expect(await pointers(await send("GET", `${path}?seq=0`))).toEqual(["/query"]);
  expect(await pointers(await send("GET", "/v1/logs/%00"))).toEqual(["/path/log"]);
  expect(await pointers(await send("GET", "/v1/logs?start_after=a/.."))).toEqual(["/query/start_after"]);
  expect(await pointers(await sendJson("PUT", "/v1/logs/x", { "a/b": 1 }))).toEqual(["/body"]);
});
