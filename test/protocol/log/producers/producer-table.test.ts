/** What a log remembers of its producers: order, duplicates, room, and the bytes of a snapshot. */

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { entryId, segmentNumber, seqNum } from "../../../../lib/protocol/ids.ts";
import {
  decodeProducers,
  encodeProducers,
} from "../../../../lib/protocol/log/producers/producer-snapshot.ts";
import { type KnownBatch, ProducerTable } from "../../../../lib/protocol/log/producers/producer-table.ts";
import { appendLimits, PRODUCERS_BYTES_MAX } from "../../../../lib/protocol/log/records/append-limits.ts";
import { batchPlaces } from "../../../../lib/protocol/log/records/batch-places.ts";
import { Corruption } from "../../../../lib/protocol/log/records/byte-fields.ts";
import type { BatchSender } from "../../../../lib/protocol/log/records/record-set.ts";

const { producersMax, producerWindowMs, producerKeepMs, producerBatchesMax, senderIdLengthMax } =
  appendLimits;

const batch = (id: string, seq: number, fields: Partial<BatchSender> = {}): BatchSender => ({
  id,
  epoch: 0,
  seq,
  content: 7,
  arrivedAtMs: 1_000,
  ...fields,
});

const at = (seq: number, count: number, place = seq, content = 7): KnownBatch => {
  const dlsn = { segment: segmentNumber(1), entry: entryId(place), slot: 0 };
  const start = { seqNum: seqNum(place), dlsn, timestampMs: place };
  return { seq, count, content, ...batchPlaces(start, count, place + 1) };
};

function note(table: ProducerTable, given: BatchSender, count = 1): void {
  table.note(given, at(given.seq, count, given.seq, given.content));
}

describe("PT1, PT2: the order of one producer's batches", () => {
  test("seqs are dense per record; a new epoch begins at 0; an epoch never goes back", () => {
    const table = new ProducerTable();
    const verdict = (seq: number, epoch: number, count = 1) =>
      table.judge(batch("p", seq, { epoch }), count).kind;
    expect([verdict(0, 3), verdict(1, 3)]).toEqual(["new", "gap"]);
    note(table, batch("p", 0, { epoch: 3 }), 4);
    expect([verdict(4, 3), verdict(5, 3), verdict(3, 3), verdict(0, 3, 4)]).toEqual([
      "new",
      "gap",
      "gap",
      "duplicate",
    ]);
    expect([verdict(0, 2), verdict(0, 4), verdict(4, 4)]).toEqual(["fenced", "new", "gap"]);
    note(table, batch("p", 0, { epoch: 4 }));
    expect(table.judge(batch("p", 4, { epoch: 3 }), 1)).toEqual({ kind: "fenced", epoch: 4 });
  });

  test("another count or content under a known seq is a conflict; far behind is passed", () => {
    const table = new ProducerTable();
    for (let seq = 0; seq < producerBatchesMax + 2; seq++) note(table, batch("p", seq));
    const next = producerBatchesMax + 2;
    expect(table.judge(batch("p", next - 1), 2).kind).toBe("conflict");
    expect(table.judge(batch("p", next - 1, { content: 8 }), 1).kind).toBe("conflict");
    expect(table.judge(batch("p", 2), 1).kind).toBe("duplicate");
    expect(table.judge(batch("p", 1), 1)).toEqual({ kind: "passed", expected: next });
    // Cut otherwise, some of it is further back than is remembered: not all of it is known to be there.
    expect(table.judge(batch("p", 1), 2)).toEqual({ kind: "gap", expected: next, isKnown: true });
  });
});

