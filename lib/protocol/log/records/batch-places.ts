/** Where batches stand in the log. */
import { present } from "../../assert.ts";
import type { SeqNum } from "../../ids.ts";
import type { Dlsn, RecordPosition } from "./record.ts";
import type { EntryBatch, RecordSet } from "./record-set.ts";

/** Where the first and the last record of a batch stand. */
interface BatchPlaces {
  readonly start: RecordPosition;
  readonly last: RecordPosition;
}

/** Those of a batch whose first record is at `start`; one without records is there as a whole. */
export function batchPlaces(start: RecordPosition, count: number, lastTimestampMs: number): BatchPlaces {
  if (count === 0) return { start, last: start };
  const { seqNum, dlsn } = start;
  const last = {
    seqNum: (seqNum + count - 1) as SeqNum,
    dlsn: { ...dlsn, slot: dlsn.slot + count - 1 },
    timestampMs: lastTimestampMs,
  };
  return { start, last };
}

/** An entry's batches in their order, and where each of them stands in the log. */
export function placedBatches(
  { batches, records, firstSeqNum, firstTimestampMs }: RecordSet,
  { segment, entry }: Pick<Dlsn, "segment" | "entry">,
): readonly (BatchPlaces & { readonly batch: EntryBatch })[] {
  let slot = 0;
  return batches.map((batch) => {
    const { count } = batch;
    const timeOf = (at: number): number =>
      count === 0 ? firstTimestampMs : present(records[at], "batches cover the records").timestampMs;
    const dlsn = { segment, entry, slot };
    const start = { seqNum: (firstSeqNum + slot) as SeqNum, dlsn, timestampMs: timeOf(slot) };
    slot += count;
    return { batch, ...batchPlaces(start, count, timeOf(slot - 1)) };
  });
}
