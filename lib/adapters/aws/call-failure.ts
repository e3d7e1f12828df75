/**
 * What a failed SDK call says of its effect. Only a service's own refusal, or a connection that was never
 * made, proves that nothing happened; silence, broken connections and every 5xx prove nothing (rule 21).
 */
import { FencelineError, type SideEffects } from "../../protocol/errors.ts";

interface CallFailure {
  /** The service's name for it, or the system's. */
  readonly name: string;
  /** HTTP status, if there was an answer. */
  readonly status: number | undefined;
  readonly sideEffects: SideEffects;
  /** The same call may soon succeed. */
  readonly passes: boolean;
}

/** Raised before a connection stands: the request never left. Some may end one that stood, too. */
const neverSent = new Set(["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "EHOSTUNREACH", "ENETUNREACH"]);
/** What was under way then, as Node names it; absent where several addresses were tried. */
const connecting = new Set(["connect", "getaddrinfo", ""]);
/** The credentials' provider failed before anything was signed. */
const neverSigned = new Set(["CredentialsProviderError"]);
const throttles = new Set([
  "ProvisionedThroughputExceededException",
  "RequestLimitExceeded",
  "Throttling",
  "ThrottlingException",
  "TooManyRequestsException",
]);
/** DynamoDB, MRSC: another region writes the item at this moment. The write is refused. */
const REPLICATED_CONFLICT = "ReplicatedWriteConflictException";
/** S3: another request for the key is under way. The write is refused. */
const CONFLICT_STATUS = 409;

/** The caller is not known, or may not call: 401, 403, and the names that come with other statuses. */
const denials = new Set([
  "AccessDeniedException",
  "ExpiredTokenException",
  "IncompleteSignatureException",
  "InvalidClientTokenId",
  "InvalidSignatureException",
  "MissingAuthenticationTokenException",
  "UnrecognizedClientException",
]);
const denialStatuses = new Set([401, 403]);

/** The caller's own rights, credentials or clock are wrong; the service did nothing. */
export function isDenied(error: unknown): boolean {
  const { name = "", $metadata } = fieldsOf(error);
  const status = $metadata?.httpStatusCode ?? 0;
  return neverSigned.has(name) || denials.has(name) || denialStatuses.has(status);
}

/** The service has too much to do, and did nothing. */
export function isThrottled(error: unknown): boolean {
  return throttles.has(fieldsOf(error).name ?? "");
}

export function callFailure(error: unknown): CallFailure {
  const { name = "", code = "", syscall = "", $metadata } = fieldsOf(error);
  const status = $metadata?.httpStatusCode;
  const passes = throttles.has(name) || name === REPLICATED_CONFLICT || status === CONFLICT_STATUS;
  const shown = name === "Error" || name === "" ? code || name || "unknown" : name;
  if ((neverSent.has(code) && connecting.has(syscall)) || neverSigned.has(name)) {
    return { name: shown, status, sideEffects: "none", passes: false };
  }
  const isRefused = status !== undefined && status >= 400 && status < 500 && status !== 408;
  return { name: shown, status, sideEffects: isRefused ? "none" : "possible", passes };
}

/**
 * The failure as the protocol knows it. `what` names the call and where it went; `inDoubt`: an earlier
 * attempt may have taken effect, whatever the last one proves of itself.
 */
export function unansweredCall(what: string, error: unknown, inDoubt = false): FencelineError {
  if (error instanceof FencelineError) {
    if (!inDoubt || error.sideEffects === "possible") return error;
    const { code, message, retryable, details } = error;
    return new FencelineError(code, { message, retryable, details, sideEffects: "possible", cause: error });
  }
  const { name, status, sideEffects } = callFailure(error);
  const message = error instanceof Error ? error.message : String(error);
  const said = status === undefined ? name : `${status} ${name}`;
  return new FencelineError("unavailable", {
    message: `${what}: ${said}: ${message}`,
    sideEffects: inDoubt ? "possible" : sideEffects,
    cause: error,
  });
}

interface ErrorFields {
  readonly name?: string;
  readonly code?: string;
  readonly syscall?: string;
  readonly $metadata?: { readonly httpStatusCode?: number };
}

function fieldsOf(error: unknown): ErrorFields {
  return typeof error === "object" && error !== null ? error : {};
}
