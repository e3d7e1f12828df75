/**
 * How long one caller waits for its append, from its arrival on. What is asked on the way, of metadata, the
 * leases and other regions, is given up when that is over; nothing of the append is sent from there on, by a
 * process that was frozen either: the log may have forgotten by then that another attempt was recorded (PT3).
 */
import type { Clock } from "../../clock.ts";
import { FencelineError } from "../../errors.ts";
import { limits } from "../../limits.ts";
import { isWithin, type Moment, momentNow } from "../../moment.ts";

export class Patience {
  readonly #begun: Moment;
  readonly #timeoutMs: number;

  constructor(
    private readonly clock: Clock,
    private readonly logName: string,
    timeoutMs: number = limits.appendDeadlineMs,
  ) {
    this.#timeoutMs = Math.min(timeoutMs, limits.appendDeadlineMs);
    this.#begun = momentNow(clock);
  }

  get isOver(): boolean {
    return !isWithin(this.clock, this.#begun, this.#timeoutMs);
  }

  /** In ms, never next to nothing. */
  get leftMs(): number {
    return Math.max(1, this.#begun.monotonicMs + this.#timeoutMs - this.clock.monotonicMs());
  }

  /** For who is about to send the append on. Throws `not_ready` without side effects if it is over. */
  check(): void {
    if (this.isOver) throw this.#outOfTime();
  }

  /**
   * Settles as a question does that sends nothing of the append, or rejects with `not_ready` without side
   * effects when the caller's patience ends. What was asked may go on.
   */
  ask<T>(question: () => Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const timer = this.clock.startTimer(this.leftMs, () => reject(this.#outOfTime()));
      const over = (settle: () => void) => {
        timer.cancel();
        settle();
      };
      question().then(
        (answer) => over(() => resolve(answer)),
        (error) => over(() => reject(error)),
      );
    });
  }

  #outOfTime(): FencelineError {
    return new FencelineError("not_ready", {
      message:
        `log ${this.logName}: metadata, the lease table or the owner did not answer in time for this ` +
        `append to be sent within ${this.#timeoutMs} ms; nothing of it was sent; try again`,
      sideEffects: "none",
      details: { phase: "asking" },
    });
  }
}
