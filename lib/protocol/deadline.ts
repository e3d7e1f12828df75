/**
 * Too late, and too old: judged by both clocks of the process, in one way everywhere.
 *
 * DL1 A span of time is over as soon as either clock says so. The wall clock may jump; the monotonic clock
 *     may stand still in a process that is frozen, or whose host is suspended.
 * DL2 A clock that went back has proved nothing: what was found out before that is too old, and the deadline
 *     of the caller who asked before that is over.
 * DL3 A deadline is made once, when its caller arrives, and handed down to every step. No step sends, fences
 *     or moves anything after it.
 */

/** Port: time. */
export interface Clock {
  /** Wall time in ms since the epoch. It may be skewed by hours and may jump. */
  nowMs(): number;
  /** Time in ms that never falls within this process. For durations only. */
  monotonicMs(): number;
  /** Calls `fire` once after `delayMs` unless cancelled. */
  startTimer(delayMs: number, fire: () => void): Timer;
}

export interface Timer {
  /** Forgets the timer; harmless after it fired. */
  cancel(): void;
}

export type Clocks = Pick<Clock, "nowMs" | "monotonicMs">;

/** A point in time by both clocks of one process. */
interface Moment {
  readonly wallMs: number;
  readonly monotonicMs: number;
}

export function momentNow(clock: Clocks): Moment {
  return { wallMs: clock.nowMs(), monotonicMs: clock.monotonicMs() };
}

/** What passed since then by the wall clock and by the monotonic one; below 0 if that jumped back. */
export function agesMs(clock: Clocks, { wallMs, monotonicMs }: Moment): readonly [number, number] {
  return [clock.nowMs() - wallMs, clock.monotonicMs() - monotonicMs];
}

/** How long ago something was noted, such as a copy that was read or an answer that came. Never changes. */
export class Age {
  readonly #notedAt: Moment;

  /** Of something that is noted now. */
  constructor(private readonly clock: Clocks) {
    this.#notedAt = momentNow(clock);
  }

  /** Whether less than `ms` passed since then, by both clocks (DL1, DL2). */
  isWithin(ms: number): boolean {
    return this.ms < ms;
  }

  /** Whether `ms` or more passed since then by either clock, or either went back. */
  isOlder(ms: number): boolean {
    return !this.isWithin(ms);
  }

  /** What passed since then by the clock that went further; without end if either went back (DL2). */
  get ms(): number {
    const [wallMs, monotonicMs] = agesMs(this.clock, this.#notedAt);
    return wallMs < 0 || monotonicMs < 0 ? Number.POSITIVE_INFINITY : Math.max(wallMs, monotonicMs);
  }

  /** What remains of a span of `ms` that began then: 0 once it is over. */
  leftMs(ms: number): number {
    return Math.max(0, ms - this.ms);
  }

  /** Whether this was noted after `other`, in the same process. False for two of the same ms. */
  isAfter(other: Age): boolean {
    return this.#notedAt.monotonicMs > other.#notedAt.monotonicMs;
  }
}

/** Makes the error of a caller whose time is over. `timeoutMs`: how long the caller was ready to wait. */
type Late = (timeoutMs: number) => Error;

export class Deadline {
  readonly #age: Age;
  readonly #around: Deadline | undefined;

  /** Begins now. `late`: what `check` and `ask` throw once it is over. */
  constructor(
    private readonly clock: Clock,
    readonly timeoutMs: number,
    private readonly late: Late,
    around?: Deadline,
  ) {
    this.#age = new Age(clock);
    this.#around = around;
  }

  get isOver(): boolean {
    return this.#age.isOlder(this.timeoutMs) || this.#around?.isOver === true;
  }

  /** In ms. At least 1, so that it may be used as a time-out: whether it is over is the other question. */
  get leftMs(): number {
    const aroundMs = this.#around?.leftMs ?? Number.POSITIVE_INFINITY;
    return Math.max(1, Math.min(aroundMs, this.#age.leftMs(this.timeoutMs)));
  }

  /** Before every step that has an effect. Throws what the maker of the deadline said, once it is over. */
  check(): void {
    if (this.isOver) throw this.#lateError();
  }

  /**
   * Settles as `question` does, which has no effect that matters: rejects as `check` does when the deadline
   * passes first, or when the answer comes to a process that was frozen meanwhile. What was asked may go on.
   */
  async ask<T>(question: () => Promise<T>): Promise<T> {
    this.check();
    const answer = await settledBefore(this.clock, this.leftMs, () => this.#lateError(), question);
    this.check();
    return answer;
  }

  /** A nearer deadline for one step: over `ms` from now, or with this one if that comes first. */
  limit(ms: number, late: Late = this.late): Deadline {
    return new Deadline(this.clock, ms, late, this);
  }

  /** Of the deadline that passed first, as far as can be seen: the outer one if that is over as well. */
  #lateError(): Error {
    return this.#around?.isOver === true ? this.#around.#lateError() : this.late(this.timeoutMs);
  }
}

/** Settles as `call` does; rejects with `late` after `timeoutMs`, or as `cancelled` says. Leaves no timer. */
export function settledBefore<T>(
  clock: Clock,
  timeoutMs: number,
  late: () => Error,
  call: () => Promise<T>,
  cancelled: (reject: (error: Error) => void) => void = () => {},
): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const timer = clock.startTimer(timeoutMs, () => reject(late()));
    const fail = (error: unknown) => {
      timer.cancel();
      reject(error);
    };
    cancelled(fail);
    started(call).then((value) => {
      timer.cancel();
      resolve(value);
    }, fail);
  });
}

/** A call that throws at once rejects like one that fails later. */
async function started<T>(call: () => Promise<T>): Promise<T> {
  return await call();
}
