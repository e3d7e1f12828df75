/** One process's writer: pipelining, order, conditions, doubt, rolls and deadlines. */
import { describe, expect, test } from "vitest";
import type { FencelineError } from "../../../../lib/protocol/errors.ts";
import { limits } from "../../../../lib/protocol/limits.ts";
import type { AppendAck } from "../../../../lib/protocol/log/operations.ts";
import { LOG, LogWorld, recordOf, told } from "../../../scenarios/log/log-world.ts";

const numbers = (count: number) => Array.from({ length: count }, (_, index) => String(index));

/** The error of a promise that must fail. */
const failure = (outcome: Promise<unknown>): Promise<FencelineError> =>
  outcome.then(
    () => Promise.reject(new Error("it succeeded")),
    (error) => error,
  );

describe("a warm writer", () => {
  test("sends many appends at once, numbers and acknowledges them in the order of arrival", async () => {
    const w = await LogWorld.make();
    const p = w.client("P");
    await p.append("first");
    const stuck = w.faults.hold({ client: "P", port: "bookie", call: "add", about: 1 });
    const order: number[] = [];
    const all = numbers(600).map((text) =>
      p.sendingBatch([text, `${text}'`]).then(({ start }) => void order.push(start.seqNum)),
    );
    await w.idle();
    // The first alone, then as many as an entry holds, then the rest.
    expect([1, 2, 3, 4].map((about) => w.faults.count({ client: "P", call: "add", about }))).toEqual([
      3, 3, 3, 0,
    ]);
    expect(order).toEqual([]);
    stuck.release();
    await w.run(Promise.all(all));
    expect(order).toEqual(numbers(600).map((text) => 1 + 2 * Number(text)));
    const { records } = await w.client("T", "west").answer(1, 4);
    expect(records.map(({ dlsn }) => [dlsn.segment, dlsn.entry, dlsn.slot])).toEqual([
      [1, 1, 0],
      [1, 1, 1],
      [1, 2, 0],
      [1, 2, 1],
    ]);
  });

  test("sends whole entries up to its window, and smaller ones while few are in flight", async () => {
    const w = await LogWorld.make();
    const p = w.client("P");
    await p.append("first");
    const stuck = w.faults.hold({ client: "P", port: "bookie", call: "add", about: 1 });
    const whole = Array.from({ length: 9 }, () => p.sendingBatch(numbers(1_000)));
    const few = Array.from({ length: 3 }, () => p.sendingBatch(["x"]));
    await w.idle();
    const sent = (entry: number) => w.faults.count({ client: "P", call: "add", about: entry }) > 0;
    expect(numbers(12).map((entry) => sent(Number(entry)))).toEqual([...Array(10).fill(true), false, false]);
    stuck.release();
    await w.run(Promise.all([...whole, ...few]));
    expect([sent(10), sent(11)]).toEqual([true, false]);
  });

  test("asks the metadata nothing in a steady append", async () => {
    const w = await LogWorld.make();
    const p = w.client("P");
    await p.append("first");
    const before = w.faults.count({ client: "P", port: "metadata" });
    await p.append(...numbers(20));
    expect(w.faults.count({ client: "P", port: "metadata" })).toBe(before);
  });

  test("answers with positions, tail, the regions that hold the batch, epoch and owner", async () => {
    const w = await LogWorld.make();
    await w.client("Q", "west").append("q");
    w.faults.fail({ client: "P", port: "bookie", target: "B1", call: "add" });
    const ack = await w.run(w.client("P").sendingBatch(["a", "b"]));
    expect(ack).toMatchObject({
      start: { seqNum: 1, dlsn: { segment: 2, entry: 0, slot: 0 } },
      last: { seqNum: 2, dlsn: { segment: 2, entry: 0, slot: 1 } },
      tail: 3,
      durableIn: ["east", "north"],
      duplicate: false,
      epoch: 2,
      ownerRegion: "east",
    } satisfies { [Key in keyof AppendAck]: unknown });
  });

  test("timestamps never fall: not with the client's, not with the clock, not across segments", async () => {
    const w = await LogWorld.make({ segmentBytesMax: 1 });
    const p = w.client("P");
    const now = w.world.clock.nowMs();
    const stamped = (...times: (number | undefined)[]) => ({
      log: LOG,
      records: times.map((timestampMs) => ({
        ...recordOf("x"),
        ...(timestampMs === undefined ? {} : { timestampMs }),
      })),
    });
    await w.run(p.appends.append(stamped(5, now + 1_000, 7, undefined)));
    w.world.clock.jump(-3_600_000);
    await w.run(w.client("Q", "west").appends.append(stamped(undefined)));
    w.world.clock.jump(2 * 3_600_000);
    await w.run(p.appends.append(stamped(undefined)));
    const { records } = await w.client("T", "north").answer(0);
    const times = records.map(({ timestampMs }) => timestampMs);
    expect(times.slice(0, 5)).toEqual([5, ...Array(4).fill(now + 1_000)]);
    expect(times[5]).toBeGreaterThanOrEqual(now + 3_600_000);
  });

  test("an empty segment that is replaced does not let timestamps fall", async () => {
    const w = await LogWorld.make();
    const p = w.client("P");
    const start = w.world.clock.nowMs();
    await p.append("p");
    w.faults.hold({ client: "dead", port: "bookie", call: "add" });
    void w.client("dead", "north").sending("lost with its sender");
    await w.idle();
    w.world.clock.jump(-3_600_000);
    const ack = await w.run(w.client("Q", "west").sendingBatch(["q"]));
    expect(ack.start.seqNum).toBe(1);
    expect(ack.start.timestampMs).toBeGreaterThanOrEqual(start);
  });
});

