/** Where reads begin that name no seq_num, and how little finding it costs in a long log. */
import { describe, expect, test } from "vitest";
import { NodeDigest } from "../../../../lib/adapters/node/node-digest.ts";
import {
  entryId,
  ledgerId,
  logName,
  NO_ENTRY,
  type SeqNum,
  segmentNumber,
  seqNum,
  tenure,
  writeToken,
} from "../../../../lib/protocol/ids.ts";
import { type Item, type ItemKey, ledgerKey, segmentKey } from "../../../../lib/protocol/items.ts";
import { closeLedger, newLedger } from "../../../../lib/protocol/ledger-metadata.ts";
import type { ReadPlace } from "../../../../lib/protocol/log/operations.ts";
import type { Dlsn, LogRecord } from "../../../../lib/protocol/log/records/record.ts";
import { encodeRecordSet } from "../../../../lib/protocol/log/records/record-set.ts";
import { EXHAUSTIVE } from "../../../cpu-bound.ts";
import { LOG, type LogClient, LogWorld, recordOf } from "../../../scenarios/log/log-world.ts";

const at = (timestampMs: number): ReadPlace => ({ kind: "timestamp", timestampMs });
const behind = (dlsn: Dlsn): ReadPlace => ({ kind: "dlsn", dlsn });
const last = (count: number): ReadPlace => ({ kind: "tail-offset", count });
const dlsn = (segment: number, entry: number, slot: number): Dlsn => ({
  segment: segmentNumber(segment),
  entry: entryId(entry),
  slot,
});

/** The seq_num of the first record that a read from there returns, or where it would go on. */
async function begin(w: LogWorld, client: LogClient, from: ReadPlace, consistency = "strong" as const) {
  const answer = await w.run(client.reads.read({ log: LOG, from, limit: 1, consistency }));
  return answer.records[0]?.seqNum ?? answer.next;
}

/** Appends a batch with these timestamps. */
function stamped(client: LogClient, ...times: number[]) {
  const records = times.map((timestampMs) => ({ ...recordOf("x"), timestampMs }));
  return client.appends.append({ log: LOG, records });
}

/** Rolled segments of some entries each, one replaced while empty, times that stand still and jump. */
async function busyLog() {
  const w = await LogWorld.make({ segmentBytesMax: 130 });
  const p = w.client("P");
  for (const times of [[10, 10, 20], [20], [20, 35], [35], [35, 35], [90], [90, 95], [200]]) {
    await w.run(stamped(p, ...times));
  }
  w.faults.hold({ client: "dead", port: "bookie", call: "add" });
  void w.client("dead", "north").sending("lost with its sender");
  await w.idle();
  for (const times of [[300, 301], [302]]) await w.run(stamped(w.client("Q", "west"), ...times));
  const { records } = await w.client("T", "north").answer(0);
  return { w, records };
}

/** The first record that is no further in front than asked for. */
const firstWhere = (records: readonly LogRecord[], holds: (record: LogRecord) => boolean) =>
  records.find(holds)?.seqNum ?? records.length;

describe("in a log of some segments", () => {
  test("by time: the first record that is no older, wherever it is", async () => {
    const { w, records } = await busyLog();
    const t = w.client("R", "west");
    for (const time of [
      0, 9, 10, 11, 20, 21, 35, 36, 89, 90, 91, 95, 96, 200, 201, 300, 301, 302, 303, 9e15,
    ]) {
      const expected = firstWhere(records, ({ timestampMs }) => timestampMs >= time);
      expect(await begin(w, t, at(time)), `time ${time}`).toBe(expected);
    }
  });

  test("by DLSN: that record, or the first one behind that place", async () => {
    const { w, records } = await busyLog();
    const t = w.client("R", "west");
    for (const record of records) expect(await begin(w, t, behind(record.dlsn))).toBe(record.seqNum);
    const before = (one: Dlsn, other: Dlsn) =>
      one.segment - other.segment || one.entry - other.entry || one.slot - other.slot;
    for (const place of [dlsn(1, 0, 9), dlsn(1, 50, 0), dlsn(2, 7, 3), dlsn(3, 0, 1), dlsn(99, 0, 0)]) {
      const expected = firstWhere(records, (record) => before(record.dlsn, place) >= 0);
      expect(await begin(w, t, behind(place)), JSON.stringify(place)).toBe(expected);
    }
  });

  test("so many before the tail, as many as there are", async () => {
    const { w, records } = await busyLog();
    const t = w.client("R", "west");
    for (const count of [0, 1, 5, records.length, records.length + 1, 9e15]) {
      expect(await begin(w, t, last(count))).toBe(Math.max(0, records.length - count));
    }
  });

  test("what was trimmed away is skipped, also when it is gone", async () => {
    const { w, records } = await busyLog();
    const trimPoint = 7;
    await w.trim(trimPoint);
    for (const gone of [false, true]) {
      if (gone) expect((await w.audit()).length).toBeGreaterThan(0);
      const t = w.client(`R${gone}`, "west");
      for (const place of [at(0), at(20), behind(dlsn(1, 0, 0)), last(100)]) {
        expect(await begin(w, t, place)).toBe(trimPoint);
      }
      for (const time of [90, 96, 300]) {
        const expected = firstWhere(records, ({ timestampMs }) => timestampMs >= time);
        expect(await begin(w, t, at(time))).toBe(Math.max(trimPoint, expected));
      }
    }
  });

  test("an empty log, and a sealed one", async () => {
    const w = await LogWorld.make();
    const t = w.client("T", "north");
    for (const place of [at(5), behind(dlsn(1, 0, 0)), last(3)]) expect(await begin(w, t, place)).toBe(0);
    await w.run(stamped(w.client("P"), 10, 20));
    await w.run(w.client("P").appends.seal(LOG));
    expect(await begin(w, t, at(15))).toBe(1);
    expect([await begin(w, t, at(99)), await begin(w, t, behind(dlsn(9, 0, 0)))]).toEqual([2, 2]);
    expect(await begin(w, t, last(1))).toBe(1);
  });

  test("a time or an offset that is none is refused", async () => {
    const w = await LogWorld.make();
    const t = w.client("T", "north");
    for (const place of [at(-1), at(1.5), last(-1)]) {
      await expect(begin(w, t, place)).rejects.toMatchObject({ code: "invalid_request" });
    }
  });
});

