/**
 * Every error as an RFC 9457 problem document. `retryable` and `side_effects` are the error's own words. A
 * failure that nobody foresaw may have taken effect if the request could write: what is not known to be
 * without effect is "possible" (rule 8).
 */
import { type ErrorCode, FencelineError, type SideEffects } from "../protocol/errors.ts";
import { limits } from "../protocol/limits.ts";
import { ApiError, type ApiErrorCode, apiErrorStatus } from "./api-error.ts";
import { beginning, shortened } from "./log-name.ts";
import { pointerFrom, type RequestPart } from "./pointers.ts";
import { withWireNames } from "./size-names.ts";

export type ProblemCode = ErrorCode | ApiErrorCode | "internal";

/**
 * Status per code. 403: a newer one has taken its place. 409: the present state forbids it. 412: the caller's
 * condition failed. 503: come back.
 */
export const problemStatus = {
  ...apiErrorStatus,
  invalid_request: 400,
  log_not_found: 404,
  ledger_not_found: 404,
  region_not_found: 404,
  bookie_not_found: 404,
  producer_fenced: 403,
  log_exists: 409,
  log_sealed: 409,
  fenced: 409,
  region_not_accepting: 409,
  producer_seq_gap: 409,
  producer_seq_passed: 409,
  position_trimmed: 410,
  seq_num_mismatch: 412,
  record_too_large: 413,
  batch_too_large: 413,
  position_unwritten: 416,
  not_owner: 421,
  idempotency_conflict: 422,
  over_capacity: 429,
  data_corrupt: 500,
  internal: 500,
  not_ready: 503,
  region_unavailable: 503,
  insufficient_regions: 503,
  unavailable: 503,
  unknown_outcome: 504,
} as const satisfies Record<ProblemCode, number>;

export interface Problem {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly instance: string;
  readonly code: ProblemCode;
  readonly retryable: boolean;
  readonly side_effects: SideEffects;
  readonly [member: string]: unknown;
}

/** The request that failed, as far as its problem document describes it. */
interface FailedRequest {
  readonly requestId: string;
  readonly region: string;
  readonly method: string;
  readonly log?: string | undefined;
  /** Whether it was an append of records. */
  readonly isAppend?: boolean;
  /** Where what the log was asked for stood: a JSON body, or beside one that is none. */
  readonly membersIn?: "body" | "query";
}

/** Wait that is suggested when the error names none. */
const RETRY_AFTER_MS = 1_000;

export function problemOf(error: unknown, request: FailedRequest): Problem {
  const code = codeOf(error);
  const details = inWireNames(causeDetails(error), request.membersIn ?? "body");
  const status = statusOf(code, details);
  const outcome = { ...outcomeOf(error, request), ...waitOf(error) };
  const members: Problem = {
    type: `urn:fenceline:problem:${code}`,
    title: titleOf(code),
    status,
    detail:
      code === "internal"
        ? internalDetail(request)
        : withWireNames(detailOf(error as Error, request, details, outcome)),
    instance: `urn:uuid:${request.requestId}`,
    code,
    retryable: outcome.retryable,
    side_effects: outcome.side_effects,
    ...(request.log === undefined ? {} : { log: nameGiven(request.log) }),
    region: request.region,
    ...("retry_after_ms" in outcome ? { retry_after_ms: outcome.retry_after_ms } : {}),
  };
  // Twice: first in order, and last in word, whatever the details are called.
  return bounded(Object.assign({}, members, details, members));
}

const PROBLEM_BYTES_MAX = 8_000;

/** Cuts the words, then the list of faults, until the document has a size that any log takes. */
function bounded(problem: Problem): Problem {
  let cut = problem;
  while (new TextEncoder().encode(JSON.stringify(cut)).length > PROBLEM_BYTES_MAX) {
    const { detail, errors } = cut;
    if (detail.length > 1_000) cut = { ...cut, detail: `${beginning(detail, detail.length / 2)}...` };
    else if (Array.isArray(errors) && errors.length > 1) cut = { ...cut, errors: errors.slice(0, -1) };
    else return cut;
  }
  return cut;
}

export function problemResponse(error: unknown, request: FailedRequest): Response {
  const problem = problemOf(error, request);
  const headers = new Headers({ "content-type": "application/problem+json" });
  if (error instanceof ApiError) {
    for (const [name, value] of Object.entries(error.headers)) headers.set(name, value);
  }
  if (problem.code === "not_owner") headers.set("log-owner", String(problem.owner));
  if (typeof problem.retry_after_ms === "number") {
    headers.set("retry-after", String(Math.max(1, Math.ceil(problem.retry_after_ms / 1_000))));
  }
  return new Response(JSON.stringify(problem), { status: problem.status, headers });
}

/** Codes that say no more than that something was silent; which regions were, their cause may know. */
const VAGUE: ReadonlySet<ProblemCode> = new Set(["unavailable", "unknown_outcome"]);

/** One code for one situation: too few regions, whatever step of the request met it. */
export function codeOf(error: unknown): ProblemCode {
  if (error instanceof ApiError) return error.code;
  if (!(error instanceof FencelineError)) return "internal";
  if (!VAGUE.has(error.code)) return error.code;
  for (let cause = error.cause; cause instanceof FencelineError; cause = cause.cause) {
    if (cause.code === "insufficient_regions") return cause.code;
  }
  return error.code;
}

