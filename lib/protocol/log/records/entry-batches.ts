/**
 * What an entry says of its batches beside their records: where one ends and the next begins, who produced
 * each, and where the producers' state can be read. It stands between the record set's head and its records,
 * in the order of its flags:
 *
 *      flag 1, batches      u16 count; for each: u16 records, u8 kind of producer (0 none), and if there is
 *                           one: its id (u8 length, ASCII), u64 epoch, u64 seq, u32 content, u64 arrival
 *                           in ms
 *      flag 2, producers    u64 the entry of this ledger with the last snapshot before or in this entry
 *      flag 4, snapshot     u32 length and bytes: the producers as they were before this entry
 *      flag 8, tokens       for each batch: the token of its append (u8 length, ASCII), of length 0 for none
 *
 * Without flag 1 all records are one batch of no producer. Without flag 2 no entry of the ledger up to this
 * one had a producer, nor had the log any that it remembered. Without flag 8 no append had a token.
 */
import { assert } from "../../assert.ts";
import type { EntryId } from "../../ids.ts";
import { Corruption, type FieldReader, FieldWriter } from "./byte-fields.ts";

/** "key": an append by Idempotency-Key, a producer of one batch. The two kinds share no ids. */
export type ProducerKind = "producer" | "key";

/** Who produced a batch, and which of its batches it is. */
export interface BatchProducer {
  readonly kind: ProducerKind;
  readonly id: string;
  readonly epoch: number;
  /** Of the batch's first record; each record takes one. */
  readonly seq: number;
  /** A checksum of bodies and headers: tells a retry from another batch under the same seq. */
  readonly content: number;
  /** Wall time in ms of the process that took the append. */
  readonly arrivedAtMs: number;
}

export interface EntryBatch {
  readonly count: number;
  readonly producer?: BatchProducer;
  /** Of the append that it came with: the same in all attempts at it, and in no other append. */
  readonly appendToken?: string;
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
const TOKENS = 8;
export const FLAGS_KNOWN = BATCHES | PRODUCERS | SNAPSHOT | TOKENS;

const KINDS: readonly (ProducerKind | undefined)[] = [undefined, "producer", "key"];

/** The flags and the bytes behind the head. */
export function encodeEntryBatches(entry: EntryBatches): {
  readonly flags: number;
  readonly bytes: Uint8Array;
} {
  const { batches, producersAt, snapshot } = entry;
  assert(snapshot === undefined || producersAt !== undefined, "an entry with a snapshot names it");
  const writer = new FieldWriter();
  const isPlain = batches.length <= 1 && batches.every(({ producer }) => producer === undefined);
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
  if (batches.some(({ appendToken }) => appendToken !== undefined)) {
    flags |= TOKENS;
    for (const { appendToken = "" } of batches) writer.text(appendToken);
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
  const producers = {
    ...((flags & PRODUCERS) === 0 ? {} : { producersAt: reader.u64() as EntryId }),
    ...((flags & SNAPSHOT) === 0 ? {} : { snapshot: reader.raw(reader.u32()) }),
  };
  return { batches: (flags & TOKENS) === 0 ? batches : withTokens(reader, batches), ...producers };
}

function withTokens(reader: FieldReader, batches: readonly EntryBatch[]): readonly EntryBatch[] {
  const tokens = batches.map(() => reader.text());
  if (tokens.every((token) => token === "")) throw new Corruption("it announces tokens and has none");
  return batches.map((batch, index) => {
    const appendToken = tokens[index];
    return appendToken === undefined || appendToken === "" ? batch : { ...batch, appendToken };
  });
}

function plainBatch(count: number): readonly EntryBatch[] {
  return count === 0 ? [] : [{ count }];
}

function writeBatch(writer: FieldWriter, { count, producer }: EntryBatch): void {
  assert(count > 0, "a batch holds at least one record");
  writer.u16(count);
  writer.u8(KINDS.indexOf(producer?.kind));
  if (producer === undefined) return;
  writer.text(producer.id);
  writer.u64(producer.epoch);
  writer.u64(producer.seq);
  writer.u32(producer.content);
  writer.u64(producer.arrivedAtMs);
}

function readBatches(reader: FieldReader): readonly EntryBatch[] {
  const batches: EntryBatch[] = [];
  for (let left = reader.u16(); left > 0; left--) {
    const count = reader.u16();
    if (count === 0) throw new Corruption("a batch of it holds no record");
    const code = reader.u8();
    if (code >= KINDS.length) throw new Corruption(`a producer of kind ${code} is unknown`);
    const kind = KINDS[code];
    if (kind === undefined) batches.push({ count });
    else batches.push({ count, producer: { kind, ...readProducer(reader) } });
  }
  return batches;
}

function readProducer(reader: FieldReader): Omit<BatchProducer, "kind"> {
  const id = reader.text();
  const epoch = reader.u64();
  const seq = reader.u64();
  const content = reader.u32();
  return { id, epoch, seq, content, arrivedAtMs: reader.u64() };
}
