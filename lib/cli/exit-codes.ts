/** How a command ends. */
import { BatchInDoubtError } from "../client/batch-outcome.ts";
import { ForeignAnswerError, NotSentError, ProblemError, RequestError } from "../client/client-errors.ts";
import { PlaceTakenError } from "../client/ordered-append.ts";
import { LocalError } from "../local/local-error.ts";
import { InterruptedError, stopSignals } from "./interruption.ts";

export const exitCodes = {
  ok: 0,
  /** A defect, or a server that answered with one. */
  failed: 1,
  usage: 2,
  conditionFailed: 3,
  notFound: 4,
  /** The same command may succeed later. */
  retryable: 5,
  /** An append may have happened or not. */
  unknownOutcome: 6,
  /** Stopped by a signal; standard error says what is done, and what is in doubt. */
  interrupted: stopSignals.SIGINT,
  terminated: stopSignals.SIGTERM,
} as const;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/** The command line or its input asks for something impossible. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** What was named is not there, as far as an answer told. */
export class NotFoundError extends Error {
  override readonly name = "NotFoundError";
}

/** The answer is no; it was printed already, and nothing is left to say. */
export class RefusedAnswer extends Error {
  override readonly name = "RefusedAnswer";
}

const byStatus: Readonly<Record<number, ExitCode>> = {
  400: exitCodes.usage,
  403: exitCodes.conditionFailed,
  404: exitCodes.notFound,
  406: exitCodes.usage,
  409: exitCodes.conditionFailed,
  410: exitCodes.notFound,
  412: exitCodes.conditionFailed,
  413: exitCodes.usage,
  415: exitCodes.usage,
  416: exitCodes.notFound,
  422: exitCodes.conditionFailed,
};

export function exitCodeOf(error: unknown): ExitCode {
  if (error instanceof UsageError || error instanceof LocalError) return exitCodes.usage;
  if (error instanceof NotSentError) return exitCodes.usage;
  if (error instanceof NotFoundError) return exitCodes.notFound;
  if (error instanceof RefusedAnswer) return exitCodes.conditionFailed;
  if (error instanceof InterruptedError) return stopSignals[error.by];
  if (error instanceof PlaceTakenError) return exitCodes.conditionFailed;
  if (error instanceof BatchInDoubtError) return exitCodes.unknownOutcome;
  if (error instanceof ForeignAnswerError) return exitCodes.failed;
  if (!(error instanceof RequestError)) return exitCodes.failed;
  if (error.retryable) return exitCodes.retryable;
  return error instanceof ProblemError
    ? (byStatus[error.problem.status] ?? exitCodes.failed)
    : exitCodes.failed;
}
