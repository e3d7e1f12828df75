/** Bounds and times of the inbox (rules 36 to 42). */
import { assert } from "../assert.ts";

export const inboxLimits = {
  /**
   * W: a ticket whose answer is not put is at most so many entries, less one, behind the ledger's last (37c).
   */
  answerWindow: 16,
  /** Ledgers that one lease item owes; with so many no tenure serves until some are decided. */
  owedLedgersMax: 64,
  /** The keeping time: answers, and what is owed for a ledger that is gone, are removed after it (41). */
  keepMs: 24 * 60 * 60_000,
  /** A post older than this proves nothing by an answer that is not there: it may have been removed (39). */
  absenceMsMax: 6 * 60 * 60_000,
  /** Wait for one call of the inbox's store. */
  callTimeoutMs: 2_000,
  /** Tries of a put that its store refuses for too much to do, before the append is refused. */
  refusedPutsMax: 2,
  /** Pause before a put without a reply is repeated, and before answers that are not put are put again. */
  putPauseMs: 50,
  /** Pause between looks whether every answer of a tenure that ends is put. */
  drainPauseMs: 5,
  /**
   * How long a holder that ends its tenure goes on putting answers; what is left is decided by others (40).
   */
  lastAnswersMs: 1_000,
  /** Pauses between looks at an answer: the first one, then growing to the longest. */
  answerPollMs: 15,
  answerPollMsMax: 100,
  answerPollGrowth: 1.5,
  /** Pause between looks at the lease while the ticket's tenure serves. */
  leasePollMs: 1_000,
  /** The same once that tenure is over and still owes; a random part of as much again is added. */
  owedPollMs: 200,
  /** Requests of one query, and metered bytes of their records. */
  queryRequestsMax: 250,
  queryBytesMax: 4 * 1024 * 1024,
  /**
   * A holder's pause after a query that found nothing, and the same once it has found nothing for so long.
   */
  queryPauseMs: 15,
  idleQueryPauseMs: 50,
  idleQueryAfterMs: 250,
  /** Entries with unanswered tickets from which a holder takes no more requests. */
  unansweredEntriesMax: 8,
  /** Revisions of the lease below the present one whose tickets are still taken when the floor is raised. */
  floorLag: 4,
} as const;

assert(inboxLimits.absenceMsMax <= inboxLimits.keepMs / 4, "rule 39: a quarter of the keeping time");
assert(inboxLimits.unansweredEntriesMax < inboxLimits.answerWindow, "a holder has room for its own callers");
