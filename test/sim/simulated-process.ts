/**
 * One process: a function instance, a client or an instance of a bookie. Everything that reaches it from
 * outside, a timer or an answer, enters through `enter`, so that a process can be stopped between any two
 * steps of its code.
 *
 *     running <--> frozen        what arrives meanwhile enters at the thaw, in any order
 *        \___________\___> crashed   nothing enters ever again; what it sent goes on without it
 */
import type { Region } from "../../lib/protocol/ids.ts";
import type { Clock, Timer } from "../../lib/protocol/ports.ts";
import type { Scheduler } from "./scheduler.ts";
import type { SeededRandom } from "./seeded-random.ts";

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

  constructor(
    readonly name: string,
    /** Which process of that name this is, from 0. */
    readonly ordinal: number,
    readonly region: Region,
    private readonly scheduler: Scheduler,
    readonly random: SeededRandom,
  ) {
    const startedAtMs = scheduler.nowMs;
    this.clock = {
      nowMs: () => Math.floor(WALL_START_MS + scheduler.nowMs + this.wallSkewMs),
      monotonicMs: () => scheduler.nowMs - startedAtMs,
      startTimer: (delayMs, fire) => this.#startTimer(delayMs, fire),
    };
  }

  /** Lets something from outside happen in this process: now, at the thaw, or never. */
  enter(act: () => void): void {
    if (this.state === "running") act();
    else if (this.state === "frozen") this.#held.push(act);
  }

  freeze(): void {
    if (this.state === "running") this.state = "frozen";
  }

  thaw(): void {
    if (this.state !== "frozen") return;
    this.state = "running";
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

  #startTimer(delayMs: number, fire: () => void): Timer {
    let pending: (() => void) | undefined = fire;
    const due = () => {
      const act = pending;
      pending = undefined;
      act?.();
    };
    const event = this.scheduler.after(Math.max(0, delayMs), () => this.enter(due));
    return {
      cancel: () => {
        pending = undefined;
        this.scheduler.cancel(event);
      },
    };
  }
}
