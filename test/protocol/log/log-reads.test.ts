/** Reading: where positions lie, what a tail is, how much it costs. */
import { describe, expect, test } from "vitest";
import type { FencelineError } from "../../../lib/protocol/errors.ts";
import { entryId, segmentNumber, seqNum } from "../../../lib/protocol/ids.ts";
import { limits } from "../../../lib/protocol/limits.ts";
import type { ReadRequest } from "../../../lib/protocol/log/operations.ts";
import { pause } from "../../../lib/protocol/waiting.ts";
import { LOG, type LogClient, LogWorld, recordOf, textsOf } from "../../scenarios/log/log-world.ts";

const numbers = (count: number, from = 0) =>
  Array.from({ length: count }, (_, index) => String(from + index));

async function errorOf(
  w: LogWorld,
  client: LogClient,
  request: Partial<ReadRequest>,
): Promise<FencelineError> {
  const whole = { log: LOG, from: seqNum(0), limit: 10, consistency: "strong", ...request } as const;
  const reading = async () => await client.reads.read(whole);
  return await w.run(
    reading().then(
      () => Promise.reject(new Error("it succeeded")),
      (error) => error,
    ),
  );
}

test("a read that nobody waits for any more ends before its next entry", async () => {
  const w = await LogWorld.make();
  const p = w.client("P");
  for (const text of numbers(30)) await p.append(text);
  let looks = 0;
  const signal = {
    get aborted() {
      looks += 1;
      return looks > 10;
    },
  };
  const error = await errorOf(w, w.client("R", "west"), { limit: 30, signal });
  expect([error.code, error.sideEffects]).toEqual(["unavailable", "none"]);
  const position = Number(/^read at (\d+): nobody waits/.exec(error.message)?.[1]);
  expect(position).toBeGreaterThan(3);
  expect(position).toBeLessThan(10);
  expect(looks).toBe(11);
});

describe("positions", () => {
  test("any position is found, over many batches, segments and control entries", async () => {
    const w = await LogWorld.make({ segmentBytesMax: 300 });
    const p = w.client("P");
    for (let batch = 0; batch < 30; batch++) {
      await w.run(p.sendingBatch(numbers(1 + (batch % 4), batch * 10)));
      if (batch % 5 === 0) await w.run(p.appends.settle(LOG));
    }
    const all = await w.client("all", "west").answer(0);
    expect(all).toMatchObject({ upToDate: true, next: all.records.length, tail: all.records.length });
    expect(all.records.map((record) => record.seqNum)).toEqual(all.records.map((_, index) => index));
    expect(Object.keys(await w.chain()).length).toBeGreaterThan(5);
    const warm = w.client("warm", "north");
    for (const from of [37, 3, 70, 71, 0, 12, 36, 38, 72]) {
      const expected = all.records.slice(from, from + 3);
      expect((await warm.answer(from, 3)).records).toEqual(expected);
      expect((await w.client(`cold ${from}`, "west").answer(from, 3)).records).toEqual(expected);
    }
  });

  test("beyond the tail is position_unwritten; at the tail is empty and up to date", async () => {
    const w = await LogWorld.make();
    const t = w.client("T", "west");
    expect(await t.answer(0)).toMatchObject({ records: [], next: 0, tail: 0, upToDate: true, sealed: false });
    expect((await errorOf(w, t, { from: seqNum(1) })).details).toEqual({ tail: 0 });
    await w.client("P").append("a", "b");
    expect(await t.answer(2)).toMatchObject({ records: [], next: 2, tail: 2, upToDate: true, sealed: false });
    const error = await errorOf(w, t, { from: seqNum(3) });
    expect([error.code, error.retryable, error.sideEffects]).toEqual(["position_unwritten", false, "none"]);
    expect(error.details).toEqual({ tail: 2 });
  });

  test("limits: records, metered bytes with at least one record, and what is no limit", async () => {
    const w = await LogWorld.make();
    const records = numbers(6).map((text) => ({ ...recordOf(text), body: new Uint8Array(92) }));
    const p = w.client("P");
    await w.run(p.appends.append({ log: LOG, records }));
    await w.run(p.appends.append({ log: LOG, records }));
    const read = async (limit: number, bytesMax: number) => {
      const request = { log: LOG, from: seqNum(1), limit, bytesMax, consistency: "strong" } as const;
      const answer = await w.run(p.reads.read(request));
      return [answer.records.length, answer.next, answer.upToDate];
    };
    expect(await read(3, 10_000)).toEqual([3, 4, false]);
    expect(await read(100, 299)).toEqual([2, 3, false]);
    expect(await read(100, 300)).toEqual([3, 4, false]);
    expect(await read(100, 1)).toEqual([1, 2, false]);
    expect(await read(100, 10_000)).toEqual([11, 12, true]);
    for (const bad of [
      { limit: 0 },
      { limit: 1_001 },
      { limit: 1.5 },
      { bytesMax: 0 },
      { from: -1 as never },
    ]) {
      expect((await errorOf(w, p, bad)).code).toBe("invalid_request");
    }
  });

  test("trimmed, sealed and unknown logs are told as what they are (33c, 33d)", async () => {
    const w = await LogWorld.make({ segmentBytesMax: 1 });
    const p = w.client("P");
    await p.append("a", "b", "c");
    await w.trim(2);
    expect(await w.audit()).toEqual([0, 1]);
    const t = w.client("T", "west");
    const trimmed = await errorOf(w, t, { from: seqNum(1) });
    expect([trimmed.code, trimmed.details]).toEqual(["position_trimmed", { first_available: 2 }]);
    expect(await w.run(p.appends.seal(LOG))).toBe(3);
    expect(await t.answer(2)).toMatchObject({ next: 3, tail: 3, upToDate: true, sealed: true });
    expect(await t.answer(3)).toMatchObject({ records: [], tail: 3, upToDate: true, sealed: true });
    expect(await w.run(t.reads.tail(LOG, "local"))).toMatchObject({ tail: 3, upToDate: true, sealed: true });
    expect((await errorOf(w, t, { from: seqNum(4) })).code).toBe("position_unwritten");
    expect(await t.tail()).toBe(3);
    expect(await w.client("Q", "north").append("d")).toEqual(["log_sealed, side effects none"]);
    expect((await errorOf(w, t, { log: "none" as never })).code).toBe("log_not_found");
  });
});

