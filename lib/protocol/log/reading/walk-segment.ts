/**
 * Walks a segment's entries from the one that holds a position on, until enough is collected or no entry
 * comes.
 */
import { type EntryId, nextEntry, type SeqNum } from "../../ids.ts";
import type { LedgerRead, ReadConsistency } from "../../ledger/ledger-reader.ts";
import type { SegmentAt } from "../chain/segments.ts";
import { decodeRecordSet, nextSeqNumOf } from "../records/record-set.ts";
import { findEntry } from "./find-entry.ts";
import type { KnownLedger } from "./known-ledgers.ts";
import { ReadAhead } from "./read-ahead.ts";
import type { ReadCollector } from "./read-collector.ts";

type WalkEnd =
  | { readonly kind: "enough" }
  /** What was read in the place of an entry. */
  | { readonly kind: "stopped"; readonly at: EntryId; readonly next: SeqNum; readonly read: NoEntry }
  /** Entries do not follow one another; never seen unless something is broken. */
  | { readonly kind: "gap"; readonly at: EntryId; readonly next: SeqNum; readonly found: SeqNum };

export type NoEntry = Exclude<LedgerRead, { readonly kind: "entry" }>;

/** `next` of the end is the seq_num after the last record of the entries before `at`. */
export async function walkSegment(
  segment: SegmentAt,
  known: KnownLedger,
  consistency: ReadConsistency,
  collector: ReadCollector,
): Promise<WalkEnd> {
  const { cost } = collector;
  const start = await findEntry(known, segment.first, collector.position, consistency, cost);
  if (start.kind === "stopped")
    return { kind: "stopped", at: start.entry, next: start.first, read: start.read };
  const ahead = new ReadAhead(known.reader, consistency, cost);
  let next = start.first;
  let useful = Number.POSITIVE_INFINITY;
  for (let at = start.entry; ; at = nextEntry(at)) {
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
