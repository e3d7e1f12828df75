/**
 * One caller's append until it is answered, and those of one log that wait for their turn.
 *
 *     waiting ──sent──> in doubt ──acknowledged, or found by recovery──> answered
 *        ^                 │
 *        └──certainly not recorded
 *
 * PA1 It is answered once.
 * PA2 Once its deadline is over it is answered with what is then known: `not_ready` without side effects
 *     while it waits, `unknown_outcome` while it is in doubt. After that it is never sent again; bytes that
 *     were sent before may still be recorded, as that answer says. This holds also where no timer fired: the
 *     process was frozen, and meanwhile the log may have forgotten that another attempt is recorded.
 * PA3 The queue is bounded: an append that does not fit is refused at once.
 * PA4 An append that starts again stands in front of those that came later.
 */
import { type Clock, Deadline, type Timer } from "../../deadline.ts";
import { FencelineError, notReady } from "../../errors.ts";
import type { SeqNum } from "../../ids.ts";
import { limits } from "../../limits.ts";
import type { Ticket } from "../inbox-store.ts";
import { type AppendAnswer, failed } from "../log-ports.ts";
import type { LogRef } from "../log-ref.ts";
import { notOwner } from "../opening/not-the-writer.ts";
import type { TakeoverPermit } from "../opening/open-segment.ts";
import type { AppendAck } from "../operations.ts";
import type { RecordInput } from "../records/record.ts";
import type { BatchSender } from "../records/record-set.ts";
import { tooManyRestarts } from "./append-errors.ts";

/** How long the caller of an append waits for its answer, from its arrival on. */
export function appendDeadline(
  clock: Clock,
  logName: string,
  timeoutMs: number = limits.appendDeadlineMs,
): Deadline {
  const late = (givenMs: number) =>
    notReady(
      `log ${logName}: metadata, the lease table or the owner did not answer in time for this ` +
        `append to be sent within ${givenMs} ms; nothing of it was sent; try again`,
      "asking",
    );
  return new Deadline(clock, Math.min(timeoutMs, limits.appendDeadlineMs), late);
}

/** What is to be appended. */
export interface AppendBatch {
  /** None: a control entry (rule 14). */
  readonly records: readonly RecordInput[];
  readonly matchSeqNum?: SeqNum | undefined;
  readonly sender?: BatchSender | undefined;
  /** Metered bytes of the records. */
  readonly bytes: number;
  /** The owner that the log may be taken over from for this append. */
  readonly permit?: TakeoverPermit | undefined;
  /** It was posted by another process: it is sent only in the ticket's tenure (rule 37). */
  readonly ticket?: Ticket | undefined;
}

/** A control entry on its way (rule 14). */
export function controlAppend(clock: Clock, { name }: LogRef): PendingAppend {
  return new PendingAppend(clock, name, appendDeadline(clock, name), { records: [], bytes: 0 });
}

export class PendingAppend {
  /** Never rejects. */
  readonly outcome: Promise<AppendAnswer>;
  /** Times that it was sent, found not recorded, and put back. */
  restarts = 0;
  #resolve: ((answer: AppendAnswer) => void) | undefined;
  #doubt: (() => FencelineError) | undefined;
  readonly #timer: Timer;

  constructor(
    clock: Clock,
    private readonly logName: string,
    private readonly deadline: Deadline,
    readonly batch: AppendBatch,
  ) {
    this.outcome = new Promise((resolve) => {
      this.#resolve = resolve;
    });
    this.#timer = clock.startTimer(deadline.leftMs, () => this.#outOfTime());
  }

  /** PA2, for the process that is about to send it. */
  expire(): void {
    if (this.deadline.isOver) this.#outOfTime();
  }

  /**
   * A posted append that was sent waits for its verdict, however long: its poster has a deadline of its own.
   */
  #outOfTime(): void {
    if (this.batch.ticket !== undefined && this.#doubt !== undefined) return;
    this.fail(this.#doubt?.() ?? outOfTime(this.logName, this.deadline.timeoutMs));
  }

  get isAnswered(): boolean {
    return this.#resolve === undefined;
  }

  get isControl(): boolean {
    return this.batch.records.length === 0;
  }

  /** From here on it may be recorded; `doubt` is the answer if time runs out. */
  sent(doubt: () => FencelineError): void {
    this.#doubt = doubt;
  }

  /** It is certainly not recorded and never will be by what was sent so far. */
  notRecorded(): void {
    this.#doubt = undefined;
  }

  acknowledge(ack: AppendAck): void {
    this.answer({ kind: "acknowledged", ack });
  }

  fail(error: unknown): void {
    this.answer(failed(error));
  }

  /** PA1 */
  answer(answer: AppendAnswer): void {
    this.#resolve?.(answer);
    this.#resolve = undefined;
    this.#timer.cancel();
  }
}

function outOfTime(logName: string, timeoutMs: number): FencelineError {
  const story = `no segment was ready for this append within ${timeoutMs} ms; nothing of it was sent`;
  return notReady(`log ${logName}: ${story}; try again`, "waiting");
}

/** Appends of one log that wait for their turn, in order (PA3). */
export class AppendQueue {
  #waiting: PendingAppend[] = [];
  #bytes = 0;

