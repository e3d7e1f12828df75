/**
 * One process: a function instance, a client or an instance of a bookie. Everything that reaches it from
 * outside, a timer or an answer, enters through `enter`, so that a process can be stopped between any two
 * steps of its code.
 *
 *     running <--> frozen        what arrives meanwhile enters at the thaw, in any order
 *        \___________\___> crashed   nothing enters ever again; what it sent goes on without it
 *
 * While it is frozen its monotonic clock goes on, or stands still and takes its timers along: hosts do either.
 */
import type { Clock, Timer } from "../../lib/protocol/deadline.ts";
import type { Region } from "../../lib/protocol/ids.ts";
import type { Scheduler } from "./scheduler.ts";
import type { SeededRandom } from "./seeded-random.ts";

/** Virtual time is a floating-point number; sums of it are off by less. */
const ROUNDING_MS = 0.001;

/** Wall time at virtual time 0; any fixed moment will do. */
export const WALL_START_MS = 1_800_000_000_000;

export class SimulatedProcess {
  readonly clock: Clock;
  state: "running" | "frozen" | "crashed" = "running";
  /** Wall time less true time; grows and falls with jumps. */
  wallSkewMs = 0;
  /** Virtual time of its last thaw. */
  thawedAtMs: number | undefined;
  #held: (() => void)[] = [];
  #frozenAtMs = 0;
  /** For how long its monotonic clock has stood still so far. */
  #stoodMs = 0;

  constructor(
    readonly name: string,
    /** Which process of that name this is, from 0. */
    readonly ordinal: number,
    readonly region: Region,
    private readonly scheduler: Scheduler,
    readonly random: SeededRandom,
    /** Whether its monotonic clock stands still while it is frozen. */
    private readonly standsStill: boolean,
  ) {
    const startedAtMs = scheduler.nowMs;
    this.clock = {
      nowMs: () => Math.floor(WALL_START_MS + scheduler.nowMs + this.wallSkewMs),
      monotonicMs: () => this.#awakeMs() - startedAtMs,
      startTimer: (delayMs, fire) => this.#startTimer(delayMs, fire),
    };
  }

  /** Lets something from outside happen in this process: now, at the thaw, or never. */
  enter(act: () => void): void {
    if (this.state === "running") act();
    else if (this.state === "frozen") this.#held.push(act);
  }

  freeze(): void {
    if (this.state !== "running") return;
    this.state = "frozen";
    this.#frozenAtMs = this.scheduler.nowMs;
  }

  thaw(): void {
    if (this.state !== "frozen") return;
    this.state = "running";
    if (this.standsStill) this.#stoodMs += this.scheduler.nowMs - this.#frozenAtMs;
    this.thawedAtMs = this.scheduler.nowMs;
    const held = this.random.shuffled(this.#held);
    this.#held = [];
    // Each as an event of its own: a second freeze may come between two of them.
    for (const act of held) this.scheduler.after(0, () => this.enter(act));
  }

  crash(): void {
    this.state = "crashed";
    this.#held = [];
  }

  /** Virtual time without what its monotonic clock missed. Asked by its own code alone, so never while frozen. */
  #awakeMs(): number {
    return this.scheduler.nowMs - this.#stoodMs;
  }

  #startTimer(delayMs: number, fire: () => void): Timer {
    let pending: (() => void) | undefined = fire;
    const wait = (ms: number) => this.scheduler.after(Math.max(0, ms), () => this.enter(due));
    const dueMs = this.#awakeMs() + Math.max(0, delayMs);
    const due = () => {
      const act = pending;
      const leftMs = dueMs - this.#awakeMs();
      if (act !== undefined && leftMs > ROUNDING_MS) {
        event = wait(leftMs);
        return;
      }
      pending = undefined;
      act?.();
    };
    let event = wait(delayMs);
    return {
      cancel: () => {
        pending = undefined;
        this.scheduler.cancel(event);
      },
    };
  }
}
