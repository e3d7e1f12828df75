/**
 * What the protocol tells of itself: structured events. On AWS they become metrics and log lines, in the
 * simulator they are the trace. No payloads.
 */

import type { ErrorCode } from "./errors.ts";
import type { BookieId, EntryId, LedgerId, LogIncarnation, Region, SeqNum } from "./ids.ts";
import type { DistanceClass } from "./place.ts";

export type TraceEvent =
  | { readonly event: "ledger-created"; readonly ledgerId: LedgerId; readonly ensemble: readonly BookieId[] }
  | { readonly event: "entry-acknowledged"; readonly ledgerId: LedgerId; readonly entryId: EntryId }
  /** Enough bookies hold the entry, in too few regions: an ensemble that placement would refuse. */
  | {
      readonly event: "ack-waits-for-regions";
      readonly ledgerId: LedgerId;
      readonly entryId: EntryId;
      readonly regions: readonly Region[];
      /** So many entries of this writer, this one included. */
      readonly count: number;
    }
  | {
      readonly event: "bookie-failed";
      readonly ledgerId: LedgerId;
      readonly bookie: BookieId;
      readonly call: string;
      readonly reason: string;
    }
  | {
      readonly event: "ensemble-changed";
      readonly ledgerId: LedgerId;
      readonly firstEntry: EntryId;
      readonly replaced: readonly BookieId[];
      readonly by: readonly BookieId[];
      /** Failed as well, and still there: no legal ensemble does without all of them. */
      readonly unreplaced: readonly BookieId[];
    }
  | { readonly event: "ensemble-change-refused"; readonly ledgerId: LedgerId; readonly reason: string }
  | {
      readonly event: "writer-stopped";
      readonly ledgerId: LedgerId;
      readonly lastAddConfirmed: EntryId;
      /** `fenced`: somebody else closes the ledger, or has. Anything else: this writer could not go on. */
      readonly code: ErrorCode;
      readonly reason: string;
    }
  | {
      readonly event: "ledger-closed";
      readonly ledgerId: LedgerId;
      readonly lastEntry: EntryId;
      readonly by: "writer" | "recovery";
    }
  | { readonly event: "recovery-started"; readonly ledgerId: LedgerId; readonly firstEntry: EntryId }
  | { readonly event: "recovery-adopted"; readonly ledgerId: LedgerId; readonly lastEntry: EntryId }
  | { readonly event: "recovery-failed"; readonly ledgerId: LedgerId; readonly reason: string }
  | {
      readonly event: "corrupt-entry";
      readonly ledgerId: LedgerId;
      readonly entryId: EntryId;
      readonly bookie: BookieId;
    }
  | { readonly event: "ledger-swept"; readonly ledgerId: LedgerId; readonly sweep: "first" | "second" }
  | {
      readonly event: "segment-opened";
      readonly log: LogIncarnation;
      readonly firstSeqNum: SeqNum;
      readonly ledgerId: LedgerId;
      readonly region: Region;
      readonly how: "opened" | "rolled" | "replaced-empty";
    }
  | { readonly event: "log-trimmed"; readonly log: LogIncarnation; readonly trimPoint: SeqNum }
  | { readonly event: "log-sealed"; readonly log: LogIncarnation; readonly tail: SeqNum }
  | { readonly event: "log-deleting"; readonly log: LogIncarnation }
  | { readonly event: "log-deleted"; readonly log: LogIncarnation }
  | {
      readonly event: "chain-item-removed";
      readonly log: LogIncarnation;
      readonly firstSeqNum: SeqNum;
      /** Absent: it was an END. */
      readonly ledgerId?: LedgerId;
    }
  | {
      readonly event: "ledger-collected";
      readonly ledgerId: LedgerId;
      readonly lastEntry: EntryId;
    }
  | {
      readonly event: "segment-resumed";
      readonly log: LogIncarnation;
      readonly ledgerId: LedgerId;
      readonly firstEntry: EntryId;
    }
  /** A new writer has read what the log remembers of its producers. */
  | {
      readonly event: "producers-restored";
      readonly ledgerId: LedgerId;
      readonly firstEntry: EntryId;
      readonly lastEntry: EntryId;
    }
  | { readonly event: "lease-acquired"; readonly log: LogIncarnation; readonly clean: boolean }
  | { readonly event: "lease-released"; readonly log: LogIncarnation; readonly clean: boolean }
  | { readonly event: "lease-lost"; readonly log: LogIncarnation }
  | { readonly event: "ledger-abandoned"; readonly ledgerId: LedgerId; readonly reason: string }
  | {
      readonly event: "tail-settled";
      readonly log: LogIncarnation;
      readonly how: "control-entry" | "takeover";
    }
  /** One read of a log, with all that bookies were asked for it. */
  | {
      readonly event: "log-read";
      readonly log: LogIncarnation;
      /** Entries and tails that were asked for. */
      readonly reads: number;
      readonly attempts: number;
      readonly hedges: number;
      /** Part of `hedges`. */
      readonly crossRegionHedges: number;
      readonly failovers: number;
      /** How far away the answers came from, and how many. */
      readonly wins: readonly (readonly [DistanceClass, number])[];
      readonly elapsedMs: number;
    }
  /** A process goes on with an older copy of the registry, or with none. */
  | { readonly event: "registry-not-read"; readonly reason: string }
  | { readonly event: "log-alarm"; readonly log: LogIncarnation; readonly reason: string };
