/**
 * What the protocol reports of itself: structured events. On AWS they become metrics and log lines, in the
 * simulator they are the trace. No payloads.
 */

import type { ErrorCode } from "./errors.ts";
import type { BookieId, EntryId, LedgerId, LogIncarnation, Region, SeqNum } from "./ids.ts";
import type { DistanceClass } from "./replication.ts";

export type TraceEvent =
  | (OfLedger & { readonly ledgerId: LedgerId })
  | (OfLog & { readonly log: LogIncarnation })
  /** A process goes on with an older copy of the registry, or with none. */
  | { readonly event: "registry-not-read"; readonly reason: string };

/** What happened to one ledger. */
type OfLedger =
  | { readonly event: "ledger-created"; readonly ensemble: readonly BookieId[] }
  | { readonly event: "entry-acknowledged"; readonly entryId: EntryId }
  /** Enough bookies hold the entry, in too few regions: an ensemble that placement would refuse. */
  | {
      readonly event: "ack-waits-for-regions";
      readonly entryId: EntryId;
      readonly regions: readonly Region[];
      /** So many entries of this writer, this one included. */
      readonly count: number;
    }
  | {
      readonly event: "bookie-failed";
      readonly bookie: BookieId;
      readonly call: string;
      readonly reason: string;
    }
  | {
      readonly event: "ensemble-changed";
      readonly firstEntry: EntryId;
      readonly replaced: readonly BookieId[];
      readonly by: readonly BookieId[];
      /** Failed as well, and still there: no legal ensemble does without all of them. */
      readonly unreplaced: readonly BookieId[];
    }
  | { readonly event: "ensemble-change-refused"; readonly reason: string }
  | {
      readonly event: "writer-stopped";
      readonly lastAddConfirmed: EntryId;
      /** `fenced`: another process closes the ledger, or has. Anything else: this writer could not go on. */
      readonly code: ErrorCode;
      readonly reason: string;
    }
  | { readonly event: "ledger-closed"; readonly lastEntry: EntryId; readonly by: "writer" | "recovery" }
  | { readonly event: "recovery-started"; readonly firstEntry: EntryId }
  | { readonly event: "recovery-adopted"; readonly lastEntry: EntryId }
  | { readonly event: "recovery-failed"; readonly reason: string }
  | { readonly event: "corrupt-entry"; readonly entryId: EntryId; readonly bookie: BookieId }
  | { readonly event: "ledger-swept"; readonly sweep: "first" | "second" }
  | { readonly event: "ledger-collected"; readonly lastEntry: EntryId }
  | { readonly event: "ledger-abandoned"; readonly reason: string }
  /** A new writer has read what the log remembers of its producers. */
  | { readonly event: "producers-restored"; readonly firstEntry: EntryId; readonly lastEntry: EntryId };

/** What happened to one log. */
type OfLog =
  | {
      readonly event: "segment-opened";
      readonly firstSeqNum: SeqNum;
      readonly ledgerId: LedgerId;
      readonly region: Region;
      readonly how: "opened" | "rolled" | "replaced-empty";
    }
  | { readonly event: "segment-resumed"; readonly ledgerId: LedgerId; readonly firstEntry: EntryId }
  | { readonly event: "log-trimmed"; readonly trimPoint: SeqNum }
  | { readonly event: "log-sealed"; readonly tail: SeqNum }
  | { readonly event: "log-deleting" }
  | { readonly event: "log-deleted" }
  /** Without `ledgerId` it was an END. */
  | { readonly event: "chain-item-removed"; readonly firstSeqNum: SeqNum; readonly ledgerId?: LedgerId }
  | { readonly event: "lease-acquired"; readonly clean: boolean }
  | { readonly event: "lease-released"; readonly clean: boolean }
  | { readonly event: "lease-lost" }
  | { readonly event: "tail-settled"; readonly how: "control-entry" | "takeover" }
  /** One read of a log, with all that bookies were asked for it. */
  | {
      readonly event: "log-read";
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
  | { readonly event: "log-alarm"; readonly reason: string };
