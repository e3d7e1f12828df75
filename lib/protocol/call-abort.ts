/**
 * How one call learns that nobody waits for its answer any more. Shaped like the platform's AbortSignal,
 * which the protocol must not know; an adapter passes it on to its own kind, so that a cancelled read costs
 * nothing further: no retry of its own, no place in a queue, no timer. An adapter over something that takes
 * an AbortSignal writes `signal.onAbort(() => controller.abort())` and rejects with what comes of it.
 */
import { type FencelineError, unavailable } from "./errors.ts";

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

  /** Tells every listener, once; a second abort is nothing new. */
  abort(): void {
    if (this.#aborted) return;
    this.#aborted = true;
    const listeners = this.#listeners;
    this.#listeners = [];
    for (const tell of listeners) tell();
  }

  /** The call is over: whoever still holds the signal holds no listener with it. */
  forget(): void {
    this.#listeners = [];
  }
}

/** Throws `unavailable` if nobody waits for `what` any more: to be asked before each step that costs. */
export function throwIfAborted(signal: Wanted | undefined, what: string): void {
  if (signal?.aborted === true) throw aborted(what);
}

/** Why a call that was aborted rejects. What it did until then stands. */
export function aborted(what: string): FencelineError {
  return unavailable(`${what}: nobody waits for it any more`);
}
