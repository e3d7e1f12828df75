/** The error that a producer gets whose batch the log does not take. */
import { unreachable } from "../../assert.ts";
import { FencelineError } from "../../errors.ts";
import { appendLimits } from "../records/append-limits.ts";
import { formatDlsn } from "../records/record.ts";
import type { BatchSender } from "../records/record-set.ts";
import type { ProducerVerdict } from "./producer-table.ts";

type RefusedBatch = Exclude<ProducerVerdict, { readonly kind: "new" | "duplicate" }>;

export function producerRefusal(logName: string, batch: BatchSender, verdict: RefusedBatch): FencelineError {
  const who = `log ${logName}: sender ${batch.id}`;
  switch (verdict.kind) {
    case "fenced":
      return new FencelineError("producer_fenced", {
        message:
          `${who} has gone on with epoch ${verdict.epoch}, and epoch ${batch.epoch} was given; ` +
          "stop, or begin anew with a higher epoch and seq 0",
        details: { current_epoch: verdict.epoch },
      });
    case "gap":
      return gap(who, batch, verdict);
    case "passed":
      return new FencelineError("producer_seq_passed", {
        message:
          `${who}: seq ${batch.seq} of epoch ${batch.epoch} is in the log already, further back than the ` +
          `last ${appendLimits.producerBatchesMax} batches whose positions are remembered; go on with seq ` +
          `${verdict.expected}`,
        details: { expected_seq: verdict.expected, received_seq: batch.seq, already_appended: true },
      });
    case "conflict":
      return conflict(logName, batch, verdict);
    case "full":
      return full(logName);
    default:
      return unreachable(verdict);
  }
}

function gap(
  who: string,
  { seq, epoch }: BatchSender,
  { expected, isKnown }: Extract<RefusedBatch, { kind: "gap" }>,
): FencelineError {
  const why = isKnown
    ? `epoch ${epoch} goes on with seq ${expected}`
    : "is not known to this log, or was forgotten after a long silence, and would begin with seq 0";
  const remedy = isKnown
    ? "send what is missing first"
    : "read what is in the log, then begin with a higher epoch and seq 0, or with a new id";
  return new FencelineError("producer_seq_gap", {
    message: `${who} ${why}; seq ${seq} was given; ${remedy}`,
    details: { expected_seq: expected, received_seq: seq, known_producer: isKnown },
  });
}

function conflict(
  logName: string,
  batch: BatchSender,
  { batch: there }: Extract<RefusedBatch, { kind: "conflict" }>,
): FencelineError {
  return new FencelineError("idempotency_conflict", {
    message:
      `log ${logName}: sender ${batch.id}, seq ${batch.seq} came before with other records, which are in ` +
      `the log from seq_num ${there.start.seqNum} on; new records take the next seq, or a new key`,
    details: { start: { seq_num: there.start.seqNum, dlsn: formatDlsn(there.start.dlsn) } },
  });
}

function full(logName: string): FencelineError {
  const { producersMax, producerWindowMs } = appendLimits;
  return new FencelineError("over_capacity", {
    message:
      `log ${logName} remembers ${producersMax} producers and idempotency keys of the last ` +
      `${producerWindowMs / 60_000} minutes, and no more; keep one producer for many appends, or append ` +
      "without one",
    details: { limit: producersMax, scope: "producers", retry_after_ms: 10_000 },
  });
}
