/** Appends of one log that wait for their turn, in order. Bounded: what does not fit is refused at once. */
import { FencelineError } from "../errors.ts";
import { limits } from "../limits.ts";
import type { PendingAppend } from "./pending-append.ts";

export class AppendQueue {
  #waiting: PendingAppend[] = [];
  #bytes = 0;

  constructor(private readonly logName: string) {}

  get isEmpty(): boolean {
    return this.#waiting.length === 0;
  }

  /** Puts an append at the end. Throws `over_capacity`. */
  push(append: PendingAppend): void {
    if (this.#isFull()) this.#replace(this.#waiting.filter((one) => !one.isAnswered));
    if (this.#isFull()) throw this.#overCapacity();
    this.#waiting.push(append);
    this.#bytes += append.bytes;
  }

  /** Puts appends that were taken before back to the front, in their order. */
  putBack(appends: readonly PendingAppend[]): void {
    this.#replace([...appends, ...this.#waiting]);
  }

  take(): PendingAppend | undefined {
    const first = this.#waiting.shift();
    this.#bytes -= first?.bytes ?? 0;
    return first;
  }

  takeAll(): readonly PendingAppend[] {
    const all = this.#waiting;
    this.#replace([]);
    return all;
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
