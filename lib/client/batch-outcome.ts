/** What became of a batch that was to be in the log once. */
import type { AppendAckJson } from "../api/append-wire.ts";
import { ProblemError } from "./client-errors.ts";

export type BatchOutcome =
  | { readonly kind: "appended"; readonly ack: AppendAckJson }
  /** All of it was in its place: an attempt whose answer was lost, or an earlier run. */
  | { readonly kind: "present"; readonly start: number; readonly end: number };

/** What a sealed log said of earlier attempts, of which there is one if the batch is in doubt. */
function earlierWords(cause: Error): string {
  const words = cause instanceof ProblemError ? cause.problem.earlier_attempts_detail : undefined;
  return typeof words === "string" ? `; ${words}` : "";
}

/** The batch may be in the log, or not at all; from `at` on, if it was meant for one place only. */
export class BatchInDoubtError extends Error {
  override readonly name = "BatchInDoubtError";

  constructor(
    readonly at: number | undefined,
    readonly count: number,
    cause: Error,
  ) {
    const where = at === undefined ? "" : ` at seq_num ${at}`;
    const records = count === 1 ? "1 record" : `${count} records`;
    super(`${records}${where} may be in the log or not: ${cause.message}${earlierWords(cause)}`, { cause });
  }
}
