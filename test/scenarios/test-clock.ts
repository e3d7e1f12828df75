/** A clock that stands still until the story lets time pass; timers fire in order of their due time. */
import type { Clock, Timer } from "../../lib/protocol/deadline.ts";

interface Due {
  atMs: number;
  readonly order: number;
  readonly fire: () => void;
}

export class TestClock implements Clock {
  #nowMs = 1_800_000_000_000;
  /** How long hosts were suspended, all together. */
  #stoodStillMs = 0;
  /** How far the wall clock was set ahead, or back, of the time that passed. */
  #setMs = 0;
  #order = 0;
  #due: Due[] = [];

  /** `turns` of the event loop let everything go on that can; one is enough where nothing does real I/O. */
  constructor(private readonly turns = 3) {}

  nowMs(): number {
    return this.#nowMs + this.#setMs;
  }

  monotonicMs(): number {
    return this.#nowMs - this.#stoodStillMs;
  }

  get pendingTimers(): number {
    return this.#due.length;
  }

  startTimer(delayMs: number, fire: () => void): Timer {
    const due = { atMs: this.#nowMs + delayMs, order: this.#order++, fire };
    this.#due.push(due);
    const cancel = () => {
      this.#due = this.#due.filter((other) => other !== due);
    };
    return { cancel };
  }

  /** Lets every promise that can go on do so; no time passes. */
  async idle(): Promise<void> {
    for (let turn = 0; turn < this.turns; turn++) await new Promise((resolve) => setImmediate(resolve));
  }

  /** `durationMs` pass at one stroke, as for a frozen process: no timer fires before something runs again. */
  jump(durationMs: number): void {
    this.#nowMs += durationMs;
  }

  /** As `jump`, on hosts that are suspended: their monotonic time stands still, and so do their timers. */
  suspend(durationMs: number): void {
    this.jump(durationMs);
    this.#stoodStillMs += durationMs;
    for (const due of this.#due) due.atMs += durationMs;
  }

  /** Sets the wall clock ahead by so much, or back; no time passes. */
  setWall(changeMs: number): void {
    this.#setMs += changeMs;
  }

  /** Lets `durationMs` pass, timer by timer. */
  async advance(durationMs: number): Promise<void> {
    const endMs = this.#nowMs + durationMs;
    await this.idle();
    while (this.#fireNext(endMs)) await this.idle();
    this.#nowMs = Math.max(this.#nowMs, endMs);
    await this.idle();
  }

  /** Runs until `promise` settles, letting time pass only when nothing else can happen. */
  async run<T>(promise: Promise<T>): Promise<T> {
    let settled = false;
    const done = () => {
      settled = true;
    };
    promise.then(done, done);
    for (let steps = 0; steps < 20_000; steps++) {
      await this.idle();
      if (settled) return await promise;
      if (!this.#fireNext(Number.POSITIVE_INFINITY)) throw new Error("stuck: nothing can happen any more");
    }
    throw new Error("stuck: 20,000 timers fired and it is still not settled");
  }

  #fireNext(untilMs: number): boolean {
    const next = this.#due.reduce<Due | undefined>((first, due) => {
      if (first === undefined || due.atMs < first.atMs) return due;
      return due.atMs === first.atMs && due.order < first.order ? due : first;
    }, undefined);
    if (next === undefined || next.atMs > untilMs) return false;
    this.#due = this.#due.filter((other) => other !== next);
    this.#nowMs = Math.max(this.#nowMs, next.atMs);
    next.fire();
    return true;
  }
}