  constructor(private readonly logName: string) {}

  get isEmpty(): boolean {
    return this.#waiting.length === 0;
  }

  /** The owner that the log may be taken over from now, for one of those that wait. */
  get permit(): TakeoverPermit | undefined {
    const mayTake = ({ isAnswered, batch }: PendingAppend) =>
      !isAnswered && batch.permit?.deadline.isOver === false;
    return this.#waiting.find(mayTake)?.batch.permit;
  }

  /** Puts an append at the end, or answers it with `over_capacity`. */
  push(append: PendingAppend): void {
    if (this.#isFull()) this.dropAnswered();
    if (this.#isFull()) append.fail(this.#overCapacity());
    if (append.isAnswered) return;
    this.#waiting.push(append);
    this.#bytes += append.batch.bytes;
  }

  /** Not recorded: in line again (PA4). The most restarts among them. */
  restart(appends: readonly PendingAppend[]): number {
    const again = appends.filter((append) => !append.isAnswered);
    for (const append of again) {
      append.restarts += 1;
      if (append.isControl) append.fail(notOwner(this.logName));
      if (append.restarts > limits.appendRestartsMax) {
        append.fail(tooManyRestarts(this.logName, append.restarts));
      }
    }
    this.#replace([...again, ...this.#waiting].filter((append) => !append.isAnswered));
    return Math.max(0, ...again.map((append) => append.restarts));
  }

  /** Forgets appends that are answered, because their time is over. */
  dropAnswered(): void {
    this.#replace(this.#waiting.filter((append) => !append.isAnswered));
  }

  /**
   * Takes as many appends as share one entry: a batch's limits hold for all of them together. A control entry
   * is one of its own.
   */
  takeGroup(): readonly PendingAppend[] {
    const { count, bytes } = this.#group();
    this.#bytes -= bytes;
    const group = this.#waiting.splice(0, count);
    for (const append of group) append.expire();
    return group.filter((append) => !append.isAnswered);
  }

  /** Whether the next group is as large as it can become. */
  get isGroupWhole(): boolean {
    return this.#group().count < this.#waiting.length;
  }

  waiting(): readonly PendingAppend[] {
    return [...this.#waiting];
  }

  /**
   * Takes those that are not answered, all at once: they go another way than to a segment of this process.
   */
  takeAll(): readonly PendingAppend[] {
    const all = this.#waiting.filter((append) => !append.isAnswered);
    this.#replace([]);
    return all;
  }

  #group(): { readonly count: number; readonly bytes: number } {
    let count = 0;
    let records = 0;
    let bytes = 0;
    for (const { batch, isControl } of this.#waiting) {
      records += batch.records.length;
      const isFull = records > limits.batchRecordsMax || bytes + batch.bytes > limits.batchBytesMax;
      if (count > 0 && (isFull || isControl)) break;
      count += 1;
      bytes += batch.bytes;
      if (isControl) break;
    }
    return { count, bytes };
  }

  #replace(waiting: PendingAppend[]): void {
    this.#waiting = waiting;
    this.#bytes = waiting.reduce((sum, append) => sum + append.batch.bytes, 0);
  }

  #isFull(): boolean {
    return this.#waiting.length >= limits.waitingAppendsMax || this.#bytes >= limits.waitingBytesMax;
  }

  #overCapacity(): FencelineError {
    const { waitingAppendsMax, waitingBytesMax } = limits;
    return new FencelineError("over_capacity", {
      message:
        `log ${this.logName}: ${this.#waiting.length} appends with ${this.#bytes} bytes wait already, and ` +
        `at most ${waitingAppendsMax} and ${waitingBytesMax} bytes may; wait for answers before sending more`,
      details: { limit: waitingAppendsMax, limit_bytes: waitingBytesMax, scope: "log" },
    });
  }
}
