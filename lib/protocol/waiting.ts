/** Waiting: bounded calls and pauses on the clock port, and signals. */
import { aborted, type CallSignal } from "./call-abort.ts";
import type { Clock } from "./clock.ts";
import { settledBefore } from "./deadline.ts";
import { unavailable } from "./errors.ts";
import { limits } from "./limits.ts";
import { type Random, randomBelow } from "./random.ts";

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
