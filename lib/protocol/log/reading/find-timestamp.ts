/**
 * Finds the first record of a ledger that is no older than a time, in O(log) bookie reads: timestamps never
 * fall, so it is a binary search over the confirmed entries. Behind them it goes on entry by entry, as every
 * strong read does (rule 13, T2).
 */
import { type EntryId, entryId, NO_ENTRY, nextEntry, type SeqNum } from "../../ids.ts";
import type { LedgerRead } from "../../ledger/ledger-reader.ts";
import { decodeRecordSet, nextSeqNumOf, type RecordSet } from "../records/record-set.ts";
import type { KnownLedger } from "./known-ledgers.ts";

export type DecidedRead = Exclude<LedgerRead, { readonly kind: "undecided" }>;

/**
 * That record's seq_num, or that behind the last one that could be read: none before it is young enough.
 * Undefined: the ledger is deleted. `first`: where the ledger's segment starts.
 */
export async function findTimestamp(
  known: KnownLedger,
  first: SeqNum,
  timestampMs: number,
  readEntry: (entry: EntryId) => Promise<DecidedRead>,
): Promise<SeqNum | undefined> {
  let older: EntryId = NO_ENTRY;
  let next = first;
  let holding: RecordSet | undefined;
  let high = nextEntry(await known.reader.confirmedHint());
  while (nextEntry(older) < high) {
    const probe = entryId(Math.floor((older + high) / 2));
    const read = await readEntry(probe);
    if (read.kind !== "entry") return undefined;
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
