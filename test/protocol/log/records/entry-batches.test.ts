/** What an entry says of its batches and producers, as bytes in front of its records. */

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { FencelineError } from "../../../../lib/protocol/errors.ts";
import {
  type EntryId,
  entryId,
  leaseBirth,
  segmentNumber,
  seqNum,
  ticketId,
} from "../../../../lib/protocol/ids.ts";
import {
  decodeRecordSet,
  decodeRecordSetHead,
  type EntryBatch,
  type EntryBatches,
  encodeControlEntry,
  encodeRecordSet,
} from "../../../../lib/protocol/log/records/record-set.ts";

const natural = fc.maxSafeNat();
const anyId = fc.string({
  unit: fc.integer({ min: 33, max: 126 }).map((code) => String.fromCharCode(code)),
  minLength: 1,
  maxLength: 64,
});
const anySender = fc.record({
  id: anyId,
  epoch: natural,
  seq: natural,
  content: fc.integer({ min: 0, max: 2 ** 32 - 1 }),
  arrivedAtMs: natural,
});
const anyTicket = fc.record({
  birth: anyId.map(leaseBirth),
  id: anyId.map(ticketId),
  revision: natural,
  segment: fc.integer({ min: 1 }).map(segmentNumber),
});
const anyBatch: fc.Arbitrary<EntryBatch> = fc.record(
  { count: fc.integer({ min: 1, max: 5 }), sender: anySender, ticket: anyTicket },
  { requiredKeys: ["count"] },
);
const anyEntry: fc.Arbitrary<EntryBatches> = fc
  .record(
    {
      batches: fc.array(anyBatch, { minLength: 1, maxLength: 6 }),
      producersAt: natural.map((value) => value as EntryId),
      snapshot: fc.uint8Array({ maxLength: 50 }),
    },
    { requiredKeys: ["batches"] },
  )
  .filter(({ producersAt, snapshot }) => snapshot === undefined || producersAt !== undefined);

const recordsOf = ({ batches }: EntryBatches) =>
  batches.flatMap(({ count }) =>
    Array.from({ length: count }, (_, index) => ({
      timestampMs: 5,
      headers: [],
      body: Uint8Array.of(index),
    })),
  );

const codeOf = (payload: Uint8Array): string => {
  try {
    decodeRecordSet(payload);
    return "decoded";
  } catch (error) {
    return error instanceof FencelineError ? error.code : String(error);
  }
};

const hex = (payload: Uint8Array) => Buffer.from(payload).toString("hex");

describe("an entry's batches", () => {
  test("are read as they were written, and the records behind them too", () => {
    fc.assert(
      fc.property(anyEntry, (entry) => {
        const records = recordsOf(entry);
        const payload = encodeRecordSet(seqNum(3), records, entry);
        const set = decodeRecordSet(payload);
        expect(set.records).toEqual(records);
        expect(set).toMatchObject(entry);
        expect([set.producersAt, set.snapshot]).toEqual([entry.producersAt, entry.snapshot]);
        const { records: _, ...head } = set;
        expect(decodeRecordSetHead(payload)).toEqual(head);
        expect(encodeRecordSet(seqNum(3), set.records, set)).toEqual(payload);
      }),
    );
  });

  test("every cut, and every byte that follows, is data_corrupt", () => {
    fc.assert(
      fc.property(anyEntry, fc.nat(), (entry, cut) => {
        const payload = encodeRecordSet(seqNum(0), recordsOf(entry), entry);
        expect(codeOf(payload.subarray(0, cut % payload.length))).toBe("data_corrupt");
        expect(codeOf(Uint8Array.of(...payload, 0))).toBe("data_corrupt");
      }),
    );
  });

  test("whatever the bytes, decoding answers or says data_corrupt", () => {
    fc.assert(
      fc.property(anyEntry, fc.nat(), fc.nat({ max: 255 }), (entry, place, value) => {
        const payload = encodeRecordSet(seqNum(0), recordsOf(entry), entry);
        payload[place % payload.length] = value;
        expect(["decoded", "data_corrupt"]).toContain(codeOf(payload));
      }),
    );
  });

  test("golden bytes: one batch of a sender, one of nobody, a snapshot", () => {
    const sender = {
      id: "p1",
      epoch: 2,
      seq: 7,
      content: 0xcafe,
      arrivedAtMs: 16,
    } as const;
    const records = recordsOf({ batches: [{ count: 1 }, { count: 1 }] });
    const entry = {
      batches: [{ count: 1, sender }, { count: 1 }],
      producersAt: entryId(4),
      snapshot: Uint8Array.of(1, 2, 3),
    };
    expect(hex(encodeRecordSet(seqNum(9), records, entry))).toBe(
      "01070002000000000000000900000000000000050000000000000005" + // head, with all three flags
        "0002" + // two batches
        "000101027031000000000000000200000000000000070000cafe0000000000000010" +
        "000100" +
        "0000000000000004" + // the snapshot's entry
        "00000003010203" +
        "0000000000000000000001" + // records
        "00" +
        "0000000000000000000001" +
        "00",
    );
  });

  test("a posted request to settle is a batch without records, alone in a control entry", () => {
    const ticket = { birth: leaseBirth("b"), id: ticketId("t"), revision: 3, segment: segmentNumber(2) };
    const entry = { batches: [{ count: 0, ticket }] };
    expect(decodeRecordSetHead(encodeControlEntry(seqNum(9), 5, entry))).toMatchObject({
      count: 0,
      ...entry,
    });
    const record = { timestampMs: 5, headers: [], body: Uint8Array.of(1) };
    const among = { batches: [{ count: 1 }, { count: 0, ticket }] };
    expect(codeOf(encodeRecordSet(seqNum(0), [record], among))).toBe("data_corrupt");
  });

  test("one batch of no sender says nothing, and a control entry can carry a snapshot", () => {
    const record = { timestampMs: 5, headers: [], body: Uint8Array.of(1) };
    const plain = encodeRecordSet(seqNum(0), [record]);
    expect(encodeRecordSet(seqNum(0), [record], { batches: [{ count: 1 }] })).toEqual(plain);
    expect(decodeRecordSetHead(plain)).toMatchObject({ batches: [{ count: 1 }] });
    const fields = { batches: [], producersAt: entryId(0), snapshot: Uint8Array.of(1) };
    expect(decodeRecordSet(encodeControlEntry(seqNum(4), 6, fields))).toMatchObject({ ...fields, count: 0 });
  });
});
