/**
 * What a log does for its users: the operations that the HTTP surface, the CLI and the embedded cloud call.
 * Values are checked and typed here; nothing below checks them again.
 */
import type { LedgerId, LogIncarnation, LogName, Region, SegmentNumber, SeqNum } from "../ids.ts";
import type { LogConfig, LogItem, SegmentItem } from "../items.ts";
import type { LedgerMetadata } from "../ledger-metadata.ts";
import type { ReadCost } from "../reads/read-counters.ts";
import type { Wanted } from "../waiting.ts";
import type { Dlsn, LogRecord, RecordInput, RecordPosition, Sender } from "./records/record.ts";

export interface AppendRequest {
  readonly log: LogName;
  /** 1 to limits.batchRecordsMax records, atomic: all of them in one entry. */
  readonly records: readonly RecordInput[];
  /** Append only if the first record gets this seq_num; a repetition that is recorded needs no place. */
  readonly matchSeqNum?: SeqNum;
  /** Makes the append idempotent: the same in each attempt at it. */
  readonly sender?: Sender;
  /**
   * "refuse": served by the region that it reaches, or refused with `not_owner`; for appends that were
   * forwarded once, and for callers that go to the owner themselves. Absent: "forward".
   */
  readonly route?: "forward" | "refuse";
  /** Time in ms for the answer; no more than limits.appendDeadlineMs, which is also what absent means. */
  readonly timeoutMs?: number;
}

export interface AppendAck {
  /** The first record of the batch. */
  readonly start: RecordPosition;
  /** The last record of the batch. */
  readonly last: RecordPosition;
  /** The seq_num after the last record that this writer knows to be acknowledged. */
  readonly tail: SeqNum;
  /** Regions whose bookies hold the batch durably. Absent of a duplicate: no bookie was asked for it. */
  readonly durableIn?: readonly Region[];
  /** The batch was in the log before this request, by the same sender and seq. */
  readonly duplicate: boolean;
  /** The number of the segment it went to; grows with each change of writer. */
  readonly epoch: SegmentNumber;
  readonly ownerRegion: Region;
}

/** The log's item, and whether it has an end. */
export interface LogDescription extends Omit<LogItem, "kind" | "state"> {
  /**
   * `sealed`: it has an end. Only `describeLog` says so: no operation that changes a log looks for its end.
   */
  readonly state: "active" | "sealed" | "deleting";
}

export interface LogCreation {
  readonly created: boolean;
  readonly description: LogDescription;
  /** Why some of the present regions could not host the log without the others. */
  readonly warnings: readonly string[];
}

export interface SegmentDescription extends Omit<SegmentItem, "kind"> {
  readonly firstSeqNum: SeqNum;
}

export interface ListLogsRequest {
  /** Only names that begin with this. */
  readonly prefix: string;
  /** Only names behind this one, in the order of code units. */
  readonly startAfter?: LogName;
  readonly limit: number;
}

export interface LogPage {
  readonly logs: readonly LogName[];
  readonly hasMore: boolean;
}

/** Where a read begins, other than at a seq_num. Of what was trimmed away the first record that is left. */
export type ReadPlace =
  /** At this record, or at the first one behind that place. */
  | { readonly kind: "dlsn"; readonly dlsn: Dlsn }
  /** At the first record whose timestamp in ms is no lower. */
  | { readonly kind: "timestamp"; readonly timestampMs: number }
  /** So many records before the tail, or at the first one. */
  | { readonly kind: "tail-offset"; readonly count: number };

export interface ReadRequest {
  readonly log: LogName;
  readonly from: SeqNum | ReadPlace;
  /** Records, at most. */
  readonly limit: number;
  /** Metered bytes, at most; at least one record is returned whatever its size. */
  readonly bytesMax?: number;
  readonly consistency: "strong" | "local";
  /** Once it is aborted, the read ends before its next step. */
  readonly signal?: Wanted;
}

/** The end of the log as far as a read knows. */
export interface KnownTail {
  /** Exact if `upToDate`, else a lower bound. */
  readonly tail: SeqNum;
  /** Only after rule 14: there was nothing at `tail` while this read ran. */
  readonly upToDate: boolean;
  /** The log was sealed at `tail`. False: it goes on, or this read did not come to its end. */
  readonly sealed: boolean;
}

export interface ReadAnswer extends KnownTail {
  readonly records: readonly LogRecord[];
  /** Where to read on. */
  readonly next: SeqNum;
  readonly cost?: ReadCost;
}

export interface TailAnswer extends KnownTail {
  readonly ownerRegion?: Region;
  readonly cost?: ReadCost;
}

/** Which region owns a log, and the number of its last segment; a log without segments has no owner. */
export interface Ownership {
  readonly owner?: Region;
  readonly epoch?: SegmentNumber;
  /** Where it should be owned, if that was said. */
  readonly preferred?: Region;
}

/** `deleting`: out of everybody's reach, but not all of it is removed yet. */
export type DeletionAnswer = "deleting" | "deleted";

/** What the `append` function of a region does. */
export interface AppendOperations {
  /**
   * Creates the log, or finds it with the same configuration. `log_exists` if the configuration differs,
   * `invalid_request` if admission refuses its quorum sizes.
   */
  createLog(name: LogName, config: LogConfig, preferred?: Region): Promise<LogCreation>;
  append(request: AppendRequest): Promise<AppendAck>;
  /** Says where the log should be owned; undefined: anywhere. It gets there eventually, or is transferred. */
  preferRegion(name: LogName, preferred: Region | undefined): Promise<LogDescription>;
  /**
   * Makes the region own the log, by the owner's leave if it answers. Returns its owner then, also if it was
   * that region before. Throws `region_not_found`, `region_not_accepting`, `log_sealed`,
   * and `not_ready` if it did not come to pass in time; the log may then be of either.
   */
  transferOwner(name: LogName, to: Region): Promise<Ownership>;
  /**
   * Makes everything acknowledged so far readable to strong readers, also with bookies of the tail down (rule
   * 14).
   */
  settle(name: LogName): Promise<void>;
  /** Releases the records below `to`; forward only (rule 30). The trim point as it is then. */
  trim(name: LogName, to: SeqNum): Promise<SeqNum>;
  /** Ends the log for ever (rule 29). Its end: the seq_num after the last record. */
  seal(name: LogName): Promise<SeqNum>;
  /**
   * Deletes the log; the name may be created again once it says `deleted` (rule 29). With `only`, no other
   * life of the name than this one: a call that is repeated after a lost answer needs it.
   */
  deleteLog(name: LogName, only?: LogIncarnation): Promise<DeletionAnswer>;
  /** Fences the ledger, finds its end and closes it (rules 10 to 12). */
  recoverLedger(id: LedgerId): Promise<LedgerMetadata>;
}

/** What the `read` function of a region does. Each ends before its next step once its signal is aborted. */
export interface ReadOperations {
  describeLog(name: LogName, signal?: Wanted): Promise<LogDescription>;
  listLogs(request: ListLogsRequest, signal?: Wanted): Promise<LogPage>;
  segments(name: LogName, signal?: Wanted): Promise<readonly SegmentDescription[]>;
  read(request: ReadRequest): Promise<ReadAnswer>;
  tail(name: LogName, consistency: "strong" | "local", signal?: Wanted): Promise<TailAnswer>;
  owner(name: LogName, signal?: Wanted): Promise<Ownership>;
  showLedger(id: LedgerId): Promise<LedgerMetadata>;
}
