/** What an append is told when it could not be acknowledged. */
import { FencelineError } from "../errors.ts";
import type { Region } from "../ids.ts";
import type { PlacedBatch } from "./place-appends.ts";

/**
 * Nothing of the append was sent, or it is certainly not recorded: whatever the cause did, this append did
 * nothing.
 */
export function withoutEffect(cause: FencelineError): FencelineError {
  const { message, retryable, details } = cause;
  return new FencelineError(cause.code, { message, retryable, details, sideEffects: "none", cause });
}

/** It may be recorded. Names the regions that answered, as far as the cause knows. */
export function unknownOutcome(
  logName: string,
  { append, start }: Pick<PlacedBatch, "append" | "start">,
  cause: FencelineError | undefined,
): FencelineError {
  const regions = Object.entries(cause?.details ?? {}).filter(([name]) => name.endsWith("_regions"));
  return new FencelineError("unknown_outcome", {
    message:
      `log ${logName}: whether the batch of ${append.records.length} records meant for seq_num ` +
      `${start.seqNum} is recorded is not known (${cause?.message ?? "no answer in time"}); ` +
      `read from there to find out, or append it again with match_seq_num ${start.seqNum}`,
    sideEffects: "possible",
    details: { start_seq_num: start.seqNum, ...Object.fromEntries(regions) },
    ...(cause === undefined ? {} : { cause }),
  });
}

export function tooManyRestarts(logName: string, restarts: number): FencelineError {
  return new FencelineError("not_ready", {
    message:
      `log ${logName}: other writers took the log over ${restarts} times before this append was recorded; ` +
      "it is not recorded; try again",
    sideEffects: "none",
    details: { phase: "recovering" },
  });
}

export function leaseLost(logName: string): FencelineError {
  const message = `log ${logName}: another process of this region holds the writer lease`;
  return new FencelineError("fenced", { message });
}

/** Another region owns the log; `owner` feeds the callers' caches. */
export function notOwnedHere(logName: string, owner: Region): FencelineError {
  return new FencelineError("not_owner", {
    message: `log ${logName} is owned by region ${owner}; send the append there`,
    details: { owner },
  });
}

export function ownerSilent(logName: string, owner: Region): FencelineError {
  return new FencelineError("not_ready", {
    message: `log ${logName}: its owner, region ${owner}, could not be reached; nothing was sent; try again`,
    sideEffects: "none",
    details: { phase: "forwarding", owner },
  });
}

/** It may have reached the owner, and only the owner could say what became of it. */
export function forwardedUnknown(logName: string, owner: Region, cause: unknown): FencelineError {
  return new FencelineError("unknown_outcome", {
    message:
      `log ${logName}: the append was sent on to its owner, region ${owner}, which did not answer; ` +
      "read the tail to find out whether it is recorded, or append it again with match_seq_num",
    sideEffects: "possible",
    details: { owner, silent_regions: [owner] },
    cause,
  });
}

/** A settling control entry is not worth another segment. */
export function notOwner(logName: string): FencelineError {
  return new FencelineError("not_ready", {
    message: `log ${logName}: this process does not write to the last segment any more`,
    sideEffects: "none",
  });
}
