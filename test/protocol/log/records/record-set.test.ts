import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { FencelineError } from "../../../../lib/protocol/errors.ts";
import { type SeqNum, seqNum } from "../../../../lib/protocol/ids.ts";
import { limits } from "../../../../lib/protocol/limits.ts";
import type { StoredRecord } from "../../../../lib/protocol/log/records/record.ts";
import {
  decodeRecordSet,
  decodeRecordSetHead,
  encodeControlEntry,
  encodeRecordSet,
  meteredBytes,
  nextSeqNumOf,
} from "../../../../lib/protocol/log/records/record-set.ts";

const bytes = (maxLength: number) => fc.uint8Array({ maxLength });
const seqNums = fc.maxSafeNat().map((value) => Math.min(value, Number.MAX_SAFE_INTEGER - 1_000) as SeqNum);
const times = fc.nat({ max: 4_102_444_800_000 });

/** Records with timestamps that do not fall. */
const records: fc.Arbitrary<StoredRecord[]> = fc
  .tuple(
    times,
    fc.array(
      fc.record({
        step: fc.oneof(fc.constant(0), fc.nat({ max: 10_000 }), fc.nat({ max: 2 ** 45 })),
        headers: fc.array(fc.tuple(bytes(20), bytes(40)), { maxLength: 4 }),
        body: bytes(100),
      }),
      { minLength: 1, maxLength: 20 },
    ),
  )
  .map(([start, steps]) => {
    let timestampMs = start;
    return steps.map(({ step, headers, body }) => {
      timestampMs += step % 2 ** 40;
      return { timestampMs, headers, body };
    });
  });

const codeOf = (payload: Uint8Array): string => {
  try {
    decodeRecordSet(payload);
    return "decoded";
  } catch (error) {
    return error instanceof FencelineError ? error.code : String(error);
  }
};

describe("record set", () => {
  test("what is encoded is decoded, whatever the records", () => {
    fc.assert(
      fc.property(seqNums, records, (first, given) => {
        const payload = encodeRecordSet(first, given);
        const set = decodeRecordSet(payload);
        expect(set.records).toEqual(given);
        expect([set.firstSeqNum, nextSeqNumOf(set)]).toEqual([first, first + given.length]);
        expect([set.firstTimestampMs, set.lastTimestampMs]).toEqual([
          given[0]?.timestampMs,
          given.at(-1)?.timestampMs,
        ]);
        const { records: _, ...head } = set;
        expect(decodeRecordSetHead(payload)).toEqual(head);
      }),
    );
  });

  test("a payload inside a larger buffer is decoded in its place", () => {
    const payload = encodeRecordSet(seqNum(7), [{ timestampMs: 5, headers: [], body: Uint8Array.of(1, 2) }]);
    const roomy = new Uint8Array(payload.length + 9);
    roomy.set(payload, 4);
    expect(decodeRecordSet(roomy.subarray(4, 4 + payload.length)).records[0]?.body).toEqual(
      Uint8Array.of(1, 2),
    );
  });

  test("a control entry holds no record and carries where the log stands", () => {
    const set = decodeRecordSet(encodeControlEntry(seqNum(42), 1_700_000_000_000));
    expect(set).toMatchObject({ count: 0, records: [], firstSeqNum: 42, lastTimestampMs: 1_700_000_000_000 });
    expect(nextSeqNumOf(set)).toBe(42);
  });

  test("golden bytes: version 1 does not change", () => {
    const hex = (payload: Uint8Array) => Buffer.from(payload).toString("hex");
    const body = Uint8Array.of(0xaa, 0xbb);
    const headers = [[Uint8Array.of(0x6b), Uint8Array.of(0x76, 0x77)]] as const;
    const two = encodeRecordSet(seqNum(2 ** 32 + 5), [
      { timestampMs: 1_700_000_000_000, headers, body },
      { timestampMs: 1_700_000_000_000 + 2 ** 32 + 3, headers: [], body: new Uint8Array(0) },
    ]);
    expect(hex(two)).toBe(
      "0100000200000001000000050000018bcfe568000000018ccfe56803" + // head
        "000000000000010000000200010002" +
        "6b" +
        "7677" +
        "aabb" + // record with a header
        "0001000000030000000000", // record with nothing
    );
    expect(hex(encodeControlEntry(seqNum(9), 16))).toBe(
      "01000000000000000000000900000000000000100000000000000010",
    );
  });

  test("every cut, and every byte that follows, is data_corrupt", () => {
    fc.assert(
      fc.property(records, fc.nat(), bytes(5), (given, cut, more) => {
        const payload = encodeRecordSet(seqNum(0), given);
        expect(codeOf(payload.subarray(0, cut % payload.length))).toBe("data_corrupt");
        if (more.length > 0) expect(codeOf(Uint8Array.of(...payload, ...more))).toBe("data_corrupt");
      }),
    );
  });

  test("whatever the bytes, decoding answers or says data_corrupt", () => {
    fc.assert(
      fc.property(bytes(200), records, fc.nat(), fc.nat({ max: 255 }), (noise, given, place, value) => {
        expect(["decoded", "data_corrupt"]).toContain(codeOf(noise));
        const payload = encodeRecordSet(seqNum(0), given);
        payload[place % payload.length] = value;
        expect(["decoded", "data_corrupt"]).toContain(codeOf(payload));
      }),
    );
  });

  test("unknown versions and flags, falling timestamps and unsafe numbers are data_corrupt", () => {
    const changed = (offset: number, ...values: number[]) => {
      const payload = encodeRecordSet(seqNum(0), [{ timestampMs: 5, headers: [], body: new Uint8Array(3) }]);
      payload.set(values, offset);
      return codeOf(payload);
    };
    expect(changed(0, 1)).toBe("decoded");
    expect(changed(0, 2)).toBe("data_corrupt");
    expect(changed(1, 1)).toBe("data_corrupt");
    expect(changed(4, 0, 0x20)).toBe("data_corrupt"); // 2^53
    expect(changed(4, 0, 0x1f, 255, 255, 255, 255, 255, 255)).toBe("data_corrupt"); // next leaves 2^53 - 1
    expect(changed(20, 0, 0, 0, 0, 0, 0, 0, 4)).toBe("data_corrupt"); // last before first
    expect(changed(28, 0, 0, 0, 0, 0, 1)).toBe("data_corrupt"); // last is not its last record's
  });

  test("metered bytes: 8, 2 a header, headers and body; the largest batch fits an entry", () => {
    const header = [new Uint8Array(3), new Uint8Array(5)] as const;
    expect(meteredBytes({ headers: [header, header], body: new Uint8Array(100) })).toBe(
      8 + 2 * (2 + 8) + 100,
    );
    const tiny = Array.from(
      { length: limits.recordHeadersMax },
      () => [new Uint8Array(0), new Uint8Array(0)] as const,
    );
    const records = Array.from({ length: limits.batchRecordsMax }, () => ({
      timestampMs: 0,
      headers: tiny,
      body: new Uint8Array(900),
    }));
    const metered = records.reduce((sum, record) => sum + meteredBytes(record), 0);
    expect(metered).toBeGreaterThan(limits.batchBytesMax - 20_000);
    expect(encodeRecordSet(seqNum(0), records).length).toBeLessThanOrEqual(limits.entryPayloadBytesMax);
  });
});
