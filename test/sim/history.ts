/**
 * What clients asked and what they got, in one order. An operation whose outcome the client does not
 * know, because the answer said so, or it crashed, or is still waiting, stays open to the end of the run.
 */
import { FencelineError } from "../../lib/protocol/errors.ts";
import type { EntryId, LedgerId, LogIncarnation, Region } from "../../lib/protocol/ids.ts";

import type { SimulatedProcess } from "./simulated-process.ts";

/** A payload or record, distinguished from all others by its number. */
export type Content = number;

export type Request =
  | { readonly kind: "add"; readonly ledgerId: LedgerId; readonly content: Content }
  | {
      readonly kind: "read";
      readonly ledgerId: LedgerId;
      readonly entryId: EntryId;
      readonly strong: boolean;
    }
  | { readonly kind: "recover"; readonly ledgerId: LedgerId }
  | { readonly kind: "close"; readonly ledgerId: LedgerId }
  | { readonly kind: "collect"; readonly ledgerId: LedgerId }
  | {
      readonly kind: "append";
      readonly log: string;
      readonly contents: readonly Content[];
      readonly match: number | undefined;
      /** Sent again until it is known to be there, by a producer or under a key. */
      readonly idempotent?: "producer" | "key";
    }
  /** `life`: the one that is to be deleted. */
  | {
      readonly kind: "keep-log";
      readonly log: string;
      readonly what: "trim" | "seal" | "delete" | "create";
      readonly life?: LogIncarnation;
    }
  /** A region is made the log's owner, or is said to be the one that it prefers. */
  | { readonly kind: "transfer" | "prefer"; readonly log: string; readonly to: Region }
  /** One pass of a region's auditor. */
  | { readonly kind: "audit"; readonly region: Region }
  | { readonly kind: "read-log"; readonly log: string; readonly from: number; readonly strong: boolean }
  | { readonly kind: "tail"; readonly log: string; readonly strong: boolean };

export type Answer =
  /** The position of what was added or appended. */
  | { readonly kind: "stored"; readonly at: number }
  | { readonly kind: "entry"; readonly content: Content }
  | { readonly kind: "nothing-yet" }
  | { readonly kind: "beyond-end"; readonly lastEntry: number }
  | { readonly kind: "closed"; readonly lastEntry: number; readonly length: number }
  /** Records from where they were asked for; none for a question about the tail. */
  | {
      readonly kind: "records";
      readonly contents: readonly Content[];
      readonly tail: number;
      readonly upToDate: boolean;
      /** The log was said to end at `tail`. */
      readonly sealed?: boolean;
    }
  /** Refused: the log's tail was `actual`, not what the append was conditional on. */
  | { readonly kind: "mismatch"; readonly actual: number }
  /** A transfer is over: this region owns the log, by this segment. */
  | { readonly kind: "owned"; readonly owner: Region | undefined; readonly epoch: number | undefined }
  /** It was done; a trim or a seal says where. */
  | { readonly kind: "done"; readonly at: number }
  /** Nothing happened, and nothing was learnt. */
  | { readonly kind: "none"; readonly reason: string }
  /** It may have happened, or may happen yet. */
  | { readonly kind: "unknown"; readonly reason: string };

export interface Operation {
  readonly number: number;
  readonly actor: string;
  /** The process that asked; it may never hear an answer if it froze or crashed. */
  readonly process: SimulatedProcess;
  readonly request: Request;
  /** Position of its start in the one order of all starts and ends. */
  readonly startedAt: number;
  /** Position of its end; Infinity while it is open, and for ever if the outcome is unknown. */
  readonly endedAt: number;
  readonly answer: Answer | undefined;
}

interface OpenOperation extends Operation {
  endedAt: number;
  answer: Answer | undefined;
}

export class History {
  readonly operations: Operation[] = [];
  #moment = 0;

  constructor(private readonly changed: (operation: Operation) => void) {}

  /** Of the last start or end. */
  get moment(): number {
    return this.#moment;
  }

  /**
   * Records the request, waits for `perform`, and records what it said. A failure that may have had an
   * effect leaves the operation open. Returns the answer; the error, if any, is in its reason.
   */
  async record(process: SimulatedProcess, request: Request, perform: () => Promise<Answer>): Promise<Answer> {
    const operation: OpenOperation = {
      number: this.operations.length,
      actor: process.name,
      process,
      request,
      startedAt: ++this.#moment,
      endedAt: Number.POSITIVE_INFINITY,
      answer: undefined,
    };
    this.operations.push(operation);
    this.changed(operation);
    const answer = await answerOf(perform);
    operation.answer = answer;
    const moment = ++this.#moment;
    if (answer.kind !== "unknown") operation.endedAt = moment;
    this.changed(operation);
    return answer;
  }
}

async function answerOf(perform: () => Promise<Answer>): Promise<Answer> {
  try {
    return await perform();
  } catch (error) {
    if (!(error instanceof FencelineError)) throw error;
    const reason = `${error.code}: ${error.message}`;
    return { kind: error.sideEffects === "none" ? "none" : "unknown", reason };
  }
}
