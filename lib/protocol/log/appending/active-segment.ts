/**
 * The open segment of one writer: sends appends in order, many at a time, several to an entry.
 *
 * B1, B2, B3, B5: place-appends.ts.
 * B3 A refusal is told only when everything before the append's place is acknowledged: until then a failure
 *    could make its condition true after all, and a duplicate's original is not yet in the log.
 * B4 After the first failure nothing more is sent here. What was in flight is left, in order, to be decided.
 */
import { assert } from "../../assert.ts";
import type { FencelineError } from "../../errors.ts";
import { NO_ENTRY, nextEntry, type Region, type SeqNum } from "../../ids.ts";
import type { LedgerTail } from "../../lease.ts";
import type { LedgerPorts } from "../../ledger/ledger-ports.ts";
import type { WriterStart } from "../../ledger/ledger-writer.ts";
import { LedgerWriter } from "../../ledger/ledger-writer.ts";
import type { AddedEntry } from "../../ledger/pending-adds.ts";
import { limits } from "../../limits.ts";
import type { Signal } from "../../waiting.ts";
import type { LogIdentity } from "../log-identity.ts";
import type { LeftSegment, OpenedSegment } from "../opening/start-segment.ts";
import { appendLimits } from "../records/append-limits.ts";
import { unknownOutcome } from "./append-errors.ts";
import type { PendingAppend } from "./pending-appends.ts";
import { AppendPlaces, type Placed, type RefusedAppend, type SentEntry } from "./place-appends.ts";

export class ActiveSegment {
  readonly writer: LedgerWriter;
  readonly #places: AppendPlaces;
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
    private readonly log: LogIdentity,
    readonly opened: OpenedSegment,
    start: WriterStart,
    private readonly changed: Signal,
  ) {
    this.writer = new LedgerWriter(ports, opened.ledger, start);
    const nextSeqNum = opened.tail?.nextSeqNum ?? opened.first;
    this.#places = new AppendPlaces(ports.clock, log.name, {
      segment: opened.item.number,
      nextEntry: nextEntry(start.lastAddConfirmed),
      nextSeqNum,
      lastTimestampMs: opened.lastTimestampMs,
      producers: opened.producers,
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

  get isIdle(): boolean {
    return this.#inFlight.length + this.#refused.length === 0;
  }

  /** Appends that are in flight, for the caller that must give up on them. */
  get inFlight(): readonly PendingAppend[] {
    return [...this.#refused, ...this.#inFlight].flatMap(appendsOf);
  }

  /** Sends the appends, which together fit one entry, or puts them in line to be refused. */
  offer(appends: readonly PendingAppend[]): void {
    assert(this.#failure === undefined, "B4: nothing is sent after a failure");
    for (const placed of this.#places.place(appends)) {
      this.#inFlight.push(placed);
      if (placed.kind === "sent") this.#send(placed);
    }
    this.#passRefused();
  }

  /** The refused appends whose turn has come (B3), each once. */
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
    const tail: LedgerTail = {
      ledgerId: ledger.item.ledgerId,
      ledgerVersion: ledger.version,
      lastAddConfirmed,
      nextSeqNum: this.#places.nextSeqNum,
      lastTimestampMs: this.#places.lastTimestampMs,
      ledgerBytes: length,
      ...(this.#places.producersAt === undefined ? {} : { producersAt: this.#places.producersAt }),
    };
    return { ...this.opened, ledger, tail };
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
    for (const batch of entry.batches) {
      batch.append.sent(() => unknownOutcome(this.log.name, batch, this.#failure));
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

function appendsOf(placed: Placed): readonly PendingAppend[] {
  return placed.kind === "refused" ? [placed.append] : placed.batches.map(({ append }) => append);
}
