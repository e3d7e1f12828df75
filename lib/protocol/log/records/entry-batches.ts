/**
 * What an entry says of its batches beside their records: where one ends and the next begins, who sent each,
 * and where the state of all senders can be read. It stands between the record set's head and its records, in
 * the order of its flags:
 *
 *      flag 1, batches      u16 count; for each: u16 records, u8 senders (0 or 1), and if there is one: its
 *                           id (u8 length, ASCII), u64 epoch, u64 seq, u32 content, u64 arrival in ms
 *      flag 2, producers    u64 the entry of this ledger with the last snapshot before or in this entry
 *      flag 4, snapshot     u32 length and bytes: the senders as they were before this entry
 *
 * Without flag 1 all records are one batch of no sender. Without flag 2 no entry of the ledger up to this one
 * had a sender, and the log remembered none.
 */
import { assert } from "../../assert.ts";
import type { EntryId } from "../../ids.ts";
import { Corruption, type FieldReader, FieldWriter } from "./byte-fields.ts";
import type { Sender } from "./record.ts";

/** The sender as an entry names it. */
export interface BatchSender extends Sender {
  /** A checksum of bodies and headers: distinguishes a repetition from another batch under the same seq. */
  readonly content: number;
  /** Wall time in ms of the process that took the append. */
  readonly arrivedAtMs: number;
}

export interface EntryBatch {
  readonly count: number;
  readonly sender?: BatchSender;
}

export interface EntryBatches {
  /** Empty in a control entry. */
  readonly batches: readonly EntryBatch[];
  readonly producersAt?: EntryId;
  /** Present in the very entry that `producersAt` names. */
  readonly snapshot?: Uint8Array;
}

const BATCHES = 1;
const PRODUCERS = 2;
const SNAPSHOT = 4;
export const FLAGS_KNOWN = BATCHES | PRODUCERS | SNAPSHOT;

/** The flags and the bytes behind the head. */
export function encodeEntryBatches(entry: EntryBatches): {
  readonly flags: number;
  readonly bytes: Uint8Array;
} {
  const { batches, producersAt, snapshot } = entry;
  assert(snapshot === undefined || producersAt !== undefined, "an entry with a snapshot names it");
  const isPlain = batches.length <= 1 && batches.every(({ sender }) => sender === undefined);
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
export function readEntryBatches(reader: FieldReader, flags: number, count: number): EntryBatches {
  if ((flags & SNAPSHOT) !== 0 && (flags & PRODUCERS) === 0)
    throw new Corruption("its snapshot has no place");
  const batches = (flags & BATCHES) === 0 ? plainBatch(count) : readBatches(reader);
  const sum = batches.reduce((total, batch) => total + batch.count, 0);
  if (sum !== count) throw new Corruption(`its batches hold ${sum} records and it has ${count}`);
  return {
    batches,
    ...((flags & PRODUCERS) === 0 ? {} : { producersAt: reader.u64() as EntryId }),
    ...((flags & SNAPSHOT) === 0 ? {} : { snapshot: reader.raw(reader.u32()) }),
  };
}

function plainBatch(count: number): readonly EntryBatch[] {
  return count === 0 ? [] : [{ count }];
}

function writeBatch(writer: FieldWriter, { count, sender }: EntryBatch): void {
  assert(count > 0, "a batch holds at least one record");
  writer.u16(count);
  writer.u8(sender === undefined ? 0 : 1);
  if (sender === undefined) return;
  writer.text(sender.id);
  writer.u64(sender.epoch);
  writer.u64(sender.seq);
  writer.u32(sender.content);
  writer.u64(sender.arrivedAtMs);
}

function readBatches(reader: FieldReader): readonly EntryBatch[] {
  const batches: EntryBatch[] = [];
  for (let left = reader.u16(); left > 0; left--) {
    const count = reader.u16();
    if (count === 0) throw new Corruption("a batch of it holds no record");
    const senders = reader.u8();
    if (senders > 1) throw new Corruption(`a batch of it has ${senders} senders`);
    batches.push(senders === 0 ? { count } : { count, sender: readSender(reader) });
  }
  return batches;
}

function readSender(reader: FieldReader): BatchSender {
  const id = reader.text();
  const epoch = reader.u64();
  const seq = reader.u64();
  const content = reader.u32();
  return { id, epoch, seq, content, arrivedAtMs: reader.u64() };
}
