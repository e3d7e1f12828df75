/**
 * Every failure that a caller may meet, on one page. Ordinary answers (no such entry, fenced bookie,
 * version conflict) are values and never come here. Three axes describe a failure:
 *
 *     axis      values                   what programs use it for
 *     code      `errorRules`             to decide; each has one meaning, and a maker where it is common
 *     phase     `Phase`, of `not_ready`  to know what was under way; nothing is decided by it
 *     details   named as on the wire     facts of the code, such as `limit_bytes`; also in the message
 *
 * `retryable` says whether the same call may succeed later; `sideEffects` says whether the call may have
 * taken effect all the same. "possible" is never rounded down to "none" (rule 8).
 */
import type { BookieId, Region } from "./ids.ts";
import type { BookieAddress } from "./replication.ts";

export type SideEffects = "none" | "possible";

interface ErrorRule {
  readonly retryable: boolean;
  /** Whether this code can ever come with side effects; the error itself says if it does. */
  readonly sideEffects: SideEffects;
}

export const errorRules = {
  invalid_request: { retryable: false, sideEffects: "none" },
  log_not_found: { retryable: false, sideEffects: "none" },
  log_exists: { retryable: false, sideEffects: "none" },
  log_sealed: { retryable: false, sideEffects: "none" },
  ledger_not_found: { retryable: false, sideEffects: "none" },
  region_not_found: { retryable: false, sideEffects: "none" },
  bookie_not_found: { retryable: false, sideEffects: "none" },
  /** An operator said that the region takes no logs. */
  region_not_accepting: { retryable: false, sideEffects: "none" },
  seq_num_mismatch: { retryable: false, sideEffects: "none" },
  /** A newer epoch of the producer has appended: this one is a zombie. */
  producer_fenced: { retryable: false, sideEffects: "none" },
  /** The seq is not the next one, or the producer is not known (any more). */
  producer_seq_gap: { retryable: false, sideEffects: "none" },
  /** It is in the log, further back than the log remembers positions. */
  producer_seq_passed: { retryable: false, sideEffects: "none" },
  /** The same seq, or Idempotency-Key, came with other records. */
  idempotency_conflict: { retryable: false, sideEffects: "none" },
  position_trimmed: { retryable: false, sideEffects: "none" },
  position_unwritten: { retryable: false, sideEffects: "none" },
  record_too_large: { retryable: false, sideEffects: "none" },
  batch_too_large: { retryable: false, sideEffects: "none" },
  not_ready: { retryable: true, sideEffects: "none" },
  not_owner: { retryable: true, sideEffects: "none" },
  over_capacity: { retryable: true, sideEffects: "none" },
  region_unavailable: { retryable: true, sideEffects: "possible" },
  insufficient_regions: { retryable: true, sideEffects: "possible" },
  fenced: { retryable: true, sideEffects: "possible" },
  unknown_outcome: { retryable: false, sideEffects: "possible" },
  /** A port did not answer, or answered that it cannot. */
  unavailable: { retryable: true, sideEffects: "possible" },
  data_corrupt: { retryable: true, sideEffects: "none" },
} as const satisfies Record<string, ErrorRule>;

export type ErrorCode = keyof typeof errorRules;

interface ErrorFields {
  /** The value given, what is allowed and what to do, or who answered what. */
  readonly message: string;
  readonly sideEffects?: SideEffects;
  readonly retryable?: boolean;
  /** Facts of this code for programs, such as `limit_bytes`; names as on the wire. */
  readonly details?: Readonly<Record<string, unknown>>;
  readonly cause?: unknown;
}

export class FencelineError extends Error {
  override readonly name = "FencelineError";
  readonly retryable: boolean;
  readonly sideEffects: SideEffects;
  readonly details: Readonly<Record<string, unknown>>;

  constructor(
    readonly code: ErrorCode,
    fields: ErrorFields,
  ) {
    super(fields.message, fields.cause === undefined ? undefined : { cause: fields.cause });
    this.retryable = fields.retryable ?? errorRules[code].retryable;
    this.sideEffects = fields.sideEffects ?? errorRules[code].sideEffects;
    this.details = fields.details ?? {};
  }
}

