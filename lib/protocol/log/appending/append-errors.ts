/** What an append is told when it could not be acknowledged. */
import { FencelineError, withSideEffects } from "../../errors.ts";
import type { Region } from "../../ids.ts";
import type { AppendRequest } from "../operations.ts";
import type { ProducerKind } from "../records/entry-batches.ts";
import type { PlacedBatch } from "./place-appends.ts";

/**
 * Nothing of the append was sent, or it is certainly not recorded: whatever the cause did, this append did
 * nothing.
 */
export function withoutEffect(cause: FencelineError): FencelineError {
  return withSideEffects(cause, "none");
}

/** It may be recorded. Names the regions that answered, as far as the cause knows. */
export function unknownOutcome(
  logName: string,
  { append, start }: Pick<PlacedBatch, "append" | "start">,
  cause: FencelineError | undefined,
): FencelineError {
  const repeated =
    append.producer === undefined
      ? `match_seq_num ${start.seqNum}, so that one of the two counts at most`
      : `the same ${nameOf(append.producer.kind)}, and it counts once`;
  const regions = Object.entries(cause?.details ?? {}).filter(([name]) => name.endsWith("_regions"));
  return new FencelineError("unknown_outcome", {
    message:
      `log ${logName}: whether the batch of ${append.records.length} records meant for seq_num ` +
      `${start.seqNum} is recorded is not known (${cause?.message ?? "no answer in time"}), and it may be ` +
      `recorded there later, but nowhere else: append it again with ${repeated}, or ` +
      "read from there on until something is there",
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

export function ownerSilent(logName: string, owner: Region): FencelineError {
  return new FencelineError("not_ready", {
    message: `log ${logName}: its owner, region ${owner}, could not be reached; nothing was sent; try again`,
    sideEffects: "none",
    details: { phase: "forwarding", owner },
  });
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

/** How an append may be repeated, of which a copy may be recorded at any later time. */
function repetitionOf({ matchSeqNum, producer, idempotencyKey }: AppendRequest): string {
  if (producer !== undefined || idempotencyKey !== undefined) {
    const kind = producer === undefined ? "key" : "producer";
    return `append it again with the same ${nameOf(kind)}, and it counts once`;
  }
  if (matchSeqNum !== undefined) {
    return `append it again with the same match_seq_num ${matchSeqNum}, and one copy counts at most`;
  }
  return (
    "a plain append is not safe to repeat, not even after a read that does not find it; one that has a " +
    "match_seq_num, a producer or an Idempotency-Key from its first attempt on is"
  );
}

const nameOf = (kind: ProducerKind) => (kind === "key" ? "Idempotency-Key" : "producer and seq");
