/** Calls again while that is safe and may help. */
import { agesMs, momentNow } from "../protocol/deadline.ts";
import { RequestError } from "./client-errors.ts";
import { HOST_CLOCKS } from "./host-clocks.ts";
import type { LogClient } from "./log-client.ts";

export interface Patience {
  /** How long to go on trying, from the first request on; no request waits much longer for its answer. */
  readonly patienceMs: number;
  /** False: one attempt only, because a second one could mean something else. */
  readonly mayRepeat?: boolean;
  /** The first pause; they double from there. */
  readonly pauseMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Called before each pause. */
  readonly onRetry?: ((error: RequestError, pauseMs: number) => void) | undefined;
}

const FIRST_PAUSE_MS = 100;
const PAUSE_MAX_MS = 2_000;
/** What a request is given at least: with less, a busy server's answers would be thrown away. */
const REQUEST_MIN_MS = 2_000;

/**
 * When to try again: pauses that double, with some chance, until the patience is used up. Time is what either
 * clock says: a host that slept for hours asks for nothing that was wanted then.
 */
export class Retries {
  #attempt = 0;
  readonly #begun = momentNow(HOST_CLOCKS);

  constructor(private readonly patience: Patience) {}

  /** The wait for an answer to the next request: what remains of the patience, and never next to nothing. */
  get requestMs(): number {
    return Math.max(REQUEST_MIN_MS, Math.ceil(this.patience.patienceMs - this.#usedMs));
  }

  get #usedMs(): number {
    return Math.max(...agesMs(HOST_CLOCKS, this.#begun));
  }

  /** Waits before the next attempt. False: the patience is used up, or the caller wants to stop. */
  async next(error: RequestError): Promise<boolean> {
    if (this.patience.mayRepeat === false) return false;
    const doubled = Math.min(PAUSE_MAX_MS, (this.patience.pauseMs ?? FIRST_PAUSE_MS) * 2 ** this.#attempt++);
    const pauseMs = Math.max(error.retryAfterMs ?? 0, doubled * (0.5 + Math.random() / 2));
    const { signal, patienceMs } = this.patience;
    if (signal?.aborted || this.#usedMs + pauseMs > patienceMs) return false;
    this.patience.onRetry?.(error, pauseMs);
    await sleep(pauseMs, signal);
    return signal?.aborted !== true && this.#usedMs < patienceMs + REQUEST_MIN_MS;
  }
}

/**
 * Repeats a call that changes nothing, or changes the same thing each time. `call` is given the client that
 * waits for an answer no longer than the patience lasts.
 */
export async function retrying<T>(
  patience: Patience,
  client: LogClient,
  call: (bounded: LogClient) => Promise<T>,
): Promise<T> {
  const retries = new Retries(patience);
  for (;;) {
    try {
      return await call(client.within(retries.requestMs));
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
      forget();
      resolve();
    };
    const timer = setTimeout(done, delayMs);
    const forget = signal === undefined ? () => {} : onAbort(signal, done);
    if (signal?.aborted) done();
  });
}

interface Sleepers {
  readonly wake: Set<() => void>;
  readonly listener: () => void;
}

/** One listener for each signal: Node warns of a leak where many sleepers add one each. */
const sleepersOf = new WeakMap<AbortSignal, Sleepers>();

/** Calls `wake` at the abort, unless what it returns was called before. */
function onAbort(signal: AbortSignal, wake: () => void): () => void {
  let sleepers = sleepersOf.get(signal);
  if (sleepers === undefined) {
    const all = new Set<() => void>();
    const listener = () => {
      for (const one of all) one();
    };
    sleepers = { wake: all, listener };
    sleepersOf.set(signal, sleepers);
    signal.addEventListener("abort", sleepers.listener);
  }
  const { wake: all, listener } = sleepers;
  all.add(wake);
  return () => {
    all.delete(wake);
    if (all.size > 0 || sleepersOf.get(signal)?.listener !== listener) return;
    signal.removeEventListener("abort", listener);
    sleepersOf.delete(signal);
  };
}
