/**
 * Records: what a client hands in, what a reader gets back, and where they stand in the log; the position of
 * a record also as one sortable text.
 */
import { FencelineError } from "../../errors.ts";
import { type EntryId, entryId, type SegmentNumber, type SeqNum, segmentNumber } from "../../ids.ts";

/** Name and value of a record header, as bytes. */
export type RecordHeader = readonly [name: Uint8Array, value: Uint8Array];

/** A record as a client appends it. */
export interface RecordInput {
  readonly body: Uint8Array;
  readonly headers: readonly RecordHeader[];
  /** The client's wall time in ms; the log never lets timestamps fall. Absent: the time of arrival. */
  readonly timestampMs?: number;
}

/** Position of a record: log segment, entry in its ledger, slot in the entry. */
export interface Dlsn {
  readonly segment: SegmentNumber;
  readonly entry: EntryId;
  readonly slot: number;
}

/** Where a record stands, and the timestamp that it got. */
export interface RecordPosition {
  readonly seqNum: SeqNum;
  readonly dlsn: Dlsn;
  readonly timestampMs: number;
}

/** A record as its entry holds it. */
export interface StoredRecord {
  readonly timestampMs: number;
  readonly headers: readonly RecordHeader[];
  readonly body: Uint8Array;
}

/** A record as readers get it. */
export interface LogRecord extends RecordPosition, StoredRecord {}

/**
 * Who sends a batch, and which of its batches it is. Makes an append idempotent: the log takes a batch only
 * if its seq follows the sender's last one, and answers a repeated batch with the positions that it has.
 */
export interface Sender {
  /** 1 to appendLimits.senderIdLengthMax printable ASCII characters. */
  readonly id: string;
  /** Grows with each restart of a sender that keeps its id: older epochs are refused from then on. */
  readonly epoch: number;
  /** Of the batch's first record: 0 in a new epoch, then dense, one for each record. */
  readonly seq: number;
}

/**
 * Digits of a safe integer, and of a slot: every DLSN is as long as every other, so that text sorts as they
 * do.
 */
const NUMBER_DIGITS = 16;
const SLOT_DIGITS = 5;
const PATTERN = /^(\d{16})-(\d{16})-(\d{5})$/;

/** Negative if `one` is before `other`, positive if it is after, 0 if they are the same. */
export function compareDlsn(one: Dlsn, other: Dlsn): number {
  return one.segment - other.segment || one.entry - other.entry || one.slot - other.slot;
}

/** Text whose order by code unit is the order of positions. */
export function formatDlsn(dlsn: Dlsn): string {
  const digits = (value: number, count: number) => String(value).padStart(count, "0");
  return [
    digits(dlsn.segment, NUMBER_DIGITS),
    digits(dlsn.entry, NUMBER_DIGITS),
    digits(dlsn.slot, SLOT_DIGITS),
  ].join("-");
}

/** Reads what `formatDlsn` wrote. Throws `invalid_request`. */
export function parseDlsn(text: string): Dlsn {
  const match = PATTERN.exec(text);
  const [segment, entry, slot] = (match ?? []).slice(1).map(Number);
  const known = segment !== undefined && entry !== undefined && slot !== undefined;
  if (!known || segment < 1 || !Number.isSafeInteger(segment) || !Number.isSafeInteger(entry)) {
    throw new FencelineError("invalid_request", {
      message:
        `"${text}" is no DLSN; it has the form ${formatDlsn(EXAMPLE)} (segment from 1, entry, slot); ` +
        "use one that an append or a read returned",
    });
  }
  return { segment: segmentNumber(segment), entry: entryId(entry), slot };
}

const EXAMPLE: Dlsn = { segment: segmentNumber(1), entry: entryId(0), slot: 0 };
