/** Group commit: appends that meet in one process share entries, each with its own condition and answer. */
import { describe, expect, test } from "vitest";
import type { AppendAck } from "../../../../lib/protocol/log/operations.ts";
import { appendLimits } from "../../../../lib/protocol/log/records/append-limits.ts";
import { pause } from "../../../../lib/protocol/waiting.ts";
import { LOG, type LogClient, LogWorld, recordOf, told } from "../../../scenarios/log/log-world.ts";

/** A bookie's answer to an add takes so long, in virtual time. */
const ADD_MS = 20;

async function slowWorld() {
  const w = await LogWorld.make();
  const p = w.client("P");
  await p.append("warm");
  w.faults.at({ port: "bookie", call: "add" }, "before", Number.POSITIVE_INFINITY, () =>
    pause(w.world.clock, ADD_MS),
  );
  return { w, p };
}

/** One appender: an append after another, each as soon as the one before is answered. */
async function appending(client: LogClient, name: string, count: number) {
  const acks: AppendAck[] = [];
  const waits: number[] = [];
  for (let turn = 0; turn < count; turn++) {
    const startedMs = client.ports.clock.monotonicMs();
    acks.push(await client.sendingBatch([`${name}.${turn}`]));
    waits.push(client.ports.clock.monotonicMs() - startedMs);
  }
  return { acks, waits };
}

const entriesOf = (acks: readonly AppendAck[]) => new Set(acks.map(({ start }) => start.dlsn.entry)).size;

describe("100 small appenders at once", () => {
  test("take a tenth of the entries and little more than one add's time", async () => {
    const { w, p } = await slowWorld();
    const names = Array.from({ length: 100 }, (_, index) => `a${index}`);
    const startedMs = w.world.clock.monotonicMs();
    const all = await w.run(Promise.all(names.map((name) => appending(p, name, 10))));
    const tookMs = w.world.clock.monotonicMs() - startedMs;
    const acks = all.flatMap((one) => one.acks);
    expect(acks).toHaveLength(1_000);
    expect(entriesOf(acks)).toBeLessThanOrEqual(100);
    // Ten turns, each waiting for at most one entry before its own.
    expect(tookMs).toBeLessThanOrEqual(10 * 2 * ADD_MS);
    expect(Math.max(...all.flatMap((one) => one.waits))).toBeLessThanOrEqual(2 * ADD_MS);
    const log = ["warm", ...(await p.read(1))];
    expect(log).toHaveLength(1_001);
    for (const name of ["a0", "a57", "a99"]) {
      expect(log.filter((text) => text.startsWith(`${name}.`))).toEqual(
        Array.from({ length: 10 }, (_, turn) => `${name}.${turn}`),
      );
    }
    for (const { start } of acks) expect(log[start.seqNum]).toMatch(/^a\d+\.\d$/);
  });

  test("a lone appender waits for nobody", async () => {
    const { w, p } = await slowWorld();
    const { acks, waits } = await w.run(appending(p, "a", 5));
    expect(entriesOf(acks)).toBe(5);
    expect(Math.max(...waits)).toBe(ADD_MS);
  });

  test("no more entries are in flight than group commit allows, and none is larger than a batch", async () => {
    const w = await LogWorld.make();
    const p = w.client("P");
    await p.append("warm");
    const stuck = w.faults.hold({ client: "P", port: "bookie", call: "add" });
    const appends = Array.from({ length: 50 }, (_, index) => p.sendingBatch([String(index)]));
    for (let round = 0; round < 10; round++) {
      await w.idle();
      appends.push(p.sendingBatch(["more"]));
    }
    await w.idle();
    const inFlight = new Set(stuck.calls.map(({ about }) => about));
    expect(inFlight.size).toBe(appendLimits.groupEntriesInFlight);
    stuck.release();
    const acks = await w.run(Promise.all(appends));
    expect(acks.map(({ start }) => start.seqNum)).toEqual(acks.map((_, index) => 1 + index));
  });
});

describe("in one entry", () => {
  test("conditions are checked in turn, and a failure is its caller's own", async () => {
    const { w, p } = await slowWorld();
    const producer = (seq: number, id = "p") =>
      p.appends.append({ log: LOG, records: [recordOf(`${id}${seq}`)], sender: { id, epoch: 0, seq } });
    const outcomes = await w.run(
      Promise.all([
        told(p.sendingBatch(["first"])),
        told(p.sendingBatch(["a", "b"], 2)),
        told(p.sendingBatch(["no"], 2)),
        told(producer(0)),
        told(producer(5)),
        told(producer(1)),
        told(p.sendingBatch([], 0)),
        told(producer(3, "other")),
        told(p.sendingBatch(["c"], 6)),
      ]),
    );
    expect(outcomes).toEqual([
      "at 1",
      "at 2",
      "seq_num_mismatch, side effects none",
      "at 4",
      "producer_seq_gap, side effects none",
      "at 5",
      "invalid_request, side effects none",
      "producer_seq_gap, side effects none",
      "at 6",
    ]);
    expect(await p.read(1)).toEqual(["first", "a", "b", "p0", "p1", "c"]);
  });

  test("each caller gets the positions of his own records, the group's tail, and the same regions", async () => {
    const { w, p } = await slowWorld();
    const [, one, two] = await w.run(
      Promise.all([p.sendingBatch(["x"]), p.sendingBatch(["a", "b"]), p.sendingBatch(["c"])]),
    );
    expect(one.start).toMatchObject({ seqNum: 2, dlsn: { entry: 2, slot: 0 } });
    expect(one.last).toMatchObject({ seqNum: 3, dlsn: { entry: 2, slot: 1 } });
    expect(two.start).toMatchObject({ seqNum: 4, dlsn: { entry: 2, slot: 2 } });
    expect([one.tail, two.tail]).toEqual([5, 5]);
    expect(two.durableIn).toEqual(one.durableIn);
  });

  test("that is lost: all of it goes on, in order; that is recorded: all of it is acknowledged", async () => {
    for (const [moment, places] of [
      ["before", [2, 3, 4]],
      ["after", [1, 2, 3]],
    ] as const) {
      const w = await LogWorld.make();
      const p = w.client("P");
      await p.append("warm");
      const held = w.faults.hold({ client: "P", port: "bookie", call: "add" }, moment);
      const flying = [p.sendingBatch(["x"]), p.sendingBatch(["y"]), p.sendingBatch(["z"])];
      await w.idle();
      await w.client("Q", "west").append("q");
      held.lose();
      const acks = await w.run(Promise.all(flying));
      expect(acks.map(({ start }) => start.seqNum)).toEqual(places);
    }
  });

  test("a batch is told from its neighbours: the very same batch, and no part of two", async () => {
    const { w, p } = await slowWorld();
    await w.run(
      Promise.all([
        p.sendingBatch(["x"]),
        p.sendingBatch(["a", "b"], 2, "one"),
        p.sendingBatch(["c"], 4, "two"),
      ]),
    );
    const again = (texts: string[], match: number, key: string) =>
      w.run(p.sendingBatch(texts, match, key).catch((error) => error));
    expect(await again(["a", "b"], 2, "one")).toMatchObject({ start: { seqNum: 2 }, duplicate: true });
    expect(await again(["c"], 4, "two")).toMatchObject({ start: { seqNum: 4 }, duplicate: true });
    for (const [texts, match, key] of [
      [["a"], 2, "one"],
      [["b"], 3, "one"],
      [["a", "b", "c"], 2, "one"],
      [["b", "c"], 3, "two"],
    ] as const) {
      expect((await again([...texts], match, key)).code).toBe("idempotency_conflict");
    }
  });
});
