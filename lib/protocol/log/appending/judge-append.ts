/**
 * What an append gets at a place in the log, as far as everything before that place is recorded. One judge
 * for open logs and sealed ones.
 *
 * JA1 The sender is judged before the condition: a repetition of a recorded batch is a duplicate wherever the
 *     log ends by now. A new batch needs its match_seq_num.
 * JA2 An append that is refused is not noted: its sender's seq is free, and a later attempt with the same seq
 *     or key is judged anew. It succeeds if its condition holds then.
 */
import type { FencelineError } from "../../errors.ts";
import type { SeqNum } from "../../ids.ts";
import { producerRefusal } from "../producers/producer-errors.ts";
import type { KnownBatch, ProducerTable } from "../producers/producer-table.ts";
import { seqNumMismatch } from "./append-errors.ts";
import type { PendingAppend } from "./pending-appends.ts";

export type Refusal =
  /** The batch is in the log, or will be with everything before this place. */
  | { readonly kind: "duplicate"; readonly batch: KnownBatch }
  /** True for ever, whatever is appended later: what is recorded stays, and an epoch never goes back. */
  | { readonly kind: "lasting"; readonly error: FencelineError }
  /** True at this place; behind other records the append may be right. */
  | { readonly kind: "passing"; readonly error: FencelineError };

/** Undefined: it is new, and may be appended at `next`. */
export function judgeAppend(
  logName: string,
  producers: ProducerTable,
  append: Pick<PendingAppend, "sender" | "matchSeqNum" | "records">,
  next: SeqNum,
): Refusal | undefined {
  const { sender, matchSeqNum, records } = append;
  if (sender !== undefined) {
    const verdict = producers.judge(sender, records.length);
    if (verdict.kind === "duplicate") return verdict;
    if (verdict.kind !== "new") {
      const isPassing = verdict.kind === "gap" || verdict.kind === "full";
      return {
        kind: isPassing ? "passing" : "lasting",
        error: producerRefusal(logName, sender, verdict),
      };
    }
  }
  if (matchSeqNum === undefined || matchSeqNum === next) return undefined;
  const places = { expected: matchSeqNum, actual: next };
  return { kind: "passing", error: seqNumMismatch(logName, sender !== undefined, places) };
}
