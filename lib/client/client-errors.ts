/** What can go wrong with a request, from the caller's side: a problem document, or no answer at all. */
import type { Problem } from "../api/problem.ts";
import type { SideEffects } from "../protocol/errors.ts";

/** A request that failed. `sideEffects` is "none" only if it certainly changed nothing. */
export abstract class RequestError extends Error {
  abstract readonly retryable: boolean;
  abstract readonly sideEffects: SideEffects;

  /** The wait that the answer asked for. */
  get retryAfterMs(): number | undefined {
    return undefined;
  }
}

/** The server answered with a problem document. */
export class ProblemError extends RequestError {
  override readonly name = "ProblemError";
  readonly retryable: boolean;
  readonly sideEffects: SideEffects;

  constructor(
    readonly problem: Problem,
    /** What the answer's `Retry-After` says. */
    private readonly headerMs?: number,
  ) {
    super(problem.detail);
    this.retryable = problem.retryable;
    this.sideEffects = problem.side_effects;
  }

  get code(): Problem["code"] {
    return this.problem.code;
  }

  override get retryAfterMs(): number | undefined {
    const { retry_after_ms } = this.problem;
    return typeof retry_after_ms === "number" ? retry_after_ms : this.headerMs;
  }
}

/** No whole answer came: not reached, cut off, or too slow. */
export class NoAnswerError extends RequestError {
  override readonly name = "NoAnswerError";
  readonly retryable = true;

  constructor(
    message: string,
    readonly sideEffects: SideEffects,
    cause: unknown,
    /** The base URL that was asked. */
    readonly endpoint: string,
    /** The same for people: what was really called, where that is no URL. */
    readonly asked: string = endpoint,
  ) {
    super(message, { cause });
  }
}

/** What was given makes no request that could be sent. */
export class NotSentError extends RequestError {
  override readonly name: string = "NotSentError";
  readonly retryable = false;
  readonly sideEffects = "none";
}

/** The caller's signal said stop before there was an answer. */
export class AbandonedError extends RequestError {
  override readonly name = "AbandonedError";
  readonly retryable = false;

  constructor(
    message: string,
    readonly sideEffects: SideEffects,
    cause: unknown,
  ) {
    super(message, { cause });
  }
}

/**
 * A gateway, a proxy or a load balancer answered in the region's place, and may answer otherwise later. Too
 * many requests (429) is a refusal; of any other the region may have got the request all the same.
 */
export class GatewayError extends RequestError {
  override readonly name = "GatewayError";
  readonly retryable = true;
  readonly sideEffects: SideEffects;

  constructor(
    message: string,
    readonly status: number,
    /** Of the request, had it got to the region. */
    effects: SideEffects,
    private readonly waitMs?: number,
  ) {
    super(message);
    this.sideEffects = status === 429 ? "none" : effects;
  }

  override get retryAfterMs(): number | undefined {
    return this.waitMs;
  }
}

/** Something answered that does not speak this protocol. */
export class ForeignAnswerError extends RequestError {
  override readonly name = "ForeignAnswerError";
  readonly retryable = false;

  constructor(
    message: string,
    readonly sideEffects: SideEffects,
  ) {
    super(message);
  }
}

/** Records that are known to be there could not be read now. */
export class IncompleteReadError extends RequestError {
  override readonly name = "IncompleteReadError";
  readonly retryable = true;
  readonly sideEffects = "none";
}

export function hasProblemCode(error: unknown, code: Problem["code"]): error is ProblemError {
  return error instanceof ProblemError && error.code === code;
}
