/**
 * The inbox of one log: appends that a region's processes post to the process that holds the writer lease,
 * and its answers (rules 36 to 41). Safety rests on tickets, on what the lease item lists, and on closed
 * ledgers; the store only carries values.
 */
import type { FencelineError } from "../errors.ts";
import type { LeaseBirth, LogIncarnation, SeqNum, Tenure, TicketId } from "../ids.ts";
import type { AppendAck } from "./operations.ts";
import type { RecordInput, Sender } from "./records/record.ts";

/** Names one post, and no other: a repeated put carries the same ticket, a new post draws a new one (36). */
export interface Ticket {
  /** Of the lease item that the poster read. */
  readonly birth: LeaseBirth;
  /** The only tenure that may serve it (37). */
  readonly tenure: Tenure;
  /** Of the lease item that the poster read; a floor at or above it ends the ticket (38). */
  readonly revision: number;
  readonly id: TicketId;
}

/** A batch as its poster got it. Without records: a request to settle the tail (42, rule 14). */
export interface PostedAppend {
  readonly records: readonly RecordInput[];
  readonly matchSeqNum?: SeqNum;
  readonly sender?: Sender;
}

export interface InboxRequest {
  readonly ticket: Ticket;
  readonly append: PostedAppend;
}

/**
 * What a ticket's poster gets. All writers of one answer say the same of the batch (38). A holder that
 * acknowledges to its own callers says where a batch is durable as well; a posted append's answer does not.
 */
export type InboxAnswer =
  | { readonly kind: "recorded"; readonly ack: Omit<AppendAck, "durableIn"> }
  /** `ruledOut`: no attempt at this batch is recorded, nor ever will be. */
  | { readonly kind: "refused"; readonly error: FencelineError; readonly ruledOut?: true }
  /** It was not sent, and in the ticket's tenure it never will be. */
  | { readonly kind: "not-served" };

export interface AnsweredTicket {
  readonly ticket: Ticket;
  readonly answer: InboxAnswer;
}

export interface InboxQuery {
  readonly birth: LeaseBirth;
  readonly tenure: Tenure;
  /** Only tickets of a higher revision. */
  readonly above: number;
  /** At most, and at most so many metered bytes of records; one request comes whatever its size. */
  readonly requestsMax: number;
  readonly bytesMax: number;
}

export interface InboxPage {
  /** By revision, then by id. What was removed, or is not whole yet, is not among them. */
  readonly requests: readonly InboxRequest[];
  /** Their keys can be read and their content cannot: an unreadable request keeps no other one waiting. */
  readonly damaged: readonly Ticket[];
  /** Nothing lies beyond this page. */
  readonly isWhole: boolean;
}

/**
 * Port: one region's own table, apart from the leases'. Writes are of single items: a rejection says nothing,
 * and any write may take effect late, or twice. Too much to do is `over_capacity`: if its `sideEffects` are
 * "none", the write was refused and never takes effect. A throttled inbox is no sign of anything else.
 */
export interface InboxStore {
  /** Puts the request; the same again changes nothing. It resolves when the request can be found whole. */
  post(log: LogIncarnation, request: InboxRequest): Promise<void>;
  /** Consistent: sees every request whose `post` resolved before, unless it was removed. */
  requests(log: LogIncarnation, query: InboxQuery): Promise<InboxPage>;
  /**
   * Puts answers, and removes the requests of those that are put (41). Resolves with the tickets whose
   * answers are certainly put; of the others nothing is known. Rejects only if nothing is known of any.
   */
  answer(log: LogIncarnation, answers: readonly AnsweredTicket[]): Promise<readonly Ticket[]>;
  /** `consistent`: sees every answer that was put before the read began. `stale`: any earlier state. */
  readAnswer(
    log: LogIncarnation,
    ticket: Ticket,
    consistency: "consistent" | "stale",
  ): Promise<InboxAnswer | undefined>;
  /**
   * Removes what was written before `beforeMs`, wall time of its writer (41), as far as a call gets. Resolves
   * with how many items it removed, 0 once there are none. Absent where the store forgets by age on its own.
   */
  sweep?(beforeMs: number): Promise<number>;
}
