/**
 * A producer table as bytes, for the entries that carry a snapshot of it:
 *
 *      u8 version 1 · u64 the table's time in ms · u32 count of producers, least recently used first; each:
 *      id (u8 length, ASCII) · u64 epoch · u64 last used, in ms · u8 count of batches; each:
 *      u64 seq · u16 records · u32 content · u64 segment · u64 entry · u16 slot · u64 seq_num of the first
 *      record · u64 timestamp of the first · u64 timestamp of the last
 */
import type { EntryId, SegmentNumber, SeqNum } from "../../ids.ts";
import { Corruption, FieldReader, FieldWriter } from "../records/byte-fields.ts";
import { batchPositions, type KnownBatch, type KnownProducer, ProducerTable } from "./producer-table.ts";

const VERSION = 1;

export function encodeProducers(table: ProducerTable): Uint8Array {
  const writer = new FieldWriter();
  const producers = table.producers();
  writer.u8(VERSION);
  writer.u64(table.nowMs);
  writer.u32(producers.length);
  for (const producer of producers) writeProducer(writer, producer);
  return writer.bytes();
}

/** Throws `Corruption`. */
export function decodeProducers(bytes: Uint8Array): ProducerTable {
  const reader = new FieldReader(bytes);
  const version = reader.u8();
  if (version !== VERSION) throw new Corruption(`a snapshot of version ${version} is unknown`);
  const nowMs = reader.u64();
  const producers: KnownProducer[] = [];
  for (let left = reader.u32(); left > 0; left--) producers.push(readProducer(reader));
  if (!reader.isAtEnd) throw new Corruption("bytes follow its snapshot's last producer");
  return new ProducerTable(nowMs, producers);
}

function writeProducer(writer: FieldWriter, producer: KnownProducer): void {
  writer.text(producer.id);
  writer.u64(producer.epoch);
  writer.u64(producer.usedAtMs);
  writer.u8(producer.batches.length);
  for (const { seq, count, content, start, last } of producer.batches) {
    writer.u64(seq);
    writer.u16(count);
    writer.u32(content);
    writer.u64(start.dlsn.segment);
    writer.u64(start.dlsn.entry);
    writer.u16(start.dlsn.slot);
    writer.u64(start.seqNum);
    writer.u64(start.timestampMs);
    writer.u64(last.timestampMs);
  }
}

function readProducer(reader: FieldReader): KnownProducer {
  const id = reader.text();
  const epoch = reader.u64();
  const usedAtMs = reader.u64();
  const batches: KnownBatch[] = [];
  for (let left = reader.u8(); left > 0; left--) batches.push(readBatch(reader));
  if (batches.length === 0) throw new Corruption("its snapshot has a producer without a batch");
  return { id, epoch, usedAtMs, batches };
}

function readBatch(reader: FieldReader): KnownBatch {
  const seq = reader.u64();
  const count = reader.u16();
  const content = reader.u32();
  const segment = reader.u64() as SegmentNumber;
  const entry = reader.u64() as EntryId;
  const slot = reader.u16();
  const seqNum = reader.u64() as SeqNum;
  const start = { seqNum, dlsn: { segment, entry, slot }, timestampMs: reader.u64() };
  return { seq, count, content, ...batchPositions(start, count, reader.u64()) };
}
