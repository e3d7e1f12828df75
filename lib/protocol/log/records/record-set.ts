/**
 * Many records in the payload of one entry, as bytes. A batch is atomic because it lies in one entry, alone
 * or with others (group commit).
 *
 *      0  u8   version: 1
 *      1  u8   flags: what else stands in front of the records. A reader that meets a flag it does not know
 *              refuses the entry rather than misread it.
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
 *
 * The flags announce what the entry says of its batches: where one ends and the next begins, who sent each,
 * and where the state of all senders can be read. In their order:
 *
 *      flag 1, batches      u16 count; for each: u16 records, u8 what it has (1 a sender, 2 a ticket), then
 *                           the sender: id (u8 length, ASCII), u64 epoch, u64 seq, u32 content, u64 arrival
 *                           in ms; and the ticket: birth, id (as texts), u64 revision, u64 segment number
 *      flag 2, producers    u64 the entry of this ledger with the last snapshot before or in this entry
 *      flag 4, snapshot     u32 length and bytes: the senders as they were before this entry
 *
 * Without flag 1 all records are one batch of no sender and no ticket. A batch without records stands in a
 * control entry alone, and has a ticket. Without flag 2 no entry of the ledger up to this one
 * had a sender, and the log remembered none.
 */
import { assert } from "../../assert.ts";
import { FencelineError } from "../../errors.ts";
import {
  type EntryId,
  type LeaseBirth,
  leaseBirth,
  type SegmentNumber,
  type SeqNum,
  segmentNumber,
  type TicketId,
  ticketId,
} from "../../ids.ts";
import { Corruption, FieldReader, FieldWriter, U32, writeU64 } from "./byte-fields.ts";
import type { RecordInput, Sender, StoredRecord } from "./record.ts";

/** The sender as an entry names it. */
export interface BatchSender extends Sender {
  /** A checksum of bodies and headers: distinguishes a repetition from another batch under the same seq. */
  readonly content: number;
  /** Wall time in ms of the process that took the append. */
  readonly arrivedAtMs: number;
}

/**
 * The ticket of a batch that was posted (rule 37a), and the segment that the entry belongs to, so that an
 * answer can be made of the entry alone. Its tenure is the entry's.
 */
interface BatchTicket {
  readonly birth: LeaseBirth;
  readonly id: TicketId;
  readonly revision: number;
  readonly segment: SegmentNumber;
}

export interface EntryBatch {
  /** Records; 0 only of a posted control entry. */
  readonly count: number;
  readonly sender?: BatchSender;
  readonly ticket?: BatchTicket;
}

