/**
 * Many records in the payload of one entry, as bytes. A batch is atomic because it lies in one entry, alone
 * or with others (group commit).
 *
 *      0  u8   version: 1
 *      1  u8   flags: what else stands in front of the records (entry-batches.ts). A reader that meets a
 *              flag it does not know refuses the entry rather than misread it.
 *      2  u16  count of records; 0 is a control entry, which has no records
 *      4  u64  seq_num of the first record; of the next record ever if there is none here
 *     12  u64  timestamp of the first record in ms; the log's last timestamp if there is none here
 *     20  u64  timestamp of the last record in ms; likewise
 *     28       what the flags announce, then the records, one after another:
 *              u48  timestamp minus the set's first timestamp
 *              u8   count of headers
 *              u32  bytes of the body
 *              per header: u16 bytes of the name, u16 bytes of the value, name, value
 *              body
 *
 * Big-endian; nothing may follow the last record. Both timestamps and the seq_num stand in front, so that
 * where a segment ends, and which entry holds a seq_num, is known without reading the records.
 */
import { assert } from "../../assert.ts";
import { FencelineError } from "../../errors.ts";
import type { SeqNum } from "../../ids.ts";
import { Corruption, FieldReader, readU64, writeU64 } from "./byte-fields.ts";
import { type EntryBatches, encodeEntryBatches, FLAGS_KNOWN, readEntryBatches } from "./entry-batches.ts";
import type { RecordHeader, RecordInput } from "./record.ts";

export interface StoredRecord {
  readonly timestampMs: number;
  readonly headers: readonly RecordHeader[];
  readonly body: Uint8Array;
}

/** What stands in front of the records. */
interface RecordSetHead extends EntryBatches {
  readonly firstSeqNum: SeqNum;
  readonly count: number;
  readonly firstTimestampMs: number;
  readonly lastTimestampMs: number;
}

export interface RecordSet extends RecordSetHead {
  readonly records: readonly StoredRecord[];
}

const VERSION = 1;
const HEAD_BYTES = 28;
const RECORD_BYTES = 11;
const HEADER_BYTES = 4;
const COUNT_MAX = 0xffff;
const HEADER_COUNT_MAX = 0xff;
const HEADER_PART_BYTES_MAX = 0xffff;
const U32 = 2 ** 32;
const DELTA_MAX = 2 ** 48 - 1;

/** The seq_num after the set's last record. A control entry's is its first: it takes none. */
export function nextSeqNumOf(head: RecordSetHead): SeqNum {
  return (head.firstSeqNum + head.count) as SeqNum;
}

/** What a record counts for against byte limits: 8 + 2 per header + header bytes + body. */
export function meteredBytes(record: Pick<RecordInput, "headers" | "body">): number {
  let bytes = 8 + record.body.length;
  for (const [name, value] of record.headers) bytes += 2 + name.length + value.length;
  return bytes;
}

/**
 * The bytes of a set of at least one record whose timestamps do not fall; one batch of no sender unless
 * `entry` says otherwise.
 */
export function encodeRecordSet(
  firstSeqNum: SeqNum,
  records: readonly StoredRecord[],
  entry: EntryBatches = { batches: [] },
): Uint8Array {
  const first = records[0];
  const last = records.at(-1);
  assert(first !== undefined && last !== undefined, "a record set without records is a control entry");
  assert(records.length <= COUNT_MAX, `a record set holds at most ${COUNT_MAX} records`);
  const recordBytes = records.reduce((sum, record) => sum + encodedBytes(record), 0);
  const times = { firstTimestampMs: first.timestampMs, lastTimestampMs: last.timestampMs };
  const front = { firstSeqNum, count: records.length, ...times, ...entry };
  const { bytes, view, recordsAt } = withFront(front, recordBytes);
  let offset = recordsAt;
  let timestampMs = first.timestampMs;
  for (const record of records) {
    assert(record.timestampMs >= timestampMs, "timestamps of a record set do not fall");
    timestampMs = record.timestampMs;
    offset = writeRecord(bytes, view, offset, record, timestampMs - first.timestampMs);
  }
  return bytes;
}

/**
 * The bytes of a control entry: it takes no seq_num and readers never see it; settling appends it (rule 14).
 */
export function encodeControlEntry(
  nextSeqNum: SeqNum,
  lastTimestampMs: number,
  entry: EntryBatches = { batches: [] },
): Uint8Array {
  const times = { firstTimestampMs: lastTimestampMs, lastTimestampMs };
  return withFront({ firstSeqNum: nextSeqNum, count: 0, ...times, ...entry }, 0).bytes;
}

/** Reads what stands in front of the records. `where` names the entry in errors. Throws `data_corrupt`. */
export function decodeRecordSetHead(payload: Uint8Array, where = "the payload"): RecordSetHead {
  return located(where, () => readHead(payload).head);
}

/** Reads the whole set; headers and bodies are views of `payload`. Throws `data_corrupt`. */
export function decodeRecordSet(payload: Uint8Array, where = "the payload"): RecordSet {
  return located(where, () => readSet(payload));
}

function located<T>(where: string, decode: () => T): T {
  try {
    return decode();
  } catch (error) {
    if (!(error instanceof Corruption)) throw error;
    throw new FencelineError("data_corrupt", { message: `${where} is no record set: ${error.message}` });
  }
}