describe("cost", () => {
  async function logOf(entries: number) {
    const w = await LogWorld.make();
    const p = w.client("P");
    await p.append(...numbers(entries));
    await w.run(p.appends.settle(LOG));
    return w;
  }

  test("in a ledger of 1,000 entries a position costs O(log) bookie reads, the next one none", async () => {
    const w = await logOf(1_000);
    const t = w.client("T", "west");
    const reads = () => w.faults.count({ client: "T", port: "bookie", call: "read" });
    expect(textsOf(await t.answer(321, 1))).toEqual(["321"]);
    expect(reads()).toBeLessThanOrEqual(2 * Math.ceil(Math.log2(1_000)));
    const before = reads();
    expect(textsOf(await t.answer(322, 1))).toEqual(["322"]);
    expect(reads() - before).toBe(1);
  });

  test("a sequential read has some entries on the way at a time, and no more than the bound", async () => {
    const w = await logOf(200);
    let flying = 0;
    let most = 0;
    const { clock } = w.world;
    w.faults.at(
      { client: "T", port: "bookie", call: "read" },
      "before",
      Number.POSITIVE_INFINITY,
      async () => {
        flying += 1;
        most = Math.max(most, flying);
        await pause(clock, 10);
        flying -= 1;
      },
    );
    const started = clock.nowMs();
    const answer = await w.client("T", "west").answer(0);
    expect(textsOf(answer)).toEqual(numbers(200));
    expect(most).toBeGreaterThan(limits.readAheadEntries / 2);
    expect(most).toBeLessThanOrEqual(limits.readAheadEntries + 3);
    expect(clock.nowMs() - started).toBeLessThan((200 * 10) / 4);
  });

  test("what a read asks of bookies is counted in its answer and in the trace, once", async () => {
    const w = await logOf(20);
    const { trace } = w.world;
    const told = () => trace.filter((event) => event.event === "log-read");
    const before = told().length;
    const calls = () => w.faults.count({ client: "T", port: "bookie" });
    const answer = await w.client("T", "west").answer(0, 20);
    expect(answer.cost?.counters.attempts).toBe(calls());
    expect(answer.cost?.counters.answered).toBe(answer.cost?.counters.reads);
    expect(told().slice(before)).toMatchObject([
      { attempts: calls(), hedges: 0, crossRegionHedges: 0, failovers: 0, elapsedMs: 0 },
    ]);
    const wins = [...(answer.cost?.counters.wins.values() ?? [])].reduce((sum, count) => sum + count, 0);
    expect(wins).toBe(answer.cost?.counters.answered);
  });

  test.each([
    { kind: "timestamp", timestampMs: 1 },
    { kind: "dlsn", dlsn: { segment: segmentNumber(1), entry: entryId(7), slot: 0 } },
    { kind: "tail-offset", count: 3 },
  ] as const)("what it takes to find where a read begins counts: $kind", async (from) => {
    const w = await logOf(20);
    const calls = () => w.faults.count({ client: "T", port: "bookie" });
    const t = w.client("T", "west");
    const answer = await w.run(t.reads.read({ log: LOG, from, limit: 1, consistency: "strong" }));
    expect(answer.cost?.counters.attempts).toBe(calls());
    expect(calls()).toBeGreaterThan(1);
  });

  test("nothing is fetched ahead that the answer could not hold", async () => {
    const w = await LogWorld.make();
    const p = w.client("P");
    for (let entry = 0; entry < 12; entry++) await p.append(String(entry).padEnd(100_000, "x"));
    await w.run(p.appends.settle(LOG));
    const t = w.client("T", "west");
    const reads = () => w.faults.count({ client: "T", port: "bookie", call: "read" });
    await t.answer(0, 1);
    const before = reads();
    const answer = await w.run(
      t.reads.read({
        log: LOG,
        from: seqNum(1),
        limit: 1_000,
        bytesMax: 450_000,
        consistency: "strong",
      }),
    );
    expect(answer.records.length).toBe(4);
    // One more is looked at to see that it does not fit.
    expect(reads() - before).toBeLessThanOrEqual(6);
  });

  test("one record costs one entry, whatever lies behind it", async () => {
    const w = await logOf(100);
    const t = w.client("T", "west");
    await t.answer(50, 1);
    const before = w.faults.count({ client: "T", port: "bookie", call: "read" });
    await t.answer(51, 1);
    expect(w.faults.count({ client: "T", port: "bookie", call: "read" }) - before).toBe(1);
  });

  test("a poll at the tail makes no query of its own once the ledger was seen last (33e)", async () => {
    const w = await logOf(3);
    const t = w.client("T", "west");
    await t.answer(3);
    const queries = () => w.faults.count({ client: "T", port: "metadata", call: "query" });
    const before = queries();
    expect(await t.answer(3)).toMatchObject({ upToDate: true });
    expect(queries() - before).toBe(1); // 33a, which may be stale
  });
});