export interface EntryBatches {
  /** Of a control entry: none, or one with a ticket. */
  readonly batches: readonly EntryBatch[];
  readonly producersAt?: EntryId;
  /** Present in the very entry that `producersAt` names. */
  readonly snapshot?: Uint8Array;
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
const DELTA_MAX = 2 ** 48 - 1;

const BATCHES = 1;
const PRODUCERS = 2;
const SNAPSHOT = 4;

/** What a batch has. */
const SENDER = 1;
const TICKET = 2;

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
  const times = { firstTimestampMs: first.timestampMs, lastTimestampMs: last.timestampMs };
  const recordBytes = records.reduce((sum, record) => sum + encodedBytes(record), 0);
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

function readHead(payload: Uint8Array): { readonly head: RecordSetHead; readonly reader: FieldReader } {
  if (payload.length < HEAD_BYTES) throw new Corruption(`${payload.length} bytes are too few`);
  const reader = new FieldReader(payload);
  const version = reader.u8();
  if (version !== VERSION) throw new Corruption(`version ${version} is unknown`);
  const flags = reader.u8();
  if ((flags & ~(BATCHES | PRODUCERS | SNAPSHOT)) !== 0) throw new Corruption(`flags ${flags} are unknown`);
  const count = reader.u16();
  const head = {
    firstSeqNum: reader.u64() as SeqNum,
    count,
    firstTimestampMs: reader.u64(),
    lastTimestampMs: reader.u64(),
    ...readEntryBatches(reader, flags, count),
  };
  if (head.lastTimestampMs < head.firstTimestampMs) throw new Corruption("its timestamps fall");
  if (!Number.isSafeInteger(nextSeqNumOf(head))) throw new Corruption("its seq_nums leave the safe integers");
  return { head, reader };
}

function readSet(payload: Uint8Array): RecordSet {
  const { head, reader } = readHead(payload);
  const records: StoredRecord[] = [];
  let timestampMs = head.firstTimestampMs;
  for (let slot = 0; slot < head.count; slot++) {
    const record = readRecord(reader, head.firstTimestampMs);
    if (record.timestampMs < timestampMs) throw new Corruption(`the timestamp of slot ${slot} falls`);
    timestampMs = record.timestampMs;
    records.push(record);
  }
  if (reader.leftBytes > 0) throw new Corruption(`${reader.leftBytes} bytes follow its last record`);
  if (timestampMs !== head.lastTimestampMs)
    throw new Corruption("its last timestamp is not its last record's");
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

/** What an entry says of its batches: the flags, and the bytes behind the head. */
function encodeEntryBatches({ batches, producersAt, snapshot }: EntryBatches) {
  assert(snapshot === undefined || producersAt !== undefined, "an entry with a snapshot names it");
  const isPlain = batches.length <= 1 && batches.every((batch) => holdingsOf(batch) === 0);
  if (isPlain && producersAt === undefined) return { flags: 0, bytes: new Uint8Array(0) };
  const writer = new FieldWriter();
  let flags = 0;
  if (!isPlain) {
    flags |= BATCHES;
    writer.u16(batches.length);
    for (const batch of batches) writeBatch(writer, batch);
  }
  if (producersAt !== undefined) {
    flags |= PRODUCERS;
    writer.u64(producersAt);
  }
  if (snapshot !== undefined) {
    flags |= SNAPSHOT;
    writer.u32(snapshot.length);
    writer.raw(snapshot);
  }
  return { flags, bytes: writer.bytes() };
}

/** `count`: records of the entry. Throws `Corruption`. */
function readEntryBatches(reader: FieldReader, flags: number, count: number): EntryBatches {
  if ((flags & SNAPSHOT) !== 0 && (flags & PRODUCERS) === 0)
    throw new Corruption("its snapshot has no place");
  const plain = count === 0 ? [] : [{ count }];
  const batches = (flags & BATCHES) === 0 ? plain : readBatches(reader);
  const sum = batches.reduce((total, batch) => total + batch.count, 0);
  if (sum !== count) throw new Corruption(`its batches hold ${sum} records and it has ${count}`);
  if (batches.length > 1 && batches.some((batch) => batch.count === 0)) {
    throw new Corruption("a batch without records stands among others");
  }
  return {
    batches,
    ...((flags & PRODUCERS) === 0 ? {} : { producersAt: reader.u64() as EntryId }),
    ...((flags & SNAPSHOT) === 0 ? {} : { snapshot: reader.raw(reader.u32()) }),
  };
}

function holdingsOf({ sender, ticket }: EntryBatch): number {
  return (sender === undefined ? 0 : SENDER) | (ticket === undefined ? 0 : TICKET);
}

function writeBatch(writer: FieldWriter, batch: EntryBatch): void {
  const { count, sender, ticket } = batch;
  assert(count > 0 || ticket !== undefined, "a batch without a ticket holds at least one record");
  writer.u16(count);
  writer.u8(holdingsOf(batch));
  if (sender !== undefined) {
    writer.text(sender.id);
    writer.u64(sender.epoch);
    writer.u64(sender.seq);
    writer.u32(sender.content);
    writer.u64(sender.arrivedAtMs);
  }
  if (ticket === undefined) return;
  writer.text(ticket.birth);
  writer.text(ticket.id);
  writer.u64(ticket.revision);
  writer.u64(ticket.segment);
}

function readBatches(reader: FieldReader): readonly EntryBatch[] {
  const batches: EntryBatch[] = [];
  for (let left = reader.u16(); left > 0; left--) {
    const count = reader.u16();
    const holdings = reader.u8();
    if (holdings > (SENDER | TICKET)) throw new Corruption(`a batch of it has unknown things (${holdings})`);
    if (count === 0 && (holdings & TICKET) === 0) throw new Corruption("a batch of it holds no record");
    batches.push({
      count,
      ...((holdings & SENDER) === 0 ? {} : { sender: readSender(reader) }),
      ...((holdings & TICKET) === 0 ? {} : { ticket: readTicket(reader) }),
    });
  }
  return batches;
}

function readTicket(reader: FieldReader): BatchTicket {
  const birth = leaseBirth(reader.text());
  const id = ticketId(reader.text());
  const revision = reader.u64();
  const segment = reader.u64();
  if (segment === 0) throw new Corruption("a ticket of it names no segment");
  return { birth, id, revision, segment: segmentNumber(segment) };
}

function readSender(reader: FieldReader): BatchSender {
  const id = reader.text();
  const epoch = reader.u64();
  const seq = reader.u64();
  const content = reader.u32();
  return { id, epoch, seq, content, arrivedAtMs: reader.u64() };
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

function readRecord(reader: FieldReader, firstTimestampMs: number): StoredRecord {
  reader.part = "a record";
  const timestampMs = firstTimestampMs + reader.u48();
  const headerCount = reader.u8();
  const bodyBytes = reader.u32();
  reader.part = "a header";
  const headers = Array.from({ length: headerCount }, () => {
    const nameBytes = reader.u16();
    const valueBytes = reader.u16();
    return [reader.raw(nameBytes), reader.raw(valueBytes)] as const;
  });
  reader.part = "a body";
  return { timestampMs, headers, body: reader.raw(bodyBytes) };
}
