/** Producers, keys and places over HTTP: what is taken, what is answered, and what is refused. */
import { describe, expect, test } from "vitest";
import { apiUnderTest, problemIn } from "./api-under-test.ts";

async function withLog() {
  const surface = apiUnderTest();
  await surface.send("PUT", "/v1/logs/orders");
  const append = (body: object, headers: Record<string, string> = {}) =>
    surface.sendJson("POST", "/v1/logs/orders/records", body, headers);
  return { ...surface, append };
}

const batch = (...bodies: string[]) => ({ records: bodies.map((body) => ({ body })) });
const producer = (seq: number, epoch = 0) => ({ producer: { id: "p1", epoch, seq } });

describe("a producer in the body", () => {
  test("is told of duplicates with their positions, of gaps and of stale epochs", async () => {
    const { append } = await withLog();
    const first = await (await append({ ...batch("a", "b"), ...producer(0) })).json();
    expect(first).toMatchObject({ duplicate: false, start: { seq_num: 0 }, end: 2 });
    await append(batch("somebody's"));
    const again = await append({ ...batch("a", "b"), ...producer(0) });
    expect(again.status).toBe(200);
    expect(await again.json()).toMatchObject({ duplicate: true, start: { seq_num: 0 }, end: 2, tail: 3 });
    const gap = await append({ ...batch("d"), ...producer(3) });
    expect([gap.status, await problemIn(gap)]).toMatchObject([
      409,
      { code: "producer_seq_gap", expected_seq: 2, received_seq: 3, side_effects: "none" },
    ]);
    await append({ ...batch("c"), ...producer(0, 1) });
    const stale = await append({ ...batch("d"), ...producer(2, 0) });
    expect([stale.status, await problemIn(stale)]).toMatchObject([
      403,
      { code: "producer_fenced", current_epoch: 1, retryable: false },
    ]);
  });

  test.each([
    [{ id: "p1", epoch: 0 }, /producer\/seq/],
    [{ id: "p1", epoch: -1, seq: 0 }, /producer\/epoch/],
    [{ id: "p1", epoch: 0, seq: 0.5 }, /producer\/seq/],
    [{ id: "a b", epoch: 0, seq: 0 }, /producer\/id has 1 to 64 printable ASCII/],
    [{ id: "p1", epoch: 0, seq: 0, sequence: 0 }, /sequence/],
    ["p1", /producer/],
  ])("%j is refused", async (given, detail) => {
    const { append } = await withLog();
    const answer = await append({ ...batch("a"), producer: given });
    expect(answer.status).toBe(400);
    expect((await problemIn(answer)).detail).toMatch(detail);
  });
});

describe("Idempotency-Key", () => {
  test("answers a repetition with the first one's positions, and refuses other records with 422", async () => {
    const { logs, send, append } = await withLog();
    const key = { "idempotency-key": "0d5f-1" };
    await append(batch("a"), key);
    expect(await (await append(batch("a"), key)).json()).toMatchObject({ duplicate: true, end: 1 });
    const other = await append(batch("b"), key);
    expect([other.status, await problemIn(other)]).toMatchObject([422, { code: "idempotency_conflict" }]);
    const octets = await send("POST", "/v1/logs/orders/records", {
      body: Uint8Array.of(0, 255),
      headers: { "content-type": "application/octet-stream", "idempotency-key": "0d5f-2" },
    });
    expect(octets.status).toBe(200);
    expect(logs.appended.map(({ sender }) => sender)).toEqual(
      ["key 0d5f-1", "key 0d5f-2"].map((id) => ({ id, epoch: 0, seq: 0 })),
    );
  });

  test("that is no key, or comes with a producer, is refused", async () => {
    const { append } = await withLog();
    for (const key of ["", "two words", "x".repeat(65)]) {
      const answer = await append(batch("a"), { "idempotency-key": key });
      expect(answer.status).toBe(400);
      expect((await problemIn(answer)).detail).toMatch(/Idempotency-Key has 1 to 64/);
    }
    const both = await append({ ...batch("a"), ...producer(0) }, { "idempotency-key": "k" });
    expect((await problemIn(both)).detail).toMatch(/a producer or an Idempotency-Key, not both/);
  });

  test("and a producer of that name are two senders", async () => {
    const { append } = await withLog();
    await append(batch("a"), { "idempotency-key": "p1" });
    expect(await (await append({ ...batch("a"), ...producer(0) })).json()).toMatchObject({
      duplicate: false,
    });
    const posing = await append({ ...batch("a"), producer: { id: "key p1", epoch: 0, seq: 0 } });
    expect((await problemIn(posing)).detail).toMatch(/no spaces/);
  });
});

