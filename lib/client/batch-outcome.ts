/** What became of a batch that was to be in the log once. */
import type { AppendAckJson } from "../api/append-wire.ts";

export type BatchOutcome =
  | { readonly kind: "appended"; readonly ack: AppendAckJson }
  /** All of it was in its place: an attempt whose answer was lost, or an earlier run. */
  | { readonly kind: "present"; readonly start: number; readonly end: number };

/** The batch may be in the log, or not at all; from `at` on, if it was meant for one place only. */
export class BatchInDoubtError extends Error {
  override readonly name = "BatchInDoubtError";

  constructor(
    readonly at: number | undefined,
    readonly count: number,
    cause: Error,
  ) {
    const where = at === undefined ? "" : ` at seq_num ${at}`;
    super(
      `${count === 1 ? "1 record" : `${count} records`}${where} may be in the log or not: ${cause.message}`,
      { cause },
    );
  }
}