function readHead(payload: Uint8Array): { readonly head: RecordSetHead; readonly recordsAt: number } {
  if (payload.length < HEAD_BYTES) throw corrupt(`${payload.length} bytes are too few`);
  const view = viewOf(payload);
  if (view.getUint8(0) !== VERSION) throw corrupt(`version ${view.getUint8(0)} is unknown`);
  const flags = view.getUint8(1);
  if ((flags & ~FLAGS_KNOWN) !== 0) throw corrupt(`flags ${flags} are unknown`);
  const count = view.getUint16(2);
  const reader = new FieldReader(payload, HEAD_BYTES);
  const head = {
    firstSeqNum: readU64(view, 4) as SeqNum,
    count,
    firstTimestampMs: readU64(view, 12),
    lastTimestampMs: readU64(view, 20),
    ...readEntryBatches(reader, flags, count),
  };
  if (head.lastTimestampMs < head.firstTimestampMs) throw corrupt("its timestamps fall");
  if (!Number.isSafeInteger(nextSeqNumOf(head))) throw corrupt("its seq_nums leave the safe integers");
  return { head, recordsAt: reader.offset };
}

function readSet(payload: Uint8Array): RecordSet {
  const { head, recordsAt } = readHead(payload);
  const view = viewOf(payload);
  const records: StoredRecord[] = [];
  let offset = recordsAt;
  let timestampMs = head.firstTimestampMs;
  for (let slot = 0; slot < head.count; slot++) {
    const [record, next] = readRecord(payload, view, offset, head.firstTimestampMs);
    if (record.timestampMs < timestampMs) throw corrupt(`the timestamp of slot ${slot} falls`);
    timestampMs = record.timestampMs;
    records.push(record);
    offset = next;
  }
  if (offset !== payload.length) throw corrupt(`${payload.length - offset} bytes follow its last record`);
  if (timestampMs !== head.lastTimestampMs) throw corrupt("its last timestamp is not its last record's");
  return { ...head, records };
}

function encodedBytes(record: StoredRecord): number {
  let bytes = RECORD_BYTES + record.body.length;
  for (const [name, value] of record.headers) bytes += HEADER_BYTES + name.length + value.length;
  return bytes;
}

/** Room for the records, with everything that stands in front of them. */
function withFront(front: RecordSetHead, recordBytes: number) {
  const { flags, bytes: announced } = encodeEntryBatches(front);
  const recordsAt = HEAD_BYTES + announced.length;
  const bytes = new Uint8Array(recordsAt + recordBytes);
  const view = new DataView(bytes.buffer);
  view.setUint8(0, VERSION);
  view.setUint8(1, flags);
  view.setUint16(2, front.count);
  writeU64(view, 4, front.firstSeqNum);
  writeU64(view, 12, front.firstTimestampMs);
  writeU64(view, 20, front.lastTimestampMs);
  bytes.set(announced, HEAD_BYTES);
  return { bytes, view, recordsAt };
}

function writeRecord(
  bytes: Uint8Array,
  view: DataView,
  start: number,
  record: StoredRecord,
  delta: number,
): number {
  assert(delta <= DELTA_MAX, `a timestamp is at most ${DELTA_MAX} ms after the first of its set`);
  assert(record.headers.length <= HEADER_COUNT_MAX, `a record has at most ${HEADER_COUNT_MAX} headers`);
  view.setUint16(start, Math.floor(delta / U32));
  view.setUint32(start + 2, delta % U32);
  view.setUint8(start + 6, record.headers.length);
  view.setUint32(start + 7, record.body.length);
  let offset = start + RECORD_BYTES;
  for (const [name, value] of record.headers) {
    const longest = Math.max(name.length, value.length);
    assert(longest <= HEADER_PART_BYTES_MAX, `a header has at most ${HEADER_PART_BYTES_MAX} bytes a side`);
    view.setUint16(offset, name.length);
    view.setUint16(offset + 2, value.length);
    bytes.set(name, offset + HEADER_BYTES);
    bytes.set(value, offset + HEADER_BYTES + name.length);
    offset += HEADER_BYTES + name.length + value.length;
  }
  bytes.set(record.body, offset);
  return offset + record.body.length;
}

function readRecord(
  payload: Uint8Array,
  view: DataView,
  start: number,
  firstTimestampMs: number,
): [record: StoredRecord, next: number] {
  let offset = start + RECORD_BYTES;
  if (offset > payload.length) throw corrupt("it is cut off within a record");
  const delta = view.getUint16(start) * U32 + view.getUint32(start + 2);
  const headerCount = view.getUint8(start + 6);
  const bodyBytes = view.getUint32(start + 7);
  const headers: RecordHeader[] = [];
  for (let index = 0; index < headerCount; index++) {
    if (offset + HEADER_BYTES > payload.length) throw corrupt("it is cut off within a header");
    const valueStart = offset + HEADER_BYTES + view.getUint16(offset);
    const end = valueStart + view.getUint16(offset + 2);
    if (end > payload.length) throw corrupt("it is cut off within a header");
    headers.push([payload.subarray(offset + HEADER_BYTES, valueStart), payload.subarray(valueStart, end)]);
    offset = end;
  }
  const end = offset + bodyBytes;
  if (end > payload.length) throw corrupt("it is cut off within a body");
  const body = payload.subarray(offset, end);
  return [{ timestampMs: firstTimestampMs + delta, headers, body }, end];
}

function viewOf(payload: Uint8Array): DataView {
  return new DataView(payload.buffer, payload.byteOffset, payload.byteLength);
}

function corrupt(reason: string): Corruption {
  return new Corruption(reason);
}
