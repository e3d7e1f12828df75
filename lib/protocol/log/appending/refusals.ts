/**
 * The answers to appends that get no place.
 *
 * In an open log (LW4), everything before the append's place is acknowledged. So a refusal that is true only
 * at that place, such as a mismatch of match_seq_num or a gap, held then if the metadata, read after the
 * append arrived, says that the ledger is open: a process that took over without a clean release has closed
 * it first, and this process has released nothing before it placed the append. A duplicate, and what is true
 * for ever, any process may say.
 *
 * A sealed log takes nothing any more, and it still remembers its senders as of its last entry. So the judge
 * of open logs answers there too: a repetition gets the positions that its batch has, since the first answer
 * may have been lost. Nothing is recorded in a sealed log later, so the log can say for certain that a batch
 * is not in it, as far back as the sender is remembered: a sender that was forgotten and began anew under the
 * same epoch is not distinguished from a new one (one with a higher epoch is). A sender that is not
 * remembered may have been forgotten, or its batches trimmed away; the answer says so.
 */
import { FencelineError } from "../../errors.ts";
import type { SeqNum } from "../../ids.ts";
import type { LedgerPorts } from "../../ledger/ledger-ports.ts";
import { beforeSegment } from "../chain/segment-end.ts";
import type { LogRef } from "../log-ref.ts";
import { logSealed } from "../opening/open-segment.ts";
import type { OpenedSegment } from "../opening/start-segment.ts";
import type { AppendAck } from "../operations.ts";
import { restoreProducers } from "../producers/producer-snapshot.ts";
import type { KnownBatch, ProducerTable } from "../producers/producer-table.ts";
import { appendLimits } from "../records/append-limits.ts";
import type { BatchSender } from "../records/record-set.ts";
import type { PendingAppend } from "./pending-appends.ts";
import { judgeAppend, type RefusedAppend } from "./place-appends.ts";

type RefusalVerdict =
  | { readonly kind: "acknowledged"; readonly ack: AppendAck }
  | { readonly kind: "refused"; readonly error: FencelineError }
  | { readonly kind: "superseded"; readonly reason: FencelineError };

/** `tail`: after the last record that is acknowledged. Throws what the metadata store throws. */
export async function judgeRefusal(
  ports: LedgerPorts,
  log: LogRef,
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
function duplicateAck({ start, last }: KnownBatch, now: Pick<AppendAck, "tail" | "ownerRegion">): AppendAck {
  return { start, last, duplicate: true, epoch: start.dlsn.segment, ...now };
}

/** Undefined: the ledger is open, so this process knew the tail. */
async function whySuperseded(
  ports: LedgerPorts,
  log: LogRef,
  opened: OpenedSegment,
): Promise<FencelineError | undefined> {
  const ledger = (await ports.metadata.get(opened.ledger.key, "consistent"))?.item;
  if (ledger?.kind !== "ledger" || ledger.state !== "OPEN") {
    const message = `log ${log.name}: the ledger of the segment at ${opened.first} is not open any more`;
    return new FencelineError("fenced", { message });
  }
  return undefined;
}

export class SealedRefusals {
  /** Of the log when it was sealed; read once. */
  #producers: ProducerTable | undefined;

  constructor(
    private readonly ports: LedgerPorts,
    private readonly log: LogRef,
  ) {}

  /** Answers every one of them: the log was sealed at `tail`. */
  async refuse(appends: readonly PendingAppend[], tail: SeqNum): Promise<void> {
    for (const append of appends) {
      const { sender } = append.batch;
      if (sender === undefined) append.fail(logSealed(this.log, tail));
      else if (!append.isAnswered) await this.#refuseRepetition(append, sender, tail);
    }
  }

  async #refuseRepetition(append: PendingAppend, sender: BatchSender, tail: SeqNum) {
    const sealed = logSealed(this.log, tail);
    try {
      this.#producers ??= await this.#producersAt(tail);
    } catch (error) {
      if (!(error instanceof FencelineError)) throw error;
      const why = `${sealed.message}; whether this batch is in it could not be read: ${error.message}`;
      const { code, retryable, details } = error;
      return append.fail(new FencelineError(code, { message: why, retryable, details, sideEffects: "none" }));
    }
    const refusal = judgeAppend(this.log.name, this.#producers, append.batch, tail);
    if (refusal?.kind === "duplicate") {
      return append.acknowledge(duplicateAck(refusal.batch, { tail, ownerRegion: this.ports.region }));
    }
    if (refusal?.kind === "lasting") return append.fail(refusal.error);
    const isCertain = tail === 0 || this.#producers.rulesOut(sender);
    if (!isCertain) return append.fail(notRemembered(sealed, sender));
    const error = sealedWith(sealed, "this batch is not in it", "not_recorded");
    append.answer({ kind: "failed", error, ruledOut: true });
  }

  async #producersAt(tail: SeqNum): Promise<ProducerTable> {
    const { producersIn } = await beforeSegment(this.ports, this.log.incarnation, tail);
    return await restoreProducers(this.ports, producersIn);
  }
}

function notRemembered(sealed: FencelineError, { id }: BatchSender): FencelineError {
  const minutes = appendLimits.producerWindowMs / 60_000;
  const what =
    `of this batch of sender ${id} nothing is remembered, as it would be of the last ${minutes} minutes ` +
    "before the end unless they are trimmed away; if an earlier attempt is older, read the log to find out";
  return sealedWith(sealed, what, "not_remembered");
}

/** The message is of the log alone: a caller that tries for the first time has no use for the rest. */
function sealedWith(sealed: FencelineError, what: string, earlier: "not_recorded" | "not_remembered") {
  return new FencelineError("log_sealed", {
    message: sealed.message,
    details: { ...sealed.details, earlier_attempts: earlier, earlier_attempts_detail: what },
    sideEffects: "none",
    cause: sealed,
  });
}
