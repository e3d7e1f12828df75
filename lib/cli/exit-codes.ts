/** How a command ends: one table, which the help prints and docs/CLI.md repeats. */

import type { ProblemCode } from "../api/problem.ts";
import { BatchInDoubtError } from "../client/batch-outcome.ts";
import { NotSentError, ProblemError, RequestError } from "../client/client-errors.ts";
import { PlaceTakenError } from "../client/ordered-append.ts";
import { LocalError, LocalNotFoundError } from "../local/local-error.ts";
import { InterruptedError, stopSignals } from "./interruption.ts";

export const exitCodes = {
  ok: 0,
  /** A defect, or a server that answered with one. */
  failed: 1,
  usage: 2,
  conditionFailed: 3,
  notFound: 4,
  /** The same command may succeed later: regions are silent, busy or down. */
  retryable: 5,
  /** An append, or another change, may have happened or not. */
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

/** What stopped a command in the middle: it did part of what was asked for. */
export class PartlyDoneError extends Error {
  override readonly name = "PartlyDoneError";

  constructor(readonly stopped: unknown) {
    super(stopped instanceof Error ? stopped.message : String(stopped), { cause: stopped });
  }
}

/** What was named is not there, as far as an answer, or a deployment's outputs, said. */
export class NotFoundError extends Error {
  override readonly name = "NotFoundError";
}

/** The answer is no; it was printed already, and nothing is left to say. */
export class RefusedAnswer extends Error {
  override readonly name = "RefusedAnswer";
}

/** Of problems that time does not mend; the others are `retryable`. */
const byCode: Readonly<Record<ProblemCode, ExitCode>> = {
  invalid_request: exitCodes.usage,
  bad_json: exitCodes.usage,
  not_utf8: exitCodes.usage,
  record_too_large: exitCodes.usage,
  batch_too_large: exitCodes.usage,
  body_too_large: exitCodes.usage,
  unsupported_media_type: exitCodes.usage,
  expectation_failed: exitCodes.usage,
  uri_too_long: exitCodes.usage,
  headers_too_large: exitCodes.usage,
  request_timeout: exitCodes.retryable,
  log_exists: exitCodes.conditionFailed,
  log_sealed: exitCodes.conditionFailed,
  seq_num_mismatch: exitCodes.conditionFailed,
  origin_not_allowed: exitCodes.conditionFailed,
  producer_fenced: exitCodes.conditionFailed,
  producer_seq_gap: exitCodes.conditionFailed,
  producer_seq_passed: exitCodes.conditionFailed,
  idempotency_conflict: exitCodes.conditionFailed,
  fenced: exitCodes.conditionFailed,
  not_owner: exitCodes.conditionFailed,
  region_not_accepting: exitCodes.conditionFailed,
  log_not_found: exitCodes.notFound,
  ledger_not_found: exitCodes.notFound,
  region_not_found: exitCodes.notFound,
  bookie_not_found: exitCodes.notFound,
  position_trimmed: exitCodes.notFound,
  position_unwritten: exitCodes.notFound,
  unknown_outcome: exitCodes.unknownOutcome,
  not_ready: exitCodes.retryable,
  over_capacity: exitCodes.retryable,
  region_unavailable: exitCodes.failed,
  insufficient_regions: exitCodes.failed,
  unavailable: exitCodes.failed,
  data_corrupt: exitCodes.failed,
  internal: exitCodes.failed,
  /** A server that does not know this command: of another version, or none at all. */
  route_not_found: exitCodes.failed,
  method_not_allowed: exitCodes.failed,
};

export function exitCodeOf(error: unknown): ExitCode {
  if (error instanceof PartlyDoneError) {
    const code = exitCodeOf(error.stopped);
    return code === exitCodes.usage ? exitCodes.failed : code; // "nothing was done" would be wrong
  }
  if (error instanceof NotFoundError || error instanceof LocalNotFoundError) return exitCodes.notFound;
  if (error instanceof UsageError || error instanceof LocalError) return exitCodes.usage;
  if (error instanceof NotSentError) return exitCodes.usage;
  if (error instanceof RefusedAnswer) return exitCodes.conditionFailed;
  if (error instanceof InterruptedError) return stopSignals[error.by];
  if (error instanceof PlaceTakenError) return exitCodes.conditionFailed;
  if (error instanceof BatchInDoubtError) return exitCodes.unknownOutcome;
  if (!(error instanceof RequestError)) return exitCodes.failed;
  if (error.retryable) return exitCodes.retryable;
  return error instanceof ProblemError ? (byCode[error.code] ?? exitCodes.failed) : exitCodes.failed;
}

/** As the help and docs/CLI.md have them. */
export const exitCodeWords: Readonly<Record<ExitCode, string>> = {
  [exitCodes.ok]: "done",
  [exitCodes.failed]:
    "failed: a defect, output or input that broke off, or an answer that is none of Fenceline's",
  [exitCodes.usage]: "bad usage or input; nothing was done",
  [exitCodes.conditionFailed]: "refused: a condition did not hold, or the answer is no",
  [exitCodes.notFound]: "what was named is not there: log, ledger, region, bookie, or position",
  [exitCodes.retryable]: "nobody could serve it now; the same may succeed later",
  [exitCodes.unknownOutcome]: "it may have happened or not",
  [exitCodes.interrupted]: "interrupted by SIGINT; standard error says what is in doubt",
  [exitCodes.terminated]: "interrupted by SIGTERM; likewise",
};
