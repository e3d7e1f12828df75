/**
 * The writer lease: one item per log in a region's own table. It passes the pen between the region's
 * processes and saves recoveries; safety never rests on it (rules 16 to 20).
 */
import type { BookieId, EntryId, LedgerId, Region, SeqNum, Tenure, WriteToken } from "./ids.ts";
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
 * What the processes of this region have seen of the silence of the region that owns the log. It decides who
 * tries a takeover; what is recorded is decided by fences and elections.
 */
export interface OwnerSilence {
  readonly region: Region;
  /** Failures without an answer to any process between them. */
  readonly failures: number;
  /** The first and the last of them. Wall time in ms. */
  readonly firstAtMs: number;
  readonly lastAtMs: number;
  /** Names the latest failures, so that one whose write lost its reply is counted once. */
  readonly recent: readonly WriteToken[];
  /** When a process was last answered after failures; 0: never. Wall time in ms. */
  readonly heardAtMs: number;
  /** Takeovers that found it alive, one after another, and until when it is left alone. Wall time in ms. */
  readonly lived?: { readonly times: number; readonly aloneUntilMs: number };
}

export interface Lease {
  /** New at each acquire (rule 20). */
  readonly tenure: Tenure;
  /** Who holds it, for people to read; never compared (rule 16). */
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
  /** Absent while the owner answers, and from the next acquire on. */
  readonly ownerSilence?: OwnerSilence;
}
