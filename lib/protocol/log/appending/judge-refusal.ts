/**
 * What a refused append is told (N4). Everything before its place is acknowledged. So a mismatch of
 * match_seq_num and a producer's gap held then if the metadata, read after the append arrived, says that the
 * ledger is open: whoever took over without a clean release has closed it first, and this process has
 * released nothing before it placed the append. What is recorded stays so, and an epoch never goes back:
 * duplicates and stale epochs may be told by anybody.
 */
import { present, unreachable } from "../../assert.ts";
import { FencelineError } from "../../errors.ts";
import type { LedgerPorts } from "../../ledger/ledger-ports.ts";
import type { LogIdentity } from "../log-identity.ts";
import type { OpenedSegment } from "../opening/start-segment.ts";
import type { AppendAck } from "../operations.ts";
import type { RecordsAt } from "../reading/read-records.ts";
import { duplicateAck } from "./duplicate-ack.ts";
import type { AppendVerdict } from "./pending-append.ts";
import type { RefusedAppend } from "./place-appends.ts";
import { seqNumMismatch } from "./seq-num-mismatch.ts";

export type RefusalVerdict = AppendVerdict | { readonly kind: "superseded"; readonly reason: FencelineError };

/** Throws what the metadata store throws. */
export async function judgeRefusal(
  ports: LedgerPorts,
  log: LogIdentity,
  opened: OpenedSegment,
  { append, refusal }: RefusedAppend,
  found: { readonly tail: AppendAck["tail"]; readonly recordsAt: RecordsAt },
): Promise<RefusalVerdict> {
  switch (refusal.kind) {
    case "duplicate": {
      const { ownerRegion } = opened.item;
      const where = { tail: found.tail, ownerRegion };
      return { kind: "acknowledged", ack: await duplicateAck(ports, log, refusal.batch, where) };
    }
    case "refused":
      return { kind: "refused", error: refusal.error };
    case "gap": {
      const reason = await whySuperseded(ports, log, opened);
      return reason === undefined
        ? { kind: "refused", error: refusal.error }
        : { kind: "superseded", reason };
    }
    case "mismatch": {
      const reason = await whySuperseded(ports, log, opened);
      if (reason !== undefined) return { kind: "superseded", reason };
      const expected = present(append.matchSeqNum, "only a condition can mismatch");
      const { actual } = refusal;
      const error = await seqNumMismatch(log, append, { expected, actual }, found.recordsAt);
      return { kind: "refused", error };
    }
    default:
      return unreachable(refusal);
  }
}

/** Undefined: the ledger is open, so this process knew the tail. */
async function whySuperseded(
  ports: LedgerPorts,
  log: LogIdentity,
  opened: OpenedSegment,
): Promise<FencelineError | undefined> {
  const ledger = (await ports.metadata.get(opened.ledger.key, "consistent"))?.item;
  if (ledger?.kind !== "ledger" || ledger.state !== "OPEN") {
    const message = `log ${log.name}: the ledger of the segment at ${opened.first} is not open any more`;
    return new FencelineError("fenced", { message });
  }
  return undefined;
}
