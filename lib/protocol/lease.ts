/**
 * The writer lease: one item per log in a region's own table. It passes the right to write between the
 * region's processes and saves recoveries; safety never rests on it (rules 16 to 20).
 */
import type { BookieId, EntryId, LeaseBirth, LedgerId, Region, SeqNum, Tenure, WriteToken } from "./ids.ts";
import type { Version } from "./items.ts";

/** Where a holder left an open ledger, and so where the next one goes on. */
export interface LedgerTail {
  readonly ledgerId: LedgerId;
  /** The ledger's metadata as the holder last knew it (rule 19). */
  readonly ledgerVersion: Version;
  readonly lastAddConfirmed: EntryId;
  /** The seq_num of the next record. */
  readonly nextSeqNum: SeqNum;
  /** Timestamps go on no lower. Wall time in ms. */
  readonly lastTimestampMs: number;
  /** Payload bytes of the ledger's entries. */
  readonly ledgerBytes: number;
  /** The entry from which the log's producers can be restored. Absent: it remembers none. */
  readonly producersAt?: EntryId;
}

/**
 * Failures of another region that owns logs, as all processes of this region counted them: one item for each
 * observed region, beside the leases. It decides which region tries a takeover; fences and elections decide
 * what is recorded.
 */
export interface OwnerFailures {
  /**
   * A name for each failure since the last answer, `ownerFailuresMin` at most: a failure whose write lost its
   * reply is counted once.
   */
  readonly failures: readonly WriteToken[];
  /** The first of them, and the last as far as it was worth a write. Wall time in ms. */
  readonly firstAtMs: number;
  readonly lastAtMs: number;
}

/** Takeovers of one log from `region` that were in vain, or that it may undo. */
export interface LogContest {
  readonly region: Region;
  /** How many, one soon after another. */
  readonly times: number;
  /** Until when the log is left to that region. Wall time in ms. */
  readonly aloneUntilMs: number;
}

/** A ledger that may hold tickets of a tenure whose answers are not all put (rules 37a, 40). */
export interface OwedLedger {
  readonly tenure: Tenure;
  readonly ledgerId: LedgerId;
  /**
   * When its tenure last wrote the item, by the holder's wall clock in ms, and so no earlier than it sent
   * anything, give or take a lease: one whose ledger is gone is dropped by age (41).
   */
  readonly keptAtMs: number;
}

export interface Lease {
  /**
   * Drawn by the process that makes the item, or that writes over one without it; copied by every other write
   * (rules 36 to 39). Absent: written by a build that knows no inbox.
   */
  readonly birth?: LeaseBirth;
  /** New at each acquire (rule 20). */
  readonly tenure: Tenure;
  /** The process that holds it, for people to read; never compared (rule 16). */
  readonly holder: string;
  /** Wall time in ms; 0 once released. */
  readonly expiresAtMs: number;
  /** The holder released with nothing outstanding (rule 18). */
  readonly clean: boolean;
  /** Somebody waits for it; a long holder yields. */
  readonly wanted: boolean;
  /** Absent until a clean release of a checked segment (rule 35). It counts only where `clean` does. */
  readonly tail?: LedgerTail;
  /** Bookies that failed the holder; the next one changes the ensemble. */
  readonly suspects: readonly BookieId[];
  /** Absent until a takeover of the log was tried from here. It outlives every tenure. */
  readonly contest?: LogContest;
  /** It outlives every tenure; limits.owedLedgersMax at most. */
  readonly owed: readonly OwedLedger[];
  /** Every ticket of the present tenure up to this revision is answered (rule 38). Absent: none is. */
  readonly floor?: number;
}
