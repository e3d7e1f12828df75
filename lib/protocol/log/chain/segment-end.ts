/**
 * Where a segment ends. Rule 22: computed from the metadata of a CLOSED ledger and its last entry only, never
 * from an item's completion, a last add confirmed, or a recovery that has not persisted its close. Hence any
 * two processes that close the same segment compute the same key for the next one.
 */
import { assert } from "../../assert.ts";
import {
  type EntryId,
  type LedgerId,
  type LogIncarnation,
  NO_ENTRY,
  type SegmentNumber,
  type SeqNum,
} from "../../ids.ts";
import { ledgerKey, type SegmentCompletion, segmentKey } from "../../items.ts";
import type { LedgerPorts } from "../../ledger/ledger-ports.ts";
import { readEntry } from "../../ledger/read-slots.ts";
import type { ClosedLedger } from "../../ledger-metadata.ts";
import { changeItem, readItem, type UpdatePorts } from "../../update-item.ts";
import type { ProducerSource } from "../producers/producer-snapshot.ts";
import { decodeRecordSetHead, nextSeqNumOf } from "../records/record-set.ts";
import { lastAtOrBelow } from "./segments.ts";

export interface SegmentEnd {
  /** The seq_num after the segment's last record; its first if it holds none. */
  readonly end: SeqNum;
  /** Timestamps after it are no lower. Undefined if the ledger holds no entry that says so. */
  readonly lastTimestampMs: number | undefined;
  /** The entry from which the log's producers can be restored, as the last entry says. */
  readonly producersAt?: EntryId | undefined;
}

/**
 * Throws `insufficient_regions` if no copy of the last entry can be read, `data_corrupt` if it is none of
 * ours.
 */
export async function segmentEnd(
  ports: LedgerPorts,
  first: SeqNum,
  ledger: ClosedLedger,
): Promise<SegmentEnd> {
  const { lastEntry, ledgerId } = ledger;
  if (lastEntry === NO_ENTRY) return { end: first, lastTimestampMs: undefined };
  const unread = `ledger ${ledgerId}: its last entry ${lastEntry}, which tells its end, cannot be read`;
  const { payload } = await readEntry(ports, ledger, lastEntry, unread);
  const head = decodeRecordSetHead(payload, `entry ${lastEntry} of ledger ${ledgerId}`);
  const end = nextSeqNumOf(head);
  assert(end >= first, `rule 22: the segment that starts at ${first} ends at ${end}`);
  return { end, lastTimestampMs: head.lastTimestampMs, producersAt: head.producersAt };
}

/** Where the producers of a log are written down whose last entry is the ledger's. */
export function producersIn(
  ledger: ClosedLedger,
  segment: SegmentNumber,
  { producersAt }: SegmentEnd,
): ProducerSource | undefined {
  if (producersAt === undefined) return undefined;
  return { ledger, segment, from: producersAt, through: ledger.lastEntry };
}

/** What a segment goes on from whose ledger holds no entry. */
export interface CarriedOver {
  readonly lastTimestampMs: number;
  readonly producersIn?: ProducerSource | undefined;
}

/**
 * What came before a segment that holds no entry. Every segment before the last one holds records (rule 24),
 * so the one before it says; if that is trimmed and gone, nothing is left to compare with.
 */
export async function beforeSegment(
  ports: LedgerPorts,
  log: LogIncarnation,
  first: SeqNum,
): Promise<CarriedOver> {
  if (first === 0) return NOTHING;
  const before = await lastAtOrBelow(ports.metadata, log, (first - 1) as SeqNum, "consistent");
  if (before?.kind !== "segment") return NOTHING;
  const ledger = await readItem(ports.metadata, ledgerKey(before.item.ledgerId), "ledger");
  if (ledger?.state !== "CLOSED") return NOTHING;
  const end = await segmentEnd(ports, before.first, ledger);
  return {
    lastTimestampMs: end.lastTimestampMs ?? 0,
    producersIn: producersIn(ledger, before.item.number, end),
  };
}

const NOTHING: CarriedOver = { lastTimestampMs: 0 };

/**
 * Notes in a segment's item where it ends (rule 34): for people and for listings; nothing depends on it. A
 * conditional update on the ledger id, never a put of the whole item, because an empty segment's item may
 * have been given to another ledger meanwhile (T15).
 */
export async function completeSegment(
  ports: UpdatePorts,
  log: LogIncarnation,
  segment: { readonly first: SeqNum; readonly ledgerId: LedgerId },
  completion: SegmentCompletion,
): Promise<void> {
  try {
    await changeItem(ports, segmentKey(log, segment.first), "segment", (item) =>
      item.ledgerId === segment.ledgerId && item.completion === undefined
        ? { ...item, completion }
        : undefined,
    );
  } catch {
    // Left out: a process that needs the end computes it (rule 22).
  }
}