function outcomeOf(error: unknown, request: FailedRequest) {
  if (error instanceof FencelineError) return { retryable: error.retryable, side_effects: error.sideEffects };
  const mayHaveWritten = !(error instanceof ApiError) && !["GET", "HEAD"].includes(request.method);
  return { retryable: false, side_effects: mayHaveWritten ? "possible" : "none" } as const;
}

/** An outcome is unknown for want of time, or because regions are silent: 503 like every lack of regions. */
function statusOf(code: ProblemCode, details: Readonly<Record<string, unknown>>): number {
  const silent = details.silent_regions;
  const lacksRegions = Array.isArray(silent) && silent.length > 0;
  if (code === "unknown_outcome" && lacksRegions) return problemStatus.insufficient_regions;
  return problemStatus[code];
}

/** When to come back, for errors that pass. */
function waitOf(error: unknown): { readonly retry_after_ms?: number } {
  if (!(error instanceof FencelineError) || !error.retryable) return {};
  const given = error.details.retry_after_ms;
  return { retry_after_ms: typeof given === "number" ? given : RETRY_AFTER_MS };
}

/** What it means for the caller, and then the error's own story. */
function detailOf(
  error: Error,
  request: FailedRequest,
  details: Readonly<Record<string, unknown>>,
  outcome: Outcome,
): string {
  const { answered_regions: answered, silent_regions: silent, needed_regions: needed } = details;
  if (!Array.isArray(answered) || !Array.isArray(silent) || silent.length === 0) return storyOf(error);
  const needs = typeof needed === "number" ? ` and ${needed} are needed` : "";
  const wait = outcome.retry_after_ms;
  const what = details.counted === "metadata_replicas" ? "metadata replicas" : "regions";
  const lead = [
    `${request.log === undefined ? "" : `log ${request.log}: `}${answered.length} of ` +
      `${answered.length + silent.length} ${what} ${answered.length === 1 ? "answers" : "answer"}${needs}`,
    effectWords(request, outcome.side_effects, details.start_seq_num),
    ...(wait === undefined ? [] : [`try again in ${wait / 1_000} s`]),
  ];
  return `${lead.join("; ")}. Silent: ${silent.join(", ")}. In detail: ${storyOf(error)}`;
}

interface Outcome {
  readonly side_effects: SideEffects;
  readonly retry_after_ms?: number;
}

/** A copy of it may be recorded at any later time, so that no read shows whether it may be sent again. */
const REPETITION =
  "it may also be recorded later, so repeat it only with the match_seq_num, the producer or the " +
  "Idempotency-Key that it had from the first attempt on";

/** What became of the request, in the words of what was asked. */
function effectWords({ method, isAppend }: FailedRequest, effects: SideEffects, at: unknown): string {
  if (method === "GET" || method === "HEAD") return "nothing was read";
  if (effects === "none") return isAppend === true ? "nothing was appended" : "nothing was changed";
  if (isAppend !== true) return "the change may have been made or not";
  const remedy =
    typeof at === "number"
      ? `append again with match_seq_num ${at}, so that it is in the log once at most`
      : REPETITION;
  return `the append may have happened or not: ${remedy}`;
}

/** The error in its own words, and what lay at its root if that says more. */
function storyOf(error: Error): string {
  let root = error;
  while (root.cause instanceof FencelineError) root = root.cause;
  return error.message.includes(root.message) ? error.message : `${error.message}: ${root.message}`;
}

/** Details of the error; what it leaves out, an underlying cause may say, such as which regions answered. */
function causeDetails(error: unknown): Readonly<Record<string, unknown>> {
  if (!(error instanceof Error)) return {};
  const own = error instanceof FencelineError || error instanceof ApiError ? error.details : {};
  return { ...causeDetails(error.cause), ...own };
}

/** What could be changed to be accepted is named as it is sent, and pointed at where it stood. */
function inWireNames(
  details: Readonly<Record<string, unknown>>,
  part: RequestPart,
): Readonly<Record<string, unknown>> {
  const { change, errors } = details;
  return {
    ...details,
    ...(Array.isArray(change) ? { change: change.map(String).map(withWireNames) } : {}),
    ...(Array.isArray(errors) ? { errors: errors.map((fault) => pointed(fault, part)) } : {}),
  };
}

/** Records are of the body, whatever that is. */
function pointed(fault: { readonly pointer?: unknown }, part: RequestPart): unknown {
  const pointer = String(fault.pointer);
  return { ...fault, pointer: pointerFrom(pointer, /^records\b/.test(pointer) ? "body" : part) };
}

/** What was given as a name: the whole of one that could be, the beginning of another. */
function nameGiven(name: string): string {
  return name.length <= limits.logNameBytesMax ? name : shortened(name);
}

export function titleOf(code: string): string {
  const words = code.replaceAll("_", " ");
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}`;
}

function internalDetail(request: FailedRequest): string {
  return (
    `the request failed by a defect of this server, whose own log names request ${request.requestId}. ` +
    `If this was an append, ${REPETITION}.`
  );
}