/** Whether the failed call may have taken effect. What we do not know may have. */
export function sideEffectsOf(error: unknown): SideEffects {
  return error instanceof FencelineError ? error.sideEffects : "possible";
}

/** What an error says, whatever was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

export function hasCode(error: unknown, code: ErrorCode): error is FencelineError {
  return error instanceof FencelineError && error.code === code;
}

/** The same failure of a larger operation, of whose effects more is known than of the failed step's. */
export function withSideEffects(cause: FencelineError, sideEffects: SideEffects): FencelineError {
  const { message, retryable, details } = cause;
  return new FencelineError(cause.code, { message, retryable, details, sideEffects, cause });
}

/** What was under way when something was not ready. */
type Phase =
  /** The caller's time was over before the log was found. */
  | "asking"
  /** In the queue of the log's writer. */
  | "waiting"
  /** Another process of the region holds the lease. */
  | "waiting-for-lease"
  /** A segment was being opened. */
  | "opening"
  /** Other writers took the log over again and again. */
  | "recovering"
  /** The owner's region could not be reached. */
  | "forwarding"
  /** The log was changing its owner. */
  | "transferring"
  | "sealing";

/** The same call may succeed in a moment: a race was lost, or something else has to end first. */
export function notReady(
  message: string,
  phase?: Phase,
  fields: Pick<ErrorFields, "sideEffects" | "details" | "cause"> = {},
): FencelineError {
  const details = { ...(phase === undefined ? {} : { phase }), ...fields.details };
  return new FencelineError("not_ready", { message, ...fields, details });
}

/** A port could not answer. Its effect may have happened unless `sideEffects` says otherwise. */
export function unavailable(
  message: string,
  sideEffects: SideEffects = "possible",
  cause?: unknown,
): FencelineError {
  return new FencelineError("unavailable", { message, sideEffects, cause });
}

/**
 * The caller may not make the call: its own rights or credentials are wrong. That says nothing of the process
 * that was called, neither life nor death, and time does not mend it. A thing of this process: an answer that
 * came from elsewhere is none, whatever was denied over there.
 */
export class CallDenied extends FencelineError {
  constructor(message: string, cause?: unknown) {
    super("unavailable", { message, sideEffects: "none", retryable: false, cause });
  }
}

/**
 * What one bookie said, so that one line explains a quorum that was not reached. Unknown is no
 * answer of the bookie, negative or other (rule 21).
 */
export type BookieVerdict = { readonly bookie: BookieId; readonly region: Region } & BookieOutcome;

export type BookieOutcome =
  /** `said` completes "bookie b ...". */
  { readonly kind: "answered"; readonly said: string } | Unknown;

export type Unknown = { readonly kind: "unknown"; readonly reason: string };

export function verdictOf({ id, place }: BookieAddress, outcome: BookieOutcome): BookieVerdict {
  return { bookie: id, region: place.region, ...outcome };
}

/** A quorum was out of reach; names the regions that answered for operators and callers alike. */
export function insufficientRegions(
  what: string,
  verdicts: readonly BookieVerdict[],
  sideEffects: SideEffects,
  cause?: unknown,
): FencelineError {
  const regionsWith = (kind: BookieVerdict["kind"]) =>
    verdicts.flatMap((verdict) => (verdict.kind === kind ? [verdict.region] : []));
  const answered = new Set(regionsWith("answered"));
  const missing = new Set(regionsWith("unknown").filter((region) => !answered.has(region)));
  const words = (verdict: BookieVerdict) =>
    verdict.kind === "answered" ? verdict.said : `unknown (${verdict.reason})`;
  const story = verdicts.map((verdict) => `${verdict.bookie} ${words(verdict)}`).join("; ");
  return new FencelineError("insufficient_regions", {
    message: `${what}: ${story || "no bookie was asked"}`,
    sideEffects,
    details: { answered_regions: [...answered].sort(), silent_regions: [...missing].sort() },
    cause,
  });
}
