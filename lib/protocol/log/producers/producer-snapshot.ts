/**
 * A producer table as bytes, for the entries that carry a snapshot of it:
 *
 *      u8 version 1 · u64 the table's time in ms · u32 count of producers, least recently used first; each:
 *      id (u8 length, ASCII) · u64 epoch · u64 last used, in ms · u8 count of batches; each:
 *      u64 seq · u16 records · u32 content · u64 segment · u64 entry · u16 slot · u64 seq_num of the first
 *      record · u64 timestamp of the first · u64 timestamp of the last
 *
 * A log's producers are read back from its entries: the last snapshot and what follows it, in one ledger.
 *
 *     entry n (snapshot of what was before n) · n+1 · ... · n+k      k < appendLimits.producerSnapshotEntries
 *
 * RPR1 An entry that says nothing of producers ends a ledger that had none; else it names the snapshot (each
 *      entry does), and the first entry of a ledger whose log remembers producers has one.
 * RPR2 What is read is acknowledged, or closed by recovery: it never changes. So entries that recovery
 *      restored count, and those that were lost do not.
 * RPR3 The table is changed only when everything is read.
 */
import { present } from "../../assert.ts";
import { FencelineError } from "../../errors.ts";
import { type EntryId, entryId, type SegmentNumber, type SeqNum } from "../../ids.ts";
import type { LedgerPorts } from "../../ledger/ledger-ports.ts";
import { readEntry } from "../../ledger/read-slots.ts";
import type { LedgerMetadata } from "../../ledger-metadata.ts";
import { limits } from "../../limits.ts";
import { batchPlaces, placedBatches } from "../records/batch-places.ts";
import { Corruption, FieldReader, FieldWriter } from "../records/byte-fields.ts";
import { type BatchSender, decodeRecordSet } from "../records/record-set.ts";
import { type KnownBatch, type KnownProducer, ProducerTable } from "./producer-table.ts";

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
  if (reader.leftBytes > 0) throw new Corruption("bytes follow its snapshot's last producer");
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
  return { seq, count, content, ...batchPlaces(start, count, reader.u64()) };
}

/** Where a log's producers are written down. */
export interface ProducerSource {
  readonly ledger: LedgerMetadata;
  /** Of the ledger's segment. */
  readonly segment: SegmentNumber;
  /** From here on, with a snapshot unless `known` has everything before it. */
  readonly from: EntryId;
  /** Closed or acknowledged. */
  readonly through: EntryId;
  readonly known?: ProducerTable;
}

/** Throws `insufficient_regions` if an entry cannot be read, `data_corrupt` if it is none of ours. */
export async function restoreProducers(
  ports: LedgerPorts,
  where: ProducerSource | undefined,
): Promise<ProducerTable> {
  if (where === undefined) return new ProducerTable();
  const { ledger, from, through } = where;
  const entries: EntryMarks[] = [];
  for (let start: number = from; start <= through; start += limits.recoveryReadWindow) {
    const count = Math.min(limits.recoveryReadWindow, through - start + 1);
    const window = Array.from({ length: count }, (_, index) => entryId(start + index));
    entries.push(...(await Promise.all(window.map((entry) => readMarks(ports, where, entry)))));
  }
  if (entries.length > 0) {
    const { ledgerId } = ledger;
    ports.trace.emit({ event: "producers-restored", ledgerId, firstEntry: from, lastEntry: through });
  }
  const table = where.known?.copy() ?? present(entries[0]?.snapshot, `RPR1: entry ${from} has a snapshot`);
  for (const { marks } of entries) for (const { sender, batch } of marks) table.note(sender, batch);
  return table;
}

/** What one entry says; its records are not kept. */
interface EntryMarks {
  readonly snapshot?: ProducerTable;
  readonly marks: readonly { readonly sender: BatchSender; readonly batch: KnownBatch }[];
}

async function readMarks(ports: LedgerPorts, where: ProducerSource, entry: EntryId): Promise<EntryMarks> {
  const { ledger, segment, from } = where;
  const name = `entry ${entry} of ledger ${ledger.ledgerId}`;
  const unread = `${name}, which tells of producers, cannot be read`;
  const { payload } = await readEntry(ports, ledger, entry, unread);
  const set = decodeRecordSet(payload, name);
  const { snapshot } = set;
  const marks = placedBatches(set, { segment, entry }).flatMap(({ batch: { sender, count }, ...places }) => {
    if (sender === undefined) return [];
    const { seq, content } = sender;
    return [{ sender, batch: { seq, count, content, ...places } }];
  });
  if (snapshot === undefined || entry !== from || where.known !== undefined) return { marks };
  return { marks, snapshot: decoded(snapshot, name) };
}

function decoded(snapshot: Uint8Array, name: string): ProducerTable {
  try {
    return decodeProducers(snapshot);
  } catch (error) {
    if (!(error instanceof Corruption)) throw error;
    throw new FencelineError("data_corrupt", { message: `${name}: ${error.message}` });
  }
}