describe("match_seq_num with a sender", () => {
  const octets = (query: string, key: string) =>
    [
      "POST",
      `/v1/logs/orders/records?${query}`,
      { body: "lock", headers: { "content-type": "application/octet-stream", "idempotency-key": key } },
    ] as const;

  test("answers the caller's own attempt wherever the log ends by now, in both media types", async () => {
    const { send, append } = await withLog();
    const mine = { ...batch("lock"), match_seq_num: 0 };
    const key = { "idempotency-key": "k1" };
    expect(await (await append(mine, key)).json()).toMatchObject({ duplicate: false });
    const named = { ...batch("p"), match_seq_num: 1, ...producer(0) };
    expect((await append(named)).status).toBe(200);
    for (const again of [append(mine, key), send(...octets("match_seq_num=0", "k1")), append(named)]) {
      const answer = await again;
      const ack = await answer.json();
      expect([answer.status, ack]).toMatchObject([200, { duplicate: true, tail: 2 }]);
      expect(ack).not.toHaveProperty("durable_in");
    }
    const others = [append(mine, { "idempotency-key": "k2" }), send(...octets("match_seq_num=0", "k2"))];
    for (const answer of await Promise.all(others)) {
      expect([answer.status, await problemIn(answer)]).toMatchObject([
        412,
        { expected_seq_num: 0, actual_seq_num: 2, side_effects: "none" },
      ]);
    }
    expect((await problemIn(await append(mine))).detail).toMatch(/since it has no Idempotency-Key: give one/);
    // Refused, and so unused: the key goes on with other records where its condition holds.
    const anew = await append({ ...batch("other"), match_seq_num: 2 }, { "idempotency-key": "k2" });
    expect(await anew.json()).toMatchObject({ duplicate: false, start: { seq_num: 2 } });
  });
});

test("the OpenAPI document tells of producers, keys and places", async () => {
  const answer = await apiUnderTest().send("GET", "/v1/openapi.json");
  const document = (await answer.json()) as OpenApi;
  const { post, get } = document.paths["/v1/logs/{log}/records"] ?? {};
  const names = (operation: Operation | undefined) => operation?.parameters.map(({ name }) => name);
  expect(names(post)).toEqual(expect.arrayContaining(["idempotency-key", "prefer", "log-format"]));
  expect(names(get)).toEqual(expect.arrayContaining(["seq_num", "dlsn", "timestamp", "tail_offset"]));
  const { Producer, Append, AppendAck } = document.components.schemas;
  expect(Producer?.required).toEqual(["id", "epoch", "seq"]);
  expect(Append?.properties).toHaveProperty("producer");
  expect(names(post)).toContain("match_seq_num");
  expect(AppendAck?.required).toContain("duplicate");
  expect(AppendAck?.required).not.toContain("durable_in");
});

interface Operation {
  readonly parameters: readonly { readonly name: string }[];
}
interface OpenApi {
  readonly paths: Readonly<Record<string, Readonly<Partial<Record<"get" | "post", Operation>>>>>;
  readonly components: {
    readonly schemas: Readonly<
      Record<string, { readonly required?: readonly string[]; readonly properties?: object }>
    >;
  };
}

describe("where a read begins", () => {
  test("at a seq_num, a DLSN, a time, or so many records before the tail", async () => {
    const { send, append } = await withLog();
    const records = [10, 20, 30].map((timestamp) => ({ body: String(timestamp), timestamp }));
    await append({ records });
    const bodies = async (query: string) => {
      const answer = await send("GET", `/v1/logs/orders/records?${query}`);
      const json = (await answer.json()) as { records: { body: string }[] };
      return json.records.map(({ body }) => body);
    };
    expect(await bodies("seq_num=2")).toEqual(["30"]);
    expect(await bodies("dlsn=0000000000000001-0000000000000000-00001")).toEqual(["20", "30"]);
    expect(await bodies("timestamp=11")).toEqual(["20", "30"]);
    expect(await bodies("tail_offset=1")).toEqual(["30"]);
    expect(await bodies("tail_offset=9")).toEqual(["10", "20", "30"]);
  });

  test.each([
    ["seq_num=1&tail_offset=1", /takes one of seq_num, dlsn, timestamp, tail_offset/],
    ["dlsn=1-2-3", /no DLSN/],
    ["timestamp=yesterday", /timestamp/],
    ["tail_offset=-1", /tail_offset/],
  ])("%s is refused", async (query, detail) => {
    const { send } = await withLog();
    const answer = await send("GET", `/v1/logs/orders/records?${query}`);
    expect(answer.status).toBe(400);
    expect((await problemIn(answer)).detail).toMatch(detail);
  });
});
