/**
 * The open segment of one writer: sends appends in order, many at a time, several to an entry.
 *
 * ASG1 A refusal is answered only when everything before the append's place is acknowledged: until then a
 *      failure could make its condition true after all, and a duplicate's original is not yet in the log.
 * ASG2 After the first failure nothing more is sent here. What was in flight is left, in order, to be
 *      decided.
 */
import { assert, present } from "../../assert.ts";
import { FencelineError } from "../../errors.ts";
import { type EntryId, NO_ENTRY, nextEntry, type Region, type SeqNum } from "../../ids.ts";
import type { LedgerTail } from "../../lease.ts";
import type { LedgerPorts } from "../../ledger/ledger-ports.ts";
import type { WriterStart } from "../../ledger/ledger-writer.ts";
import { LedgerWriter } from "../../ledger/ledger-writer.ts";
import type { AddedEntry } from "../../ledger/pending-adds.ts";
import { decideEntries, type EntryVerdict } from "../../ledger/recover-ledger.ts";
import { limits } from "../../limits.ts";
import { backoff, type Signal } from "../../waiting.ts";
import type { LogRef } from "../log-ref.ts";
import type { LeftSegment, OpenedSegment } from "../opening/start-segment.ts";
import type { ProducerTable } from "../producers/producer-table.ts";
import { appendLimits } from "../records/append-limits.ts";
import { unknownOutcome } from "./append-errors.ts";
import type { PendingAppend } from "./pending-appends.ts";
import { AppendSequencer, type Placed, type RefusedAppend, type SentEntry } from "./place-appends.ts";

export class ActiveSegment {
  readonly writer: LedgerWriter;
  readonly #sequencer: AppendSequencer;
  #acknowledged: SeqNum;
  #inFlight: Placed[] = [];
  /** Refused, with everything before their places acknowledged. */
  readonly #refused: RefusedAppend[] = [];
  /** Adds that the ledger writer has not answered yet. */
  #unanswered = 0;
  #failure: FencelineError | undefined;

