/** What a verification saw: attempts to append, strong reads behind them, and the logs at the end. */

/** One record on its way. Attempts with one body are one record, sent again by its producer. */
export interface Attempt {
  readonly log: string;
  readonly body: string;
  readonly appender: number;
  /** Grows with each record of the appender; attempts at one record share it. */
  readonly turn: number;
  /** The verifier's own clock, in ms. */
  readonly startMs: number;
  readonly endMs: number;
  readonly outcome: Outcome;
}

export type Outcome =
  | { readonly kind: "acknowledged"; readonly seqNum: number; readonly dlsn: string }
  /** It may be in the log, or get there later. */
  | { readonly kind: "unknown"; readonly code: string }
  /** The answer said that it had no effect. */
  | { readonly kind: "refused"; readonly code: string };

/** A strong read of one acknowledged record, begun after its acknowledgement. */
export interface StrongRead {
  readonly log: string;
  readonly seqNum: number;
  readonly wanted: string;
  /** The record that was there; "nothing" if the read said that there was none. */
  readonly found: string | "nothing";
  /** Where it was read. */
  readonly endpoint: string;
}

export interface FinalRecord {
  readonly seqNum: number;
  readonly dlsn: string;
  readonly timestampMs: number;
  readonly body: string;
}

export interface History {
  readonly startMs: number;
  readonly endMs: number;
  readonly attempts: readonly Attempt[];
  readonly reads: readonly StrongRead[];
  /** Strong reads that got no answer; they say nothing. */
  readonly readsFailed: number;
  /** Log -> its records, read strongly when all was over. */
  readonly logs: ReadonlyMap<string, readonly FinalRecord[]>;
}
