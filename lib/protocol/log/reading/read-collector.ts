/**
 * Collects the records of one read until its limits are reached; one that looks for the tail collects none.
 */
import type { EntryId, SegmentNumber, SeqNum } from "../../ids.ts";
import { ReadCounters } from "../../reads/read-counters.ts";
import type { LogRecord } from "../records/record.ts";
import { meteredBytes, type RecordSet } from "../records/record-set.ts";

export class ReadCollector {
  readonly records: LogRecord[] = [];
  /** Where to read on. */
  position: SeqNum;
  isFull = false;
  #bytes = 0;

  constructor(
    from: SeqNum,
    private readonly limit: number,
    private readonly bytesMax: number,
    /** Told what bookies were asked for it. */
    readonly cost = new ReadCounters(),
  ) {
    this.position = from;
  }

  /** For finding the tail: a position that no record has. */
  static ofNothing(cost = new ReadCounters()): ReadCollector {
    return new ReadCollector(Number.MAX_SAFE_INTEGER as SeqNum, 0, 0, cost);
  }

  /** How many more entries like this one it can take; one that is not full takes another at least. */
  roomFor(records: number, bytes: number): number {
    if (this.limit === 0) return Number.POSITIVE_INFINITY;
    const byRecords = (this.limit - this.records.length) / Math.max(1, records);
    return Math.ceil(Math.min(byRecords, (this.bytesMax - this.#bytes) / Math.max(1, bytes)));
  }

  /**
   * Takes the records of an entry from the position on. The first record of a read is taken whatever its
   * size.
   */
  take(set: RecordSet, segment: SegmentNumber, entry: EntryId): void {
    for (let slot = this.position - set.firstSeqNum; slot < set.count && !this.isFull; slot++) {
      const stored = set.records[slot];
      if (stored === undefined) return;
      const bytes = meteredBytes(stored);
      this.isFull = this.records.length > 0 && this.#bytes + bytes > this.bytesMax;
      if (this.isFull) return;
      this.records.push({ seqNum: this.position, dlsn: { segment, entry, slot }, ...stored });
      this.#bytes += bytes;
      this.position = (this.position + 1) as SeqNum;
      this.isFull = this.records.length >= this.limit || this.#bytes >= this.bytesMax;
    }
  }
}
