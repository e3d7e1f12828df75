/** The system's clock, some times faster: waits and limits of seconds pass in a fraction of them. */
import { SystemClock } from "../../lib/adapters/node/system-clock.ts";
import type { CloudClock } from "../../lib/local/embedded-cloud.ts";
import type { Timer } from "../../lib/protocol/deadline.ts";

export class HurriedClock implements CloudClock {
  readonly #clock = new SystemClock();
  #leaptMs = 0;

  constructor(private readonly factor: number) {}

  nowMs(): number {
    return this.#clock.nowMs();
  }

  monotonicMs(): number {
    return this.#clock.monotonicMs() * this.factor + this.#leaptMs;
  }

  startTimer(delayMs: number, fire: () => void): Timer {
    return this.#clock.startTimer(delayMs / this.factor, fire);
  }

  /** So much time is gone at once, for every reader of the clock; timers that run are not hurried by it. */
  leap(durationMs: number): void {
    this.#leaptMs += durationMs;
  }

  release(): void {
    this.#clock.release();
  }
}
