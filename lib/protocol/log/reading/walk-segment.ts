/**
 * Walks a segment's entries from the one that holds a position on, until enough is collected or no entry
 * comes.
 */
import { type EntryId, entryId, nextEntry, type SegmentNumber, type SeqNum } from "../../ids.ts";
import type { LedgerRead, LedgerReader, ReadConsistency } from "../../ledger/ledger-reader.ts";
import { limits } from "../../limits.ts";
import { ReadCounters } from "../../reads/read-counters.ts";
import { throwIfAborted, type Wanted } from "../../waiting.ts";
import type { SegmentAt } from "../chain/segments.ts";
import type { LogRecord } from "../records/record.ts";
import { decodeRecordSet, meteredBytes, nextSeqNumOf, type RecordSet } from "../records/record-set.ts";
import { findEntry, type Stopped } from "./find-entry.ts";
import type { KnownLedger } from "./known-ledgers.ts";

type WalkEnd =
  | { readonly kind: "enough" }
  | Stopped
  /** Entries do not follow one another; never seen unless something is broken. */
  | { readonly kind: "gap"; readonly at: EntryId; readonly next: SeqNum; readonly found: SeqNum };

/** `next` of the end is the seq_num after the last record of the entries before `at`. */
export async function walkSegment(
  segment: SegmentAt,
  known: KnownLedger,
  consistency: ReadConsistency,
  collector: ReadCollector,
): Promise<WalkEnd> {
  const { cost } = collector;
  const start = await findEntry(known, segment.first, consistency, collector);
  if (start.kind === "stopped") return start;
  const ahead = new ReadAhead(known.reader, consistency, cost);
  let { next } = start;
  let useful = Number.POSITIVE_INFINITY;
  for (let { at } = start; ; at = nextEntry(at)) {
    collector.checkWanted();
    const read = await ahead.take(at, useful);
    if (read.kind !== "entry") return { kind: "stopped", at, next, read };
    const set = decodeRecordSet(read.entry.payload, `entry ${at} of ledger ${known.reader.ledgerId}`);
    if (set.firstSeqNum !== next) return { kind: "gap", at, next, found: set.firstSeqNum };
    next = nextSeqNumOf(set);
    known.samples.note({ entry: at, first: set.firstSeqNum, next });
    collector.take(set, segment.item.number, at);
    if (collector.isFull) return { kind: "enough" };
    useful = collector.roomFor(set.count, read.entry.payload.length);
  }
}

/**
 * Reads entries one after another, some ahead of the one that is wanted, so that a sequential read is not one
 * round trip an entry. Ahead only where entries are confirmed: at the tail strong reads build on the entry
 * before. How far ahead is bounded three times: in entries; in bytes, taking each entry to be as large as the
 * largest so far; and by what the read can still use.
 */
class ReadAhead {
  readonly #reads = new Map<EntryId, Promise<LedgerRead>>();
  /** Grows with every entry taken: a reader of one record does not pay for many entries. */
  #window = 0;
  #largestBytes = 1;
  #hintedAt: number | undefined;

  constructor(
    private readonly reader: LedgerReader,
    private readonly consistency: ReadConsistency,
    private readonly cost?: ReadCounters,
  ) {}

  /** The entry. Called for consecutive entries; `useful` is how many more the caller can probably use. */
  async take(entry: EntryId, useful: number): Promise<LedgerRead> {
    const window = this.#windowNow(useful);
    if (window > 0 && entry > this.reader.confirmed) await this.#askHowFar(entry);
    const reading = this.#reads.get(entry) ?? this.#read(entry);
    this.#reads.delete(entry);
    const through = Math.min(entry + window, this.reader.confirmed);
    for (let ahead = entry + 1; ahead <= through; ahead++) this.#start(entryId(ahead));
    this.#window = Math.min(limits.readAheadEntries, this.#window * 2 + 1);
    const read = await reading;
    if (read.kind === "entry") this.#largestBytes = Math.max(this.#largestBytes, read.entry.payload.length);
    return read;
  }

  /** One ahead at least, whatever its size: the caller looks at one and waits for the next. */
  #windowNow(useful: number): number {
    const inBytes = Math.max(1, Math.floor(limits.readAheadBytesMax / this.#largestBytes));
    return Math.min(this.#window, inBytes, useful);
  }

  /** A hint for speed, now and then: at the tail it says nothing new. */
  async #askHowFar(entry: EntryId): Promise<void> {
    if (this.#hintedAt !== undefined && entry - this.#hintedAt < limits.readAheadEntries) return;
    this.#hintedAt = entry;
    await this.reader.confirmedHint(this.cost);
  }

  #start(entry: EntryId): void {
    if (this.#reads.has(entry)) return;
    const reading = this.#read(entry);
    // The caller that takes it meets the failure; without one nobody misses it.
    reading.catch(() => undefined);
    this.#reads.set(entry, reading);
  }

  #read(entry: EntryId): Promise<LedgerRead> {
    return this.reader.read(entry, this.consistency, this.cost);
  }
}

/**
 * Collects the records of one read until its limits are reached; one that looks for the tail collects none.
 */
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
    /** Counts what bookies were asked for it. */
    readonly cost = new ReadCounters(),
    private readonly signal?: Wanted,
  ) {
    this.position = from;
  }

  /** Throws `unavailable` once the read is cancelled. */
  checkWanted(): void {
    throwIfAborted(this.signal, `read at ${this.position}`);
  }

  /** For finding the tail: a position that no record has. */
  static ofNothing(cost?: ReadCounters, signal?: Wanted): ReadCollector {
    return new ReadCollector(Number.MAX_SAFE_INTEGER as SeqNum, 0, 0, cost, signal);
  }

  get isForTail(): boolean {
    return this.limit === 0;
  }

  /** How many more entries like this one it can take; one that is not full takes another at least. */
  roomFor(records: number, bytes: number): number {
    if (this.isForTail) return Number.POSITIVE_INFINITY;
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
