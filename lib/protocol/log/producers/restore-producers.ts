/**
 * Reads a log's producers back from its entries: the last snapshot and what follows it, in one ledger.
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
import { FencelineError, insufficientRegions } from "../../errors.ts";
import { type EntryId, entryId, type SegmentNumber, type SeqNum } from "../../ids.ts";
import type { LedgerPorts } from "../../ledger/ledger-ports.ts";
import { readAnyCopy } from "../../ledger/read-any-copy.ts";
import { fragmentAt, type LedgerMetadata } from "../../ledger-metadata.ts";
import { limits } from "../../limits.ts";
import { writeSet } from "../../write-set.ts";
import { Corruption } from "../records/byte-fields.ts";
import type { BatchSender } from "../records/entry-batches.ts";
import { decodeRecordSet } from "../records/record-set.ts";
import { decodeProducers } from "./producer-snapshot.ts";
import { batchPositions, type KnownBatch, ProducerTable } from "./producer-table.ts";

/** Where a log's producers are written down. */
export interface ProducersIn {
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
  where: ProducersIn | undefined,
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
  const table = where.known ?? present(entries[0]?.snapshot, `RPR1: entry ${from} has a snapshot`);
  for (const { marks } of entries) for (const { sender, batch } of marks) table.note(sender, batch);
  return table;
}

/** What one entry says; its records are let go of. */
interface EntryMarks {
  readonly snapshot?: ProducerTable;
  readonly marks: readonly { readonly sender: BatchSender; readonly batch: KnownBatch }[];
}

async function readMarks(ports: LedgerPorts, where: ProducersIn, entry: EntryId): Promise<EntryMarks> {
  const { ledger, segment, from } = where;
  const { ledgerId, replication } = ledger;
  const set = writeSet(entry, fragmentAt(ledger, entry), replication);
  const copy = await readAnyCopy(ports, ledger, entry, set);
  const name = `entry ${entry} of ledger ${ledgerId}`;
  if (copy.kind === "none") {
    throw insufficientRegions(`${name}, which tells of producers, cannot be read`, copy.verdicts, "none");
  }
  const { firstSeqNum, batches, records, snapshot } = decodeRecordSet(copy.entry.payload, name);
  const marks: { sender: BatchSender; batch: KnownBatch }[] = [];
  let slot = 0;
  for (const { count, sender } of batches) {
    const timestampOf = (index: number) => present(records[index], "batches cover the records").timestampMs;
    if (sender !== undefined) {
      const dlsn = { segment, entry, slot };
      const start = { seqNum: (firstSeqNum + slot) as SeqNum, dlsn, timestampMs: timestampOf(slot) };
      const places = batchPositions(start, count, timestampOf(slot + count - 1));
      const { seq, content } = sender;
      marks.push({ sender, batch: { seq, count, content, ...places } });
    }
    slot += count;
  }
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
