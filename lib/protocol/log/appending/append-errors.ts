/** The errors of an append that could not be acknowledged. */
import { FencelineError, notReady, withSideEffects } from "../../errors.ts";
import type { Region, SeqNum } from "../../ids.ts";
import type { AppendRequest } from "../operations.ts";
import { appendLimits } from "../records/append-limits.ts";
import type { RecordPosition } from "../records/record.ts";

/**
 * Nothing of the append was sent, or it is certainly not recorded: whatever the cause did, this append did
 * nothing.
 */
export function withoutEffect(cause: FencelineError): FencelineError {
  return withSideEffects(cause, "none");
}

interface Unanswered {
  readonly records: readonly unknown[];
  readonly sender?: unknown;
}

/** It may be recorded. Names the regions that answered, as far as the cause knows. */
export function unknownOutcome(
  logName: string,
  { batch, start }: { readonly batch: Unanswered; readonly start: RecordPosition },
  cause: FencelineError | undefined,
): FencelineError {
  const repeated =
    batch.sender === undefined
      ? `match_seq_num ${start.seqNum}, so that one of the two counts at most`
      : SAME_SENDER;
  const regions = Object.entries(cause?.details ?? {}).filter(([name]) => name.endsWith("_regions"));
  return new FencelineError("unknown_outcome", {
    message:
      `log ${logName}: whether the batch of ${batch.records.length} records meant for seq_num ` +
      `${start.seqNum} is recorded is not known (${cause?.message ?? "no answer in time"}), and it may be ` +
      `recorded there later, but nowhere else: append it again with ${repeated}, or ` +
      `read from there on until something is there${batch.sender === undefined ? `; ${NOBODY_KNOWS}` : ""}`,
    sideEffects: "possible",
    details: { start_seq_num: start.seqNum, ...Object.fromEntries(regions) },
    ...(cause === undefined ? {} : { cause }),
  });
}

export function tooManyRestarts(logName: string, restarts: number): FencelineError {
  const story = `other writers took the log over ${restarts} times before this append was recorded`;
  return notReady(`log ${logName}: ${story}; it is not recorded; try again`, "recovering");
}

export function ownerSilent(logName: string, owner: Region): FencelineError {
  const story = `its owner, region ${owner}, could not be reached; nothing was sent; try again`;
  return notReady(`log ${logName}: ${story}`, "forwarding", { details: { owner } });
}

/**
 * It may have reached the owner, and only the owner could say what became of it. It may wait there yet, so
 * that neither a read nor a condition on another copy keeps it from being recorded later.
 */
export function forwardedUnknown(
  logName: string,
  owner: Region,
  request: AppendRequest,
  cause: unknown,
): FencelineError {
  return new FencelineError("unknown_outcome", {
    message:
      `log ${logName}: the append was sent on to its owner, region ${owner}, which did not answer; ` +
      `it may be recorded now or later: ${repetitionOf(request)}`,
    sideEffects: "possible",
    details: { owner, silent_regions: [owner] },
    cause,
  });
}

/** It was posted to the process of this region that writes the log, and what became of it is not known. */
export function postedUnknown(logName: string, append: Repeatable, reason: string): FencelineError {
  return new FencelineError("unknown_outcome", {
    message:
      `log ${logName}: the append was posted to the process that writes the log, and ${reason}; ` +
      `it may be recorded now or later: ${repetitionOf(append)}`,
    sideEffects: "possible",
  });
}

interface Repeatable {
  readonly matchSeqNum?: SeqNum | undefined;
  readonly sender?: unknown;
}

/** How an append may be repeated, of which a copy may be recorded at any later time. */
function repetitionOf({ matchSeqNum, sender }: Repeatable): string {
  if (sender !== undefined) return `append it again with ${SAME_SENDER}`;
  if (matchSeqNum !== undefined) {
    const again = `append it again with the same match_seq_num ${matchSeqNum}, and one copy counts at most`;
    return `${again}; ${NOBODY_KNOWS}`;
  }
  return (
    "a plain append is not safe to repeat, not even after a read that does not find it; one that has an " +
    "Idempotency-Key, a producer or a match_seq_num from its first attempt on is"
  );
}

/**
 * The answer to an append whose condition does not hold. The log judges a sender before the condition, so an
 * attempt of the same sender that is recorded and remembered does not get here.
 */
export function seqNumMismatch(
  logName: string,
  hasSender: boolean,
  { expected, actual }: { readonly expected: SeqNum; readonly actual: SeqNum },
): FencelineError {
  const remembered = `within the ${appendLimits.producerWindowMs / 60_000} minutes that the log remembers it`;
  const whose =
    expected > actual
      ? ""
      : !hasSender
        ? `; ${NOBODY_KNOWS}`
        : `; no attempt at this append is recorded, if the first one was made ${remembered}`;
  return new FencelineError("seq_num_mismatch", {
    message:
      `log ${logName}: match_seq_num ${expected} was given and the next record gets ${actual}${whose}; ` +
      `read from ${Math.min(expected, actual)} on and decide again`,
    details: { expected_seq_num: expected, actual_seq_num: actual },
  });
}

const SAME_SENDER = "the same Idempotency-Key, or producer and seq, and it counts once";
/** Said of an append without a sender. */
const NOBODY_KNOWS =
  "whether a record there is of an earlier attempt at this append nobody can say, since it has no " +
  "Idempotency-Key: give one, the same in each attempt, and the log says it";
