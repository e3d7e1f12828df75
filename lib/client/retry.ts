/** Calls again while that is safe and may help. */
import { ProblemError, RequestError } from "./client-errors.ts";

export interface Patience {
  /** How long to go on trying after the first failure. */
  readonly patienceMs: number;
  /** The first pause; they double from there. */
  readonly pauseMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Told before each pause. */
  readonly onRetry?: ((error: RequestError, pauseMs: number) => void) | undefined;
}

const FIRST_PAUSE_MS = 100;
const PAUSE_MAX_MS = 2_000;

/** When to try again: pauses that double, with some chance, until the patience is used up. */
export class Retries {
  #attempt = 0;
  #giveUpAtMs: number | undefined;

  constructor(private readonly patience: Patience) {}

  /** Waits before the next attempt. False: the patience is used up, or the caller wants to stop. */
  async next(error: RequestError): Promise<boolean> {
    this.#giveUpAtMs ??= performance.now() + this.patience.patienceMs;
    const doubled = Math.min(PAUSE_MAX_MS, (this.patience.pauseMs ?? FIRST_PAUSE_MS) * 2 ** this.#attempt++);
    const suggested = error instanceof ProblemError ? (error.retryAfterMs ?? 0) : 0;
    const pauseMs = Math.max(suggested, doubled * (0.5 + Math.random() / 2));
    if (this.patience.signal?.aborted || performance.now() + pauseMs > this.#giveUpAtMs) return false;
    this.patience.onRetry?.(error, pauseMs);
    await sleep(pauseMs, this.patience.signal);
    return this.patience.signal?.aborted !== true;
  }
}

/** Repeats a call that changes nothing, or changes the same thing each time. */
export async function retrying<T>(patience: Patience, call: () => Promise<T>): Promise<T> {
  const retries = new Retries(patience);
  for (;;) {
    try {
      return await call();
    } catch (error) {
      if (!(error instanceof RequestError) || !error.retryable) throw error;
      if (!(await retries.next(error))) throw error;
    }
  }
}

/** Ends early, without an error, when the signal says stop. */
export function sleep(delayMs: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, delayMs);
    signal?.addEventListener("abort", done);
    if (signal?.aborted) done();
  });
}