test("in a segment of 300 entries a time costs O(log) bookie reads", async () => {
  const w = await LogWorld.make();
  const p = w.client("P");
  const ENTRIES = 300;
  for (let count = 0; count < ENTRIES; count++) await w.run(stamped(p, 1_000 + 10 * count));
  for (const position of [0, 1, 77, 150, 298]) {
    const name = `cold${position}`;
    expect(await begin(w, w.client(name, "west"), at(1_000 + 10 * position))).toBe(position);
    expect(w.faults.count({ client: name, port: "bookie" })).toBeLessThan(2 * Math.log2(ENTRIES) + 10);
  }
});

describe("in a log of 10,000 segments", () => {
  const SEGMENTS = 10_000;
  const ENTRIES = 3;
  const RECORDS = 2;
  const perSegment = ENTRIES * RECORDS;
  /** The time of a record: two in a row share one. */
  const timeOf = (position: number) => 1_000 + 10 * Math.floor(position / 2);

  /** The log as its segments' writers left it, without the writing. */
  async function longLog() {
    const w = await LogWorld.make();
    const put = async (key: ItemKey, item: Item) => {
      await w.world.metadata.write(key, "absent", item, writeToken("story"));
    };
    const digest = new NodeDigest();
    const ownerRegion = w.client("P").ports.region;
    const stores = w.world.addresses.slice(0, 3).map(({ id }) => w.world.store(id));
    for (let index = 0; index < SEGMENTS; index++) {
      const id = ledgerId(1_000_000 + index);
      const first = index * perSegment;
      const fields = { ledgerId: id, digest: { type: "crc32" }, createdAtMs: 1 } as const;
      const ensemble = w.world.addresses.slice(0, w.world.replication.ensembleSize);
      const open = newLedger({ ...fields, replication: w.world.replication, ensemble });
      await put(ledgerKey(id), closeLedger(open, { lastEntry: entryId(ENTRIES - 1), length: 1 }));
      await put(segmentKey(w.log, seqNum(first)), {
        kind: "segment",
        number: segmentNumber(index + 1),
        ledgerId: id,
        ownerRegion,
        createdAtMs: 1,
      });
      for (let entry = 0; entry < ENTRIES; entry++) {
        const position = first + entry * RECORDS;
        const records = [0, 1].map((slot) => ({ ...recordOf("x"), timestampMs: timeOf(position + slot) }));
        const payload = encodeRecordSet(position as SeqNum, records);
        const place = { ledgerId: id, entryId: entryId(entry), lastAddConfirmed: NO_ENTRY };
        const header = { ...place, length: 1, tenure: tenure("t") };
        const sealed = { header, payload, digest: digest.compute({ type: "crc32" }, header, payload) };
        const key = { kind: "slot", ledgerId: id, entryId: entryId(entry) } as const;
        for (const store of stores) await store.put(key, { kind: "original", entry: sealed });
      }
    }
    return w;
  }

  test("any place is found with one query a binary digit, and fewer bookie reads", EXHAUSTIVE, async () => {
    const w = await longLog();
    const tail = SEGMENTS * perSegment;
    const digits = Math.ceil(Math.log2(tail));
    const places: [string, ReadPlace | SeqNum, number][] = [
      0, 1, 12_345, 29_999, 30_000, 59_990, 59_999,
    ].flatMap((position): [string, ReadPlace | SeqNum, number][] => {
      const inSegment = position % perSegment;
      const there = dlsn(
        Math.floor(position / perSegment) + 1,
        Math.floor(inSegment / RECORDS),
        inSegment % RECORDS,
      );
      return [
        [`time of ${position}`, at(timeOf(position)), position - (position % 2)],
        [`DLSN of ${position}`, behind(there), position],
        [`seq_num ${position}`, seqNum(position), position],
        [`${tail - position} before the tail`, last(tail - position), position],
      ];
    });
    let client = 0;
    for (const [what, from, expected] of places) {
      // A process that knows nothing of the log.
      const name = `cold${client++}`;
      const reader = w.client(name, "west");
      const { records } = await w.run(
        reader.reads.read({ log: logName(LOG), from, limit: 1, consistency: "strong" }),
      );
      expect(records[0]?.seqNum, what).toBe(expected);
      const count = (port: "metadata" | "bookie", call?: string) =>
        w.faults.count({ client: name, port, ...(call === undefined ? {} : { call }) });
      expect(count("metadata", "query"), what).toBeLessThanOrEqual(digits + 5);
      // The log's name and item, and a ledger's metadata for each segment that was looked into.
      expect(count("metadata"), what).toBeLessThanOrEqual(2 * digits + 10);
      expect(count("bookie"), what).toBeLessThanOrEqual(digits + 10);
    }
  });
});
