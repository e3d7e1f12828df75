/**
 * The host's clocks and timers.
 *
 * SC1 A timer keeps the process alive, because a caller may await it: a command that pauses between two
 *     attempts must not exit in the middle with nothing printed. A process that is done calls `release`: what
 *     is pending then still fires while the process lives, but no longer holds it. So a finished command
 *     leaves at once, whatever time-outs its calls left behind, and a server's pauses always end.
 * SC2 A timer never fires early by the monotonic clock, also for delays that the host's timers cannot hold.
 */
import { assert } from "../../protocol/assert.ts";
import type { Clock, Timer } from "../../protocol/deadline.ts";

/** Node's timers take delays up to 2^31 - 1 ms (25 days) and fire at once beyond. */
const HOST_DELAY_MAX_MS = 2 ** 31 - 1;

export class SystemClock implements Clock, Disposable {
  readonly #pending = new Set<HostTimer>();
  #released = false;

  nowMs(): number {
    return Date.now();
  }

  monotonicMs(): number {
    return performance.now();
  }

  startTimer(delayMs: number, fire: () => void): Timer {
    assert(Number.isFinite(delayMs), `a delay is a number of ms, got ${delayMs}`);
    const timer = new HostTimer(this.monotonicMs() + delayMs, () => {
      this.#pending.delete(timer);
      fire();
    });
    this.#pending.add(timer);
    timer.start(this.#released);
    return {
      cancel: () => {
        timer.stop();
        this.#pending.delete(timer);
      },
    };
  }

  /** The work is done: timers, pending and later ones, no longer keep the process alive (SC1). */
  release(): void {
    this.#released = true;
    for (const timer of this.#pending) timer.release();
  }

  [Symbol.dispose](): void {
    this.release();
  }
}

class HostTimer {
  readonly #dueMs: number;
  readonly #fire: () => void;
  #handle: NodeJS.Timeout | undefined;

  constructor(dueMs: number, fire: () => void) {
    this.#dueMs = dueMs;
    this.#fire = fire;
  }

  start(released: boolean): void {
    const leftMs = Math.max(0, Math.ceil(this.#dueMs - performance.now()));
    this.#handle = setTimeout(() => this.#onHostTimer(), Math.min(leftMs, HOST_DELAY_MAX_MS));
    if (released) this.#handle.unref();
  }

  stop(): void {
    clearTimeout(this.#handle);
  }

  release(): void {
    this.#handle?.unref();
  }

  #onHostTimer(): void {
    // The host rounds to whole ms and cuts long delays (SC2).
    if (performance.now() < this.#dueMs) this.start(this.#handle?.hasRef() === false);
    else this.#fire();
  }
}
