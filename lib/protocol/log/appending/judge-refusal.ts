/**
 * The answer to a refused append (LW4). Everything before its place is acknowledged. So a refusal that is
 * true only at that place, such as a mismatch of match_seq_num or a gap, held then if the metadata, read
 * after the append arrived, says that the ledger is open: a process that took over without a clean release
 * has closed it first, and this process has released nothing before it placed the append. A duplicate, and
 * what is true for ever, any process may say.
 */
import { FencelineError } from "../../errors.ts";
import type { LedgerPorts } from "../../ledger/ledger-ports.ts";
import type { LogIdentity } from "../log-identity.ts";
import type { OpenedSegment } from "../opening/start-segment.ts";
import type { AppendAck } from "../operations.ts";
import type { KnownBatch } from "../producers/producer-table.ts";
import type { RefusedAppend } from "./place-appends.ts";

type RefusalVerdict =
  | { readonly kind: "acknowledged"; readonly ack: AppendAck }
  | { readonly kind: "refused"; readonly error: FencelineError }
  | { readonly kind: "superseded"; readonly reason: FencelineError };

/** `tail`: after the last record that is acknowledged. Throws what the metadata store throws. */
export async function judgeRefusal(
  ports: LedgerPorts,
  log: LogIdentity,
  opened: OpenedSegment,
  { refusal }: RefusedAppend,
  tail: AppendAck["tail"],
): Promise<RefusalVerdict> {
  if (refusal.kind === "duplicate") {
    const { ownerRegion } = opened.item;
    return { kind: "acknowledged", ack: duplicateAck(refusal.batch, { tail, ownerRegion }) };
  }
  const reason = refusal.kind === "passing" ? await whySuperseded(ports, log, opened) : undefined;
  return reason === undefined ? { kind: "refused", error: refusal.error } : { kind: "superseded", reason };
}

/** `tail`, `ownerRegion`: of the log now. The positions are those that the batch has. */
export function duplicateAck(
  { start, last }: KnownBatch,
  now: Pick<AppendAck, "tail" | "ownerRegion">,
): AppendAck {
  return { start, last, duplicate: true, epoch: start.dlsn.segment, ...now };
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
