/** The writer lease: one item per log in a region's own table (design section 4, rules 16 to 20). */
import type { BookieId, EntryId, LedgerId, SeqNum, Tenure } from "./ids.ts";
import type { Version } from "./ports.ts";

export interface Lease {
  readonly tenure: Tenure;
  /** Who holds it, for people to read; never compared (rule 16). */
  readonly holder: string;
  /** Wall time in ms. Safety never rests on it. */
  readonly expiresAtMs: number;
  /** The holder released with nothing outstanding (rule 18). */
  readonly clean: boolean;
  /** Somebody waits for it; a long holder yields. */
  readonly wanted: boolean;
  readonly ledgerId: LedgerId;
  readonly ledgerVersion: Version;
  readonly lastAddConfirmed: EntryId;
  readonly nextSeqNum: SeqNum;
  readonly lastTimestampMs: number;
  readonly ledgerBytes: number;
  /** Bookies that failed the holder; the next one changes the ensemble. */
  readonly suspects: readonly BookieId[];
}