describe("what an append may hold", () => {
  const record = recordOf("x");
  const big = (bytes: number) => ({ body: new Uint8Array(bytes), headers: [] });
  const header = (bytes: number) => [new Uint8Array(1), new Uint8Array(bytes - 1)] as const;
  const refusals: [string, Parameters<typeof batchOf>[0], string, RegExp][] = [
    ["no record", [], "invalid_request", /at least one record, got none/],
    ["1,001 records", Array(1_001).fill(record), "batch_too_large", /at most 1000 records, got 1001; split/],
    [
      "a record over 1 MiB",
      [record, big(1_048_576)],
      "record_too_large",
      /record 1 has 1048584 metered bytes.*1048576/,
    ],
    [
      "a batch over 1 MiB",
      [big(600_000), big(600_000)],
      "batch_too_large",
      /1048576 metered bytes, got 1200016/,
    ],
    [
      "65 headers",
      [{ ...record, headers: Array(65).fill(header(2)) }],
      "invalid_request",
      /65 headers, and at most 64/,
    ],
    [
      "9 KB of headers",
      [{ ...record, headers: [header(9_000)] }],
      "invalid_request",
      /9000 bytes of headers, and at most 8192/,
    ],
    [
      "a timestamp far ahead",
      [{ ...record, timestampMs: 4_000_000_000_000 }],
      "invalid_request",
      /60000 ms ahead/,
    ],
    ["a negative timestamp", [{ ...record, timestampMs: -1 }], "invalid_request", /timestamp -1/],
    ["a timestamp with a fraction", [{ ...record, timestampMs: 1.5 }], "invalid_request", /timestamp 1.5/],
  ];
  const batchOf = (records: readonly ReturnType<typeof recordOf>[]) => ({ log: LOG, records });

  test.each(refusals)("%s is refused, and nothing is sent", async (_, records, code, message) => {
    const w = await LogWorld.make();
    const error = await w.run(failure(w.client("P").appends.append(batchOf(records))));
    expect([error.code, error.retryable, error.sideEffects]).toEqual([code, false, "none"]);
    expect(error.message).toMatch(message);
    expect(w.faults.count({ client: "P", port: "bookie" })).toBe(0);
  });

  test.each([-1, 1.5, 2 ** 53])("match_seq_num %d is refused", async (match) => {
    const w = await LogWorld.make();
    const request = { ...batchOf([record]), matchSeqNum: match as never };
    const error = await w.run(failure(w.client("P").appends.append(request)));
    expect([error.code, error.sideEffects]).toEqual(["invalid_request", "none"]);
  });

  test("the largest batch goes through", async () => {
    const w = await LogWorld.make();
    const half = big(limits.batchBytesMax / 2 - 8);
    expect(await w.run(told(w.client("P").appends.append(batchOf([half, half]))))).toBe("at 0");
  });

  test("an unknown log is log_not_found", async () => {
    const w = await LogWorld.make();
    const error = await w.run(
      failure(w.client("P").appends.append({ log: "none" as never, records: [record] })),
    );
    expect([error.code, error.sideEffects]).toEqual(["log_not_found", "none"]);
  });
});

