/** Appends of one log that wait for their turn, in order. Bounded: what does not fit is refused at once. */
import { FencelineError } from "../../errors.ts";
import { limits } from "../../limits.ts";
import { notOwner } from "../opening/not-the-writer.ts";
import { tooManyRestarts } from "./append-errors.ts";
import type { PendingAppend } from "./pending-append.ts";

export class AppendQueue {
  #waiting: PendingAppend[] = [];
  #bytes = 0;

  constructor(private readonly logName: string) {}

  get isEmpty(): boolean {
    return this.#waiting.length === 0;
  }

  /** Puts an append at the end, or answers it with `over_capacity`. */
  push(append: PendingAppend): void {
    if (this.#isFull()) this.dropAnswered();
    if (this.#isFull()) append.fail(this.#overCapacity());
    if (append.isAnswered) return;
    this.#waiting.push(append);
    this.#bytes += append.bytes;
  }

  /** Not recorded: in line again, in front of everything that came later. The most restarts among them. */
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

  /** Forgets appends that are answered, for want of time. */
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

  #group(): { readonly count: number; readonly bytes: number } {
    let count = 0;
    let records = 0;
    let bytes = 0;
    for (const append of this.#waiting) {
      records += append.records.length;
      const isFull = records > limits.batchRecordsMax || bytes + append.bytes > limits.batchBytesMax;
      if (count > 0 && (isFull || append.isControl)) break;
      count += 1;
      bytes += append.bytes;
      if (append.isControl) break;
    }
    return { count, bytes };
  }

  #replace(waiting: PendingAppend[]): void {
    this.#waiting = waiting;
    this.#bytes = waiting.reduce((sum, append) => sum + append.bytes, 0);
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
