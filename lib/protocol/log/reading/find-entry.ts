/**
 * Finds the entry of a ledger that holds a position, in O(log) bookie reads: a binary search over entries
 * that are confirmed, begun from what is known. Behind the last confirmed entry nothing is searched: the
 * walk goes on there entry by entry, since strong reads build on the entry before (rule 13, T2).
 */
import { type EntryId, entryId, NO_ENTRY, nextEntry, type SeqNum } from "../../ids.ts";
import type { LedgerRead, ReadConsistency } from "../../ledger/ledger-reader.ts";
import type { SealedEntry } from "../../ports.ts";
import type { ReadCounters } from "../../reads/read-counters.ts";
import { decodeRecordSet, decodeRecordSetHead, nextSeqNumOf, type RecordSet } from "../records/record-set.ts";
import type { EntrySample, KnownLedger } from "./known-ledgers.ts";

export type DecidedRead = Exclude<LedgerRead, { readonly kind: "undecided" }>;

export type NoEntry = Exclude<LedgerRead, { readonly kind: "entry" }>;

/** What was read in the place of entry `at`. `next`: the seq_num after the last record before it. */
export interface Stopped {
  readonly kind: "stopped";
  readonly at: EntryId;
  readonly next: SeqNum;
  readonly read: NoEntry;
}

/** From which entry on to walk, and the seq_num that it starts at. Nothing before it reaches the position. */
type WalkStart = { readonly kind: "start"; readonly at: EntryId; readonly next: SeqNum } | Stopped;

/** What one read looks for. */
interface Wish {
  readonly position: SeqNum;
  readonly cost: ReadCounters;
  /** Throws once the read is cancelled. */
  checkWanted(): void;
}

export async function findEntry(
  known: KnownLedger,
  segmentFirst: SeqNum,
  consistency: ReadConsistency,
  collector: Wish,
): Promise<WalkStart> {
  const { position, cost } = collector;
  const { before, holding, behind } = known.samples.around(position);
  if (holding !== undefined) return startAt(holding.entry, holding.first);
  let low = before ?? { entry: NO_ENTRY, first: segmentFirst, next: segmentFirst };
  // Reading on from where the last read ended: no search.
  if (low.next === position) return startAt(nextEntry(low.entry), low.next);
  let high = behind?.entry ?? nextEntry(await known.reader.confirmedHint(cost));
  // Most positions that are looked for without a sample behind them are near the tail.
  let probe = behind === undefined ? high - 1 : middle(low.entry, high);
  while (nextEntry(low.entry) < high) {
    collector.checkWanted();
    const read = await known.reader.read(entryId(probe), consistency, cost);
    if (read.kind !== "entry") return { kind: "stopped", at: nextEntry(low.entry), next: low.next, read };
    const sample = sampleOf(read.entry);
    known.samples.note(sample);
    if (sample.next <= position) low = sample;
    else if (sample.first <= position) return startAt(sample.entry, sample.first);
    else high = sample.entry;
    probe = middle(low.entry, high);
  }
  return startAt(nextEntry(low.entry), low.next);
}

function sampleOf({ header, payload }: SealedEntry): EntrySample {
  const { ledgerId, entryId: entry } = header;
  const head = decodeRecordSetHead(payload, `entry ${entry} of ledger ${ledgerId}`);
  return { entry, first: head.firstSeqNum, next: nextSeqNumOf(head) };
}

const startAt = (at: EntryId, next: SeqNum): WalkStart => ({ kind: "start", at, next });

const middle = (low: number, high: number): number => Math.floor((low + high) / 2);

/** That record, or the place behind the last one that could be read: none before it is young enough. */

/**
 * Finds the first record of a ledger that is no older than a time, in O(log) bookie reads: timestamps never
 * fall, so it is a binary search over the confirmed entries. Behind them it goes on entry by entry, as every
 * strong read does (rule 13, T2). Without such a record it is the place behind the last one that could be
 * read. `first`: where the ledger's segment starts.
 */
export async function findTimestamp(
  known: KnownLedger,
  first: SeqNum,
  timestampMs: number,
  readEntry: (entry: EntryId) => Promise<DecidedRead>,
  cost?: ReadCounters,
): Promise<SeqNum> {
  let older: EntryId = NO_ENTRY;
  let next = first;
  let holding: RecordSet | undefined;
  let high = nextEntry(await known.reader.confirmedHint(cost));
  while (nextEntry(older) < high) {
    const probe = entryId(middle(older, high));
    const read = await readEntry(probe);
    if (read.kind !== "entry") return first; // deleted meanwhile: below the trim point
    const set = decoded(known, probe, read);
    if (set.lastTimestampMs < timestampMs) [older, next] = [probe, nextSeqNumOf(set)];
    else [high, holding] = [probe, set];
  }
  for (let at = high; holding === undefined; at = nextEntry(at)) {
    const read = await readEntry(at);
    if (read.kind !== "entry") return next;
    const set = decoded(known, at, read);
    next = nextSeqNumOf(set);
    if (set.lastTimestampMs >= timestampMs) holding = set;
  }
  const slot = holding.records.findIndex((record) => record.timestampMs >= timestampMs);
  return slot < 0 ? nextSeqNumOf(holding) : ((holding.firstSeqNum + slot) as SeqNum);
}

function decoded(
  { reader, samples }: KnownLedger,
  entry: EntryId,
  read: Extract<LedgerRead, { readonly kind: "entry" }>,
): RecordSet {
  const set = decodeRecordSet(read.entry.payload, `entry ${entry} of ledger ${reader.ledgerId}`);
  samples.note({ entry, first: set.firstSeqNum, next: nextSeqNumOf(set) });
  return set;
}
