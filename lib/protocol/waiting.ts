/** Waiting: bounded calls and pauses on the clock port, cancelled calls, and signals. */
import { type Clock, settledBefore } from "./deadline.ts";
import { type FencelineError, unavailable } from "./errors.ts";
import { limits } from "./limits.ts";
import { type Random, randomBelow } from "./random.ts";

/**
 * How one call learns that it was cancelled. Shaped like the platform's AbortSignal, which the protocol must
 * not know; an adapter passes it on to its own kind, so that a cancelled read costs nothing further: no retry
 * of its own, no place in a queue, no timer. An adapter over something that takes an AbortSignal writes
 * `signal.onAbort(() => controller.abort())` and rejects with what comes of it.
 */
export interface CallSignal {
  readonly aborted: boolean;
  /** Calls `tell` once when the call is aborted; at once if it was already. `tell` must not throw. */
  onAbort(tell: () => void): void;
}

/** As much of a signal as an operation looks at before each of its steps. */
export type Wanted = Pick<CallSignal, "aborted">;

export class CallAbort implements CallSignal {
  #aborted = false;
  #listeners: (() => void)[] = [];

  get aborted(): boolean {
    return this.#aborted;
  }

  onAbort(tell: () => void): void {
    if (this.#aborted) tell();
    else this.#listeners.push(tell);
  }

  /** Calls every listener, once; a second abort is nothing new. */
  abort(): void {
    if (this.#aborted) return;
    this.#aborted = true;
    const listeners = this.#listeners;
    this.#listeners = [];
    for (const tell of listeners) tell();
  }

  /** The call is over: a signal that is still held holds no listener. */
  forget(): void {
    this.#listeners = [];
  }
}

/** Throws `unavailable` if `what` was cancelled: to be asked before each step that costs. */
export function throwIfAborted(signal: Wanted | undefined, what: string): void {
  if (signal?.aborted === true) throw aborted(what);
}

/** Why a call that was aborted rejects. What it did until then stands. */
export function aborted(what: string): FencelineError {
  return unavailable(`${what}: nobody waits for it any more`);
}

/** Resolves after `delayMs`; rejects as soon as it is cancelled, and leaves no timer behind then. */
export function pause(clock: Clock, delayMs: number, signal?: CallSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted === true) {
      reject(aborted("pause"));
      return;
    }
    const timer = clock.startTimer(delayMs, resolve);
    signal?.onAbort(() => {
      timer.cancel();
      reject(aborted("pause"));
    });
  });
}

/**
 * Settles as `call` does, or rejects as `unavailable` after `timeoutMs`; its effect may then still happen at
 * any later time. A late answer is dropped. `signal`: the call was cancelled. It rejects at once then, leaves
 * no timer behind, and does not even begin if that is known beforehand.
 */
export function withTimeout<T>(
  clock: Clock,
  timeoutMs: number,
  what: string,
  call: () => Promise<T>,
  signal?: CallSignal,
): Promise<T> {
  if (signal?.aborted === true) return Promise.reject(aborted(what));
  const late = () => unavailable(`${what}: no answer in ${timeoutMs} ms`);
  const cancelled = (reject: (error: Error) => void) => signal?.onAbort(() => reject(aborted(what)));
  return settledBefore(clock, timeoutMs, late, call, cancelled);
}

/**
 * Pauses before something is begun again that a rival got in the way of: for a random part of a bound that
 * doubles. Two writers that fence each other in turn thus come apart, and the first of them has time to
 * write. `restart` counts from 1.
 */
export function backoff(
  ports: { readonly clock: Clock; readonly random: Random },
  restart: number,
): Promise<void> {
  const boundMs = Math.min(limits.restartPauseMsMax, limits.restartPauseMs * 2 ** (restart - 1));
  return pause(ports.clock, 1 + randomBelow(ports.random, boundMs));
}

/** Wakes those that wait for a change. A wake is not remembered: look first, then wait. */
export class Signal {
  #waiting: (() => void)[] = [];

  get isAwaited(): boolean {
    return this.#waiting.length > 0;
  }

  wait(): Promise<void> {
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  wake(): void {
    for (const resume of this.#waiting.splice(0)) resume();
  }
}
