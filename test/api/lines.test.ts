/** Bodies of lines: one record a line, as fenceline append takes a file. */
import { describe, expect, test } from "vitest";
import { apiUnderTest, problemIn } from "./api-under-test.ts";

const RECORDS = "/v1/logs/orders/records";

async function appended(
  body: string | Uint8Array<ArrayBuffer>,
  type = "text/plain",
  query = "",
  headers = {},
) {
  const { logs, send } = apiUnderTest();
  await send("PUT", "/v1/logs/orders");
  const sent = { "content-type": type, ...headers };
  const answer = await send("POST", `${RECORDS}${query}`, { body, headers: sent });
  const bodies = logs.appended[0]?.records.map((record) => Buffer.from(record.body).toString("latin1"));
  return { answer, bodies, request: logs.appended[0] };
}

describe.each(["application/x-ndjson", "application/jsonl", "text/plain", "Text/Plain; charset=UTF-8"])(
  "%s",
  (type) => {
    test.each([
      ["a\nb\n", ["a", "b"]],
      ["a\nb", ["a", "b"]],
      ["a\r\nb\r\n", ["a\r", "b\r"]],
      ["\n\na", ["", "", "a"]],
      ["\n", [""]],
      ['{"body":1}\n{"body"\n', ['{"body":1}', '{"body"']],
    ])("%j is %j", async (body, expected) => {
      const { answer, bodies } = await appended(body, type);
      expect(answer.status).toBe(200);
      expect(bodies).toEqual(expected);
    });
  },
);

test("bytes of a line are kept as they are", async () => {
  const { bodies } = await appended(new Uint8Array([0xff, 0, 0x0a, 0xc3]));
  expect(bodies).toEqual(["\xff\0", "\xc3"]);
});

test("a condition and a key go beside the lines", async () => {
  const key = { "idempotency-key": "k" };
  const { request } = await appended("a\nb", "application/x-ndjson", "?match_seq_num=0", key);
  expect(request).toMatchObject({ matchSeqNum: 0, sender: { id: "key k" } });
});

describe("lines are refused:", () => {
  test.each([
    ["none", "", "text/plain", 400, /at least one record/],
    ["1,001", "x\n".repeat(1_001), "text/plain", 413, /at most 1000 records, got 1001/],
    ["eight million", "\n".repeat(8_000_000), "application/x-ndjson", 413, /got 8000000/],
    ["one that is too long", "x".repeat(1_100_000), "application/jsonl", 413, /record 0 has/],
    ["another charset", "x", "text/plain; charset=utf-16", 415, /charset "utf-16" is not taken/],
  ])("%s", async (_, body, type, status, detail) => {
    const { answer, bodies } = await appended(body, type);
    const problem = await problemIn(answer);
    expect(problem).toMatchObject({ status, retryable: false, side_effects: "none" });
    expect(problem.detail).toMatch(detail);
    expect(bodies).toBeUndefined();
  });

  test("and what is wrong is in the body", async () => {
    const { answer } = await appended("", "text/plain");
    expect((await problemIn(answer)).errors).toMatchObject([{ pointer: "/body/records" }]);
  });
});
