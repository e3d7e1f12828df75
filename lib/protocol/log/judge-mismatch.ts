/**
 * Whether a match_seq_num that does not hold may be told (N4). Everything before the append's place is
 * acknowledged, so `actual` was the tail then if the metadata, read after the append arrived, says that the
 * ledger is open: whoever took over without a clean release has closed it first, and this process has
 * released nothing before it placed the append.
 */
import { present } from "../assert.ts";
import { FencelineError } from "../errors.ts";
import type { SeqNum } from "../ids.ts";
import type { LedgerPorts } from "../ledger/ledger-ports.ts";
import type { PendingAppend } from "./pending-append.ts";
import { type RecordsAt, seqNumMismatch } from "./seq-num-mismatch.ts";
import type { LogIdentity, OpenedSegment } from "./start-segment.ts";

export type MismatchVerdict =
  | { readonly kind: "mismatch"; readonly error: FencelineError }
  | { readonly kind: "superseded"; readonly reason: FencelineError };

/** Throws what the metadata store throws. */
export async function judgeMismatch(
  ports: LedgerPorts,
  log: LogIdentity,
  opened: OpenedSegment,
  mismatched: { readonly append: PendingAppend; readonly actual: SeqNum; readonly recordsAt: RecordsAt },
): Promise<MismatchVerdict> {
  const { append, actual, recordsAt } = mismatched;
  const ledger = (await ports.metadata.get(opened.ledger.key, "consistent"))?.item;
  if (ledger?.kind !== "ledger" || ledger.state !== "OPEN") {
    const message = `log ${log.name}: the ledger of the segment at ${opened.first} is not open any more`;
    return { kind: "superseded", reason: new FencelineError("fenced", { message }) };
  }
  const expected = present(append.matchSeqNum, "only a condition can mismatch");
  return { kind: "mismatch", error: await seqNumMismatch(log, append.records, expected, actual, recordsAt) };
}