describe("PT3: room", () => {
  /** As many producers as fit; the first one is the least recently used. */
  function full(): ProducerTable {
    const table = new ProducerTable();
    for (let index = 0; index < producersMax; index++) {
      note(table, batch(`p${index}`, 0, { arrivedAtMs: index }));
    }
    return table;
  }

  test("within the window a new producer is refused, and nobody is forgotten", () => {
    const table = full();
    expect(table.judge(batch("new", 0, { arrivedAtMs: producerWindowMs }), 1)).toEqual({ kind: "full" });
    expect(table.judge(batch("p0", 1), 1).kind).toBe("new");
  });

  test("after it the one least recently used makes room, and is unknown from then on", () => {
    const table = full();
    note(table, batch("p0", 1, { arrivedAtMs: producersMax }));
    const later = producerWindowMs + 2;
    expect(table.judge(batch("new", 0, { arrivedAtMs: later }), 1).kind).toBe("new");
    note(table, batch("new", 0, { arrivedAtMs: later }));
    expect(table.producers()).toHaveLength(producersMax);
    expect(table.judge(batch("p1", 1), 1)).toEqual({ kind: "gap", expected: 0, isKnown: false });
    expect(table.judge(batch("p0", 2), 1).kind).toBe("new");
    expect(table.judge(batch("p2", 1), 1).kind).toBe("new");
  });

  test("with room everybody is remembered for longer, though not for ever; no clock goes back", () => {
    const table = new ProducerTable();
    note(table, batch("old", 0, { arrivedAtMs: 0 }));
    note(table, batch("new", 0, { arrivedAtMs: producerKeepMs }));
    note(table, batch("slow clock", 0, { arrivedAtMs: 5 }));
    expect(table.nowMs).toBe(producerKeepMs);
    expect(table.judge(batch("old", 1), 1).kind).toBe("new");
    note(table, batch("later", 0, { arrivedAtMs: producerKeepMs + 1 }));
    expect(table.judge(batch("old", 1), 1)).toEqual({ kind: "gap", expected: 0, isKnown: false });
    expect(table.producers().map(({ id }) => id)).toEqual(["new", "slow clock", "later"]);
  });
});

describe("a snapshot", () => {
  const id = fc.string({ unit: fc.integer({ min: 33, max: 126 }).map((code) => String.fromCharCode(code)) });
  const steps = fc.array(
    fc.record({
      id: id.filter((text) => text.length > 0).map((text) => text.slice(0, senderIdLengthMax)),
      isKey: fc.boolean(),
      count: fc.integer({ min: 1, max: 1_000 }),
      content: fc.integer({ min: 0, max: 2 ** 32 - 1 }),
      arrivedAtMs: fc.nat({ max: 10 ** 12 }),
      epoch: fc.nat({ max: 3 }),
    }),
    { maxLength: 60 },
  );

  test("is read as it was written, also in the order of use, and goes on the same", () => {
    fc.assert(
      fc.property(steps, steps, (before, after) => {
        const table = new ProducerTable();
        play(table, before);
        const copy = decodeProducers(encodeProducers(table));
        expect(copy.producers()).toEqual(table.producers());
        play(table, after);
        play(copy, after);
        expect(encodeProducers(copy)).toEqual(encodeProducers(table));
      }),
    );
  });

  test("every cut, and a byte that follows, is corruption", () => {
    const table = new ProducerTable();
    for (let seq = 0; seq < 3; seq++) note(table, batch("p", seq));
    const bytes = encodeProducers(table);
    for (let cut = 0; cut < bytes.length; cut++) {
      expect(() => decodeProducers(bytes.subarray(0, cut))).toThrow(Corruption);
    }
    expect(() => decodeProducers(new Uint8Array([...bytes, 0]))).toThrow(Corruption);
    expect(() => decodeProducers(new Uint8Array([9, ...bytes.subarray(1)]))).toThrow(/version 9/);
  });

  test("of the fullest table fits an entry beside a full batch", () => {
    const table = new ProducerTable();
    for (let index = 0; index < producersMax; index++) {
      const name = String(index).padStart(senderIdLengthMax, "p");
      for (let seq = 0; seq < producerBatchesMax; seq++) note(table, batch(name, seq));
    }
    expect(encodeProducers(table).length).toBeLessThanOrEqual(PRODUCERS_BYTES_MAX - 1_000 * 96);
  });
});

interface Step {
  readonly id: string;
  readonly isKey: boolean;
  readonly count: number;
  readonly content: number;
  readonly arrivedAtMs: number;
  readonly epoch: number;
}

/** What a log would take of these steps, each with the seq that is due. */
function play(table: ProducerTable, steps: readonly Step[]): void {
  for (const { id, isKey, count, content, arrivedAtMs, epoch } of steps) {
    const known = table.producers().find((one) => one.id === id);
    const last = known?.epoch === epoch ? known.batches.at(-1) : undefined;
    const seq = last === undefined || isKey ? 0 : last.seq + last.count;
    const given = batch(id, seq, { content, arrivedAtMs, epoch: isKey ? 0 : epoch });
    if (table.judge(given, count).kind === "new") table.note(given, at(seq, count, seq, content));
  }
}
