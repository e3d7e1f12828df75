/**
 * One caller's append until it is answered.
 *
 *     waiting ──sent──> in doubt ──acknowledged, or found by recovery──> answered
 *        ^                 │
 *        └──certainly not recorded
 *
 * A1 It is answered once.
 * A2 Out of time it is answered with what is then known: `not_ready` without side effects while it waits,
 *    `unknown_outcome` while it is in doubt. After that it is never sent again (its bytes may still be
 *    recorded, as that answer says). Nor is it if time has run out by either clock and no timer has fired:
 *    the process was frozen, and the log may have forgotten that another attempt at it is recorded (PT3).
 */
import type { Clock, Timer } from "../../clock.ts";
import { FencelineError } from "../../errors.ts";
import type { SeqNum } from "../../ids.ts";
import { limits } from "../../limits.ts";
import { isWithin, type Moment, momentNow } from "../../moment.ts";
import type { AppendAck } from "../operations.ts";
import type { BatchSender } from "../records/entry-batches.ts";
import type { RecordInput } from "../records/record.ts";

export interface PendingAppendFields {
  /** None: a control entry (rule 14). */
  readonly records: readonly RecordInput[];
  readonly matchSeqNum?: SeqNum;
  readonly sender?: BatchSender | undefined;
  /** Metered bytes of the records. */
  readonly bytes: number;
  /** The caller's patience in ms, if it is less than limits.appendDeadlineMs. */
  readonly timeoutMs?: number;
}

export type AppendVerdict =
  | { readonly kind: "acknowledged"; readonly ack: AppendAck }
  | { readonly kind: "refused"; readonly error: FencelineError };

export class PendingAppend {
  readonly records: readonly RecordInput[];
  readonly matchSeqNum: SeqNum | undefined;
  readonly sender: BatchSender | undefined;
  readonly bytes: number;
  readonly outcome: Promise<AppendAck>;
  /** Times that it was sent, found not recorded, and put back. */
  restarts = 0;
  #settle: { resolve: (ack: AppendAck) => void; reject: (error: unknown) => void } | undefined;
  #doubt: (() => FencelineError) | undefined;
  readonly #timer: Timer;
  readonly #begun: Moment;
  readonly #timeoutMs: number;

  constructor(
    private readonly clock: Clock,
    private readonly logName: string,
    fields: PendingAppendFields,
  ) {
    this.records = fields.records;
    this.matchSeqNum = fields.matchSeqNum;
    this.sender = fields.sender;
    this.bytes = fields.bytes;
    this.outcome = new Promise((resolve, reject) => {
      this.#settle = { resolve, reject };
    });
    this.#begun = momentNow(clock);
    this.#timeoutMs = Math.min(fields.timeoutMs ?? limits.appendDeadlineMs, limits.appendDeadlineMs);
    this.#timer = clock.startTimer(this.#timeoutMs, () => this.#outOfTime());
  }

  /** A2. For who is about to send it. */
  expire(): void {
    if (!isWithin(this.clock, this.#begun, this.#timeoutMs)) this.#outOfTime();
  }

  #outOfTime(): void {
    this.fail(this.#doubt?.() ?? outOfTime(this.logName, this.#timeoutMs));
  }

  get isAnswered(): boolean {
    return this.#settle === undefined;
  }

  get isControl(): boolean {
    return this.records.length === 0;
  }

  /** From here on it may be recorded; `doubt` is the answer if time runs out. */
  sent(doubt: () => FencelineError): void {
    this.#doubt = doubt;
  }

  /** It is certainly not recorded and never will be by what was sent so far. */
  notRecorded(): void {
    this.#doubt = undefined;
  }

  settle(verdict: AppendVerdict): void {
    if (verdict.kind === "acknowledged") this.acknowledge(verdict.ack);
    else this.fail(verdict.error);
  }

  acknowledge(ack: AppendAck): void {
    this.#answer()?.resolve(ack);
  }

  fail(error: unknown): void {
    this.#answer()?.reject(error);
  }

  #answer() {
    const settle = this.#settle;
    this.#settle = undefined;
    this.#timer.cancel();
    return settle;
  }
}

function outOfTime(logName: string, timeoutMs: number): FencelineError {
  return new FencelineError("not_ready", {
    message:
      `log ${logName}: no segment was ready for this append within ${timeoutMs} ms; ` +
      "nothing of it was sent; try again",
    sideEffects: "none",
    details: { phase: "waiting" },
  });
}
