/**
 * What appends are told that wait for a segment when none can be opened: why, and that they did nothing.
 *
 * A sealed log takes nothing any more, and it still remembers its producers as of its last entry. So a
 * repetition of what is in it is told where that is, as in an open log: the first answer may have been lost.
 * Nothing comes into a sealed log later either, which makes "it is not in the log" certain, as far back as
 * its producer is remembered: one that was forgotten and began anew under the same epoch is not told from a
 * new one (one that took a higher epoch is). Who is not remembered may have been forgotten, or trimmed away;
 * that is then said.
 */
import { FencelineError, hasCode } from "../../errors.ts";
import type { SeqNum } from "../../ids.ts";
import type { LedgerPorts } from "../../ledger/ledger-ports.ts";
import { beforeSegment } from "../chain/segment-end.ts";
import type { LogIdentity } from "../log-identity.ts";
import { producerRefusal } from "../producers/producer-errors.ts";
import type { ProducerTable, ProducerVerdict } from "../producers/producer-table.ts";
import { restoreProducers } from "../producers/restore-producers.ts";
import { appendLimits } from "../records/append-limits.ts";
import type { BatchProducer } from "../records/entry-batches.ts";
import { withoutEffect } from "./append-errors.ts";
import { duplicateAck } from "./duplicate-ack.ts";
import type { PendingAppend } from "./pending-append.ts";

export class WaitingRefusals {
  /** Of the log when it was sealed; read once. */
  #producers: ProducerTable | undefined;

  constructor(
    private readonly ports: LedgerPorts,
    private readonly log: LogIdentity,
  ) {}

  /** Answers every one of them. */
  async refuse(appends: readonly PendingAppend[], reason: FencelineError): Promise<void> {
    const isSealed = hasCode(reason, "log_sealed");
    for (const append of appends) {
      const { producer } = append;
      if (!isSealed || producer === undefined) append.fail(withoutEffect(reason));
      else if (!append.isAnswered) await this.#refuseRepetition(append, producer, reason);
    }
  }

  async #refuseRepetition(append: PendingAppend, producer: BatchProducer, sealed: FencelineError) {
    const tail = sealed.details.tail as SeqNum;
    try {
      this.#producers ??= await this.#producersAt(tail);
    } catch (error) {
      if (!(error instanceof FencelineError)) throw error;
      const why = `${sealed.message}; whether this batch is in it could not be read: ${error.message}`;
      const { code, retryable, details } = error;
      return append.fail(new FencelineError(code, { message: why, retryable, details, sideEffects: "none" }));
    }
    const verdict = this.#producers.judge(producer, append.records.length);
    if (verdict.kind === "duplicate") {
      const now = { tail, ownerRegion: this.ports.region };
      return append.acknowledge(await duplicateAck(this.ports, this.log, verdict.batch, now));
    }
    if (verdict.kind === "passed" || verdict.kind === "conflict") {
      return append.fail(producerRefusal(this.log.name, producer, verdict));
    }
    const isCertain = tail === 0 || isCertainlyNew(verdict, producer, this.#producers);
    append.fail(isCertain ? notRecorded(sealed) : notRemembered(sealed, producer));
  }

  async #producersAt(tail: SeqNum): Promise<ProducerTable> {
    const { producersIn } = await beforeSegment(this.ports, this.log.log, tail);
    return await restoreProducers(this.ports, producersIn);
  }
}

/** Of strangers and former epochs nothing is known, and of a batch that was cut otherwise not all. */
function isCertainlyNew(
  verdict: ProducerVerdict,
  producer: BatchProducer,
  producers: ProducerTable,
): boolean {
  if (!producers.knows(producer)) return false;
  return verdict.kind === "new" || (verdict.kind === "gap" && producer.seq >= verdict.expected);
}

function notRecorded(sealed: FencelineError): FencelineError {
  return told(sealed, "this batch is not in it", "not_recorded");
}

function notRemembered(sealed: FencelineError, { kind, id }: BatchProducer): FencelineError {
  const minutes = appendLimits.producerWindowMs / 60_000;
  const who = kind === "key" ? `Idempotency-Key ${id}` : `producer ${id}`;
  const what =
    `of this batch of ${who} nothing is remembered, as it would be of the last ${minutes} minutes before ` +
    "the end unless they are trimmed away; if an earlier attempt is older, read the log to find out";
  return told(sealed, what, "not_remembered");
}

/** The message is of the log alone: who tries for the first time has no use for the rest. */
function told(sealed: FencelineError, what: string, earlier: "not_recorded" | "not_remembered") {
  return new FencelineError("log_sealed", {
    message: sealed.message,
    details: { ...sealed.details, earlier_attempts: earlier, earlier_attempts_detail: what },
    sideEffects: "none",
    cause: sealed,
  });
}