  /** `changed` wakes its waiters whenever an add is answered, and when the segment fails. */
  constructor(
    private readonly ports: LedgerPorts,
    private readonly log: LogRef,
    readonly opened: OpenedSegment,
    start: WriterStart,
    private readonly changed: Signal,
  ) {
    this.writer = new LedgerWriter(ports, opened.ledger, start);
    const nextSeqNum = opened.tail?.nextSeqNum ?? opened.first;
    const producers = opened.producers.copy();
    this.#sequencer = new AppendSequencer(ports.clock, log.name, opened.item.number, producers, {
      entry: nextEntry(start.lastAddConfirmed),
      seqNum: nextSeqNum,
      lastTimestampMs: opened.lastTimestampMs,
      producersAt: opened.tail?.producersAt,
    });
    this.#acknowledged = nextSeqNum;
  }

  /** Why nothing more is sent here. */
  get failure(): FencelineError | undefined {
    return this.#failure;
  }

  /** Rolls by bytes, by fragments, and by age if it holds anything. */
  get isFull(): boolean {
    const { segmentBytesMax, segmentAgeMaxMs = limits.segmentAgeMaxMsDefault } = this.log.config;
    const { length, fragmentCount, lastAddPushed } = this.writer;
    if (length >= segmentBytesMax || fragmentCount >= limits.fragmentsMax) return true;
    const ageMs = this.ports.clock.nowMs() - this.opened.item.createdAtMs;
    return ageMs >= segmentAgeMaxMs && lastAddPushed !== NO_ENTRY;
  }

  /** Whether another entry may be sent. `isWhole`: what waits fills it, so that waiting saves nothing. */
  hasRoom(isWhole: boolean): boolean {
    const entriesMax = isWhole ? limits.pendingAddsMax : appendLimits.groupEntriesInFlight;
    const isFull = this.#unanswered >= entriesMax || this.writer.pendingBytes >= limits.pendingBytesMax;
    return !isFull && this.#inFlight.length < limits.pendingAddsMax;
  }

  /** The seq_num after the last record that is acknowledged. */
  get tail(): SeqNum {
    return this.#acknowledged;
  }

  /** The log's, with those of every append that was sent here. */
  get producers(): ProducerTable {
    return this.#sequencer.producers;
  }

  get isIdle(): boolean {
    return this.#inFlight.length + this.#refused.length === 0;
  }

  /** Appends that are in flight, for the caller that must give up on them. */
  get inFlight(): readonly PendingAppend[] {
    return [...this.#refused, ...this.#inFlight].flatMap(appendsOf);
  }

  /** The entry that the next appends go to. */
  get nextEntry(): EntryId {
    return this.#sequencer.next.entry;
  }

  /**
   * Sends the appends, which together fit one entry, or puts them in line to be refused. Those that were
   * sent.
   */
  offer(appends: readonly PendingAppend[]): readonly PendingAppend[] {
    assert(this.#failure === undefined, "ASG2: nothing is sent after a failure");
    const placed = this.#sequencer.place(appends);
    for (const one of placed) {
      this.#inFlight.push(one);
      if (one.kind === "sent") this.#send(one);
    }
    this.#passRefused();
    return placed.flatMap((one) => (one.kind === "sent" ? appendsOf(one) : []));
  }

  /** The refused appends whose turn has come (ASG1), each once. */
  takeRefused(): readonly RefusedAppend[] {
    return this.#refused.splice(0);
  }

  #passRefused(): void {
    for (let head = this.#inFlight[0]; head?.kind === "refused"; head = this.#inFlight[0]) {
      this.#inFlight.shift();
      this.#refused.push(head);
    }
  }

  /** Sends nothing more: another process has closed this segment's ledger. */
  supersede(reason: FencelineError): void {
    this.#failure ??= reason;
    this.changed.wake();
  }

  /** The ledger writer has answered every add. It may still be changing its ensemble. */
  get isAnswered(): boolean {
    return this.#unanswered === 0;
  }

  /**
   * What the next holder may go on from (rules 18, 19). Undefined: something is outstanding, or failed. The
   * caller sends nothing more here.
   */
  leave(): LeftSegment | undefined {
    if (this.#failure !== undefined || this.#inFlight.length > 0 || !this.writer.isClean) return undefined;
    const { ledger, lastAddConfirmed, length } = this.writer;
    const { seqNum: nextSeqNum, lastTimestampMs, producersAt } = this.#sequencer.next;
    const tail: LedgerTail = {
      ledgerId: ledger.item.ledgerId,
      ledgerVersion: ledger.version,
      lastAddConfirmed,
      nextSeqNum,
      lastTimestampMs,
      ledgerBytes: length,
      ...(producersAt === undefined ? {} : { producersAt }),
    };
    return { ...this.opened, ledger, tail, producers: this.producers };
  }

  /** After a failure, with every add answered: what was not acknowledged, in order. */
  takeUnacknowledged(): readonly Placed[] {
    assert(this.isAnswered, "only what is answered is decided");
    const left = this.#inFlight;
    this.#inFlight = [];
    return left;
  }

  /** The entry is certainly part of the log: acknowledged by the ledger writer, or found by recovery. */
  acknowledge({ batches, end }: SentEntry, durableIn: readonly Region[]): void {
    this.#acknowledged = end;
    const { number: epoch, ownerRegion } = this.opened.item;
    for (const { append, start, last } of batches) {
      append.acknowledge({ start, last, tail: end, durableIn, duplicate: false, epoch, ownerRegion });
    }
  }

  #send(entry: SentEntry): void {
    this.#unanswered += 1;
    for (const { append, start } of entry.batches) {
      append.sent(() => unknownOutcome(this.log.name, { batch: append.batch, start }, this.#failure));
    }
    const answered = () => {
      this.#unanswered -= 1;
      this.changed.wake();
    };
    this.writer.add(entry.payload).then(
      (added) => {
        this.#onAcknowledged(entry, added);
        answered();
      },
      (error: FencelineError) => {
        this.#failure ??= error;
        answered();
      },
    );
  }

  #onAcknowledged(sent: SentEntry, { entryId, regions }: AddedEntry): void {
    assert(entryId === sent.entryId && this.#inFlight[0] === sent, "adds are acknowledged in order");
    this.#inFlight.shift();
    this.acknowledge(sent, regions);
    this.#passRefused();
  }
}

/**
 * What a failed segment leaves behind: recovery says of each append in flight whether it is recorded.
 * Recorded ones are acknowledged, those that are certainly not recorded are returned, in order, for the next
 * segment, and of the others the answer is that their outcome is unknown (rule 8).
 */
export async function decideAppends(
  ports: LedgerPorts,
  log: LogRef,
  segment: ActiveSegment,
): Promise<readonly PendingAppend[]> {
  const left = segment.takeUnacknowledged();
  const { lastAddPushed } = segment.writer;
  const inDoubt = left.filter((one): one is SentEntry => one.kind === "sent" && one.entryId <= lastAddPushed);
  const verdicts = await verdictsOn(ports, segment, inDoubt);
  const notRecorded: PendingAppend[] = [];
  for (const one of left) {
    if (one.kind === "refused") {
      notRecorded.push(one.append);
      continue;
    }
    const isInDoubt = one.entryId <= lastAddPushed;
    const verdict = isInDoubt ? present(verdicts.get(one), "every entry in doubt is decided") : NEVER_SENT;
    if (verdict.kind === "recorded") segment.acknowledge(one, verdict.regions);
    else if (verdict.kind === "not-recorded") notRecorded.push(...notRecordedOf(one));
    else {
      const { cause } = verdict;
      for (const { append, start } of one.batches) {
        append.fail(unknownOutcome(log.name, { batch: append.batch, start }, cause));
      }
    }
  }
  return notRecorded;
}

function notRecordedOf({ batches }: SentEntry): readonly PendingAppend[] {
  return batches.map(({ append }) => {
    append.notRecorded();
    return append;
  });
}

type Verdict = EntryVerdict | { readonly kind: "unknown"; readonly cause: FencelineError };

const NEVER_SENT: Verdict = { kind: "not-recorded" };

async function verdictsOn(
  ports: LedgerPorts,
  segment: ActiveSegment,
  inDoubt: readonly SentEntry[],
): Promise<ReadonlyMap<SentEntry, Verdict>> {
  if (inDoubt.length === 0) return new Map();
  const { ledgerId } = segment.opened.ledger.item;
  for (let attempt = 1; ; attempt++) {
    try {
      const verdicts = await decideEntries(ports, ledgerId, segment.writer.tenure, inDoubt);
      return new Map(inDoubt.map((sent, index) => [sent, present(verdicts[index], "a verdict for each")]));
    } catch (error) {
      if (!(error instanceof FencelineError)) throw error;
      const nobodyWaits = inDoubt.every((sent) => sent.batches.every(({ append }) => append.isAnswered));
      if (!error.retryable || nobodyWaits || attempt >= limits.decideAttempts) {
        return new Map(inDoubt.map((sent) => [sent, { kind: "unknown", cause: error }]));
      }
    }
    await backoff(ports, attempt);
  }
}

function appendsOf(placed: Placed): readonly PendingAppend[] {
  return placed.kind === "refused" ? [placed.append] : placed.batches.map(({ append }) => append);
}