describe("local reads", () => {
  test("may lag behind the last entry until something is appended or settled, and say so", async () => {
    const w = await LogWorld.make();
    const p = w.client("P");
    await p.append("a");
    await p.append("b");
    const t = w.client("T", "west");
    const local = async (from: number) => {
      const request = { log: LOG, from: seqNum(from), limit: 10, consistency: "local" } as const;
      const answer = await w.run(t.reads.read(request));
      return { texts: textsOf(answer), next: answer.next, tail: answer.tail, upToDate: answer.upToDate };
    };
    expect(await local(0)).toEqual({ texts: ["a"], next: 1, tail: 1, upToDate: false });
    expect(await w.run(t.reads.tail(LOG, "local"))).toMatchObject({
      tail: 1,
      upToDate: false,
      sealed: false,
      ownerRegion: "east",
    });
    await w.run(p.appends.settle(LOG));
    expect(await local(1)).toEqual({ texts: ["b"], next: 2, tail: 2, upToDate: false });
    expect(await local(5)).toEqual({ texts: [], next: 5, tail: 2, upToDate: false });
    const q = w.client("Q", "north");
    await q.append("c");
    await q.append("d");
    expect(await local(2)).toEqual({ texts: ["c"], next: 3, tail: 3, upToDate: false });
  });

  test("of an empty log say nothing of its tail", async () => {
    const w = await LogWorld.make();
    const answer = w.client("T").reads.read({ log: LOG, from: seqNum(0), limit: 1, consistency: "local" });
    expect(await w.run(answer)).toMatchObject({
      records: [],
      next: 0,
      tail: 0,
      upToDate: false,
      sealed: false,
    });
  });
});

test("a strong tail of every kind of last segment: none, open, closed, empty, replaced", async () => {
  const w = await LogWorld.make({ segmentBytesMax: 1 });
  const t = w.client("T", "west");
  expect(await t.tail()).toBe(0);
  w.faults.hold({ client: "dead", port: "bookie", call: "add" });
  void w.client("dead").sending("lost with its sender");
  await w.idle();
  expect(await t.tail()).toBe(0);
  await w.client("P").append("a");
  expect(await t.tail()).toBe(1);
  await w.client("P2").append("b", "c");
  expect(await t.tail()).toBe(3);
  await w.run(w.client("S", "north").appends.settle(LOG));
  expect(await t.tail()).toBe(3);
});

test("entries that do not follow one another are data_corrupt and raise an alarm", async () => {
  const w = await LogWorld.make();
  const p = w.client("P");
  await p.append("a", "b", "c");
  await w.run(p.appends.settle(LOG));
  await w.shiftSegment();
  const error = await errorOf(w, w.client("T", "west"), { from: seqNum(1) });
  expect([error.code, error.sideEffects]).toEqual(["data_corrupt", "none"]);
  expect(w.world.trace.some((event) => event.event === "log-alarm")).toBe(true);
});
