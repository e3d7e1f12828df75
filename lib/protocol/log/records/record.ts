/** Records: what a client hands in, what a reader gets back, and where they stand in the log. */
import type { EntryId, SegmentNumber, SeqNum } from "../../ids.ts";

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

/** A record as readers get it. */
export interface LogRecord {
  readonly seqNum: SeqNum;
  readonly dlsn: Dlsn;
  readonly timestampMs: number;
  readonly headers: readonly RecordHeader[];
  readonly body: Uint8Array;
}

/** Where a record stands, and the timestamp that it got. */
export interface RecordPosition {
  readonly seqNum: SeqNum;
  readonly dlsn: Dlsn;
  readonly timestampMs: number;
}

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