describe("rolling and capacity", () => {
  test("a segment rolls when its bytes are reached, closes cleanly, and is completed", async () => {
    const w = await LogWorld.make({ segmentBytesMax: 200 });
    await w.client("P").append(...numbers(20));
    const chain = await w.chain();
    expect(Object.keys(chain).length).toBeGreaterThan(3);
    const segments = await w.run(w.client("T", "west").reads.segments(LOG));
    segments.slice(0, -1).forEach((segment, index) => {
      expect(segment.completion?.end).toBe(segments[index + 1]?.firstSeqNum);
      expect(segment.number).toBe(index + 1);
    });
    expect(segments.at(-1)?.completion).toBeUndefined();
    const closed = w.world.trace.filter((event) => event.event === "ledger-closed");
    expect(closed.map((event) => event.event === "ledger-closed" && event.by)).toEqual(
      segments.slice(1).map(() => "writer"),
    );
    expect(await w.client("T", "west").read(0)).toEqual(numbers(20));
  });

  test("a segment rolls when it is old and holds anything, at the next append", async () => {
    const w = await LogWorld.make({ segmentAgeMaxMs: 60_000 });
    const p = w.client("P");
    const numbers = async () => (await w.run(p.reads.segments(LOG))).map(({ number }) => number);
    await p.append("a");
    await w.world.clock.advance(59_000);
    await p.append("b");
    expect(await numbers()).toEqual([1]);
    await w.world.clock.advance(1_000);
    expect(await numbers()).toEqual([1]);
    await p.append("c", "d");
    expect(await numbers()).toEqual([1, 2]);
    // The next append rolls too, if it goes on in the same ledger.
    await w.world.clock.advance(200_000);
    await p.append("e");
    expect(await numbers()).toEqual([1, 2, 3]);
    expect(w.world.trace.filter(({ event }) => event === "recovery-started")).toEqual([]);
    expect(await p.read(0)).toEqual(["a", "b", "c", "d", "e"]);
  });

  test("a segment rolls when its ledger has as many fragments as metadata may hold (rule 6)", async () => {
    const bookies = numbers(limits.fragmentsMax + 8).map((name) => `B${name}@r${Number(name) % 2}`);
    const w = await LogWorld.make({ bookies, quorums: [2, 2, 2], minRegions: 1 });
    const p = w.client("P", "r0");
    for (let entry = 0; entry < limits.fragmentsMax; entry++) {
      const target = await w.anEnsembleMember();
      const add = {
        client: "P",
        port: "bookie",
        call: "add",
        about: entry,
        ...(target ? { target } : {}),
      } as const;
      w.faults.fail(add, "before", target ? limits.bookieCallAttempts : 0);
      expect(await p.append(String(entry))).toEqual([`at ${entry}`]);
    }
    expect(Object.keys(await w.chain())).toEqual(["0"]);
    await p.append(String(limits.fragmentsMax));
    expect(Object.keys(await w.chain())).toEqual(["0", String(limits.fragmentsMax)]);
    expect(await w.client("T", "r1").read(0)).toEqual(numbers(limits.fragmentsMax + 1));
  });

  test("more waiting appends than a process holds are over_capacity, and nothing is sent", async () => {
    const w = await LogWorld.make();
    const stuck = w.faults.hold({ client: "P", call: "query" });
    const p = w.client("P");
    const large = { log: LOG, records: [{ body: new Uint8Array(limits.batchBytesMax - 8), headers: [] }] };
    const count = limits.waitingBytesMax / limits.batchBytesMax;
    const waiting = Promise.all(numbers(count).map(() => told(p.appends.append(large))));
    await w.idle();
    expect(await p.append("one more")).toEqual(["over_capacity, side effects none"]);
    stuck.release();
    expect((await w.run(waiting)).at(-1)).toBe(`at ${count - 1}`);
  });

  test("an opening that hangs is answered not_ready; a later append goes through", async () => {
    const w = await LogWorld.make();
    const stuck = w.faults.hold({ client: "P", port: "metadata", call: "write" }, "before");
    const p = w.client("P");
    const started = w.world.clock.nowMs();
    const error = await w.run(failure(p.sendingBatch(["p"])));
    expect([error.code, error.retryable, error.sideEffects]).toEqual(["not_ready", true, "none"]);
    expect(w.world.clock.nowMs() - started).toBe(limits.appendDeadlineMs);
    stuck.release();
    expect(await p.append("later")).toEqual(["at 0"]);
    expect(await w.client("T", "west").read(0)).toEqual(["later"]);
  });
});

test("29: a name deleted and created again: a warm writer finds its new life", async () => {
  const w = await LogWorld.make();
  const p = w.client("P");
  await p.append("old life");
  const t = w.client("T", "west");
  expect(await t.read(0)).toEqual(["old life"]);
  await w.deleteAndCreateAgain();
  expect(await p.append("new life")).toEqual(["at 0"]);
  expect(await t.read(0)).toEqual(["new life"]);
});
