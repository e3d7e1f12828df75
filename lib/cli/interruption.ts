/** A command that a signal stops: from the person at the terminal, or from the program that runs it. */
import { BatchInDoubtError } from "../client/batch-outcome.ts";
import { AbandonedError, RequestError } from "../client/client-errors.ts";

/** With the exit codes that shells know them by. */
export const stopSignals = { SIGINT: 130, SIGTERM: 143 } as const;

export type StopSignal = keyof typeof stopSignals;

/** The command stopped because of a signal. As an abort's reason it says which. */
export class InterruptedError extends Error {
  override readonly name = "InterruptedError";

  constructor(
    readonly by: StopSignal,
    /** What stopped in the middle, if anything did. */
    readonly stopped?: Error,
  ) {
    super(`interrupted by ${by}${effectWords(stopped)}`);
  }
}

function effectWords(stopped: Error | undefined): string {
  if (stopped instanceof BatchInDoubtError) {
    return `, with ${stopped.count} record${stopped.count === 1 ? "" : "s"} in doubt`;
  }
  if (!(stopped instanceof RequestError) || stopped.sideEffects === "none") return "";
  return "; what it had asked for may have been done or not";
}

/** The interruption that `signal` was aborted with. */
export function interruptionOf(signal: AbortSignal, stopped?: Error): InterruptedError {
  const by = signal.reason instanceof InterruptedError ? signal.reason.by : "SIGINT";
  return new InterruptedError(by, stopped);
}

/** A failure that came of the interruption, as one; any other as it is. */
export function toldAsInterruption(error: unknown, signal: AbortSignal): unknown {
  if (!signal.aborted || error instanceof InterruptedError) return error;
  const gaveUp = error instanceof AbandonedError || (error instanceof RequestError && error.retryable);
  return error instanceof BatchInDoubtError || gaveUp ? interruptionOf(signal, error) : error;
}

/** Aborted so much later than `signal`: what is under way may still be answered. */
export function delayed(signal: AbortSignal, delayMs: number): AbortSignal {
  const later = new AbortController();
  const abort = () => setTimeout(() => later.abort(signal.reason), delayMs).unref();
  if (signal.aborted) abort();
  else signal.addEventListener("abort", abort, { once: true });
  return later.signal;
}
