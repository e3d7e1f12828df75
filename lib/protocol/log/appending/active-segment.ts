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
import { type EntryId, NO_ENTRY, nextEntry, type Region, type SeqNum } from "../../ids.ts";
import type { LedgerTail } from "../../lease.ts";
import type { LedgerPorts } from "../../ledger/ledger-ports.ts";
import { LedgerWriter } from "../../ledger/ledger-writer.ts";
import type { WriterStart } from "../../ledger/writer-start.ts";
import { limits } from "../../limits.ts";
import type { LeftSegment } from "../lease/writer-tenure.ts";
import type { LogIdentity } from "../log-identity.ts";
import type { OpenedSegment } from "../opening/start-segment.ts";
import { appendLimits } from "../records/append-limits.ts";
import type { PendingAppend } from "./pending-append.ts";
import {
  AppendPlaces,
  type Placed,
  type PlacedBatch,
  type RefusedAppend,
  type SentEntry,
} from "./place-appends.ts";

export interface ActiveSegmentEvents {
  /** Everything before a refused append's place is acknowledged. */
  refused(refused: RefusedAppend): void;
  /** The segment failed, or there is room again. */
  changed(): void;
  /** What to answer if time runs out while it is in flight. */
  doubt(batch: PlacedBatch): FencelineError;
}

export class ActiveSegment {
  readonly writer: LedgerWriter;
  readonly #places: AppendPlaces;
  #acknowledged: SeqNum;
  #inFlight: Placed[] = [];
  #bytesInFlight = 0;
  /** Adds of which the ledger writer has said nothing yet. */
  #unsettled = 0;
  #failure: FencelineError | undefined;
  #whenSettled: (() => void)[] = [];

  constructor(
    private readonly ports: LedgerPorts,
    private readonly log: LogIdentity,
    readonly opened: OpenedSegment,
    start: WriterStart,
    private readonly events: ActiveSegmentEvents,
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
    const isFull = this.#unsettled >= entriesMax || this.#bytesInFlight >= limits.pendingBytesMax;
    return !isFull && this.#inFlight.length < limits.pendingAddsMax;
  }

  /** The seq_num after the last record that is acknowledged. */
  get tail(): SeqNum {
    return this.#acknowledged;
  }

  get isIdle(): boolean {
    return this.#inFlight.length === 0;
  }

  /** Appends that are in flight, for whoever must give up on them. */
  get inFlight(): readonly PendingAppend[] {
    return this.#inFlight.flatMap(appendsOf);
  }

  /** Sends the appends, which together fit one entry, or puts them in line to be told why not. */
  offer(appends: readonly PendingAppend[]): void {
    assert(this.#failure === undefined, "B4: nothing is sent after a failure");
    for (const placed of this.#places.place(appends)) {
      this.#inFlight.push(placed);
      if (placed.kind === "sent") this.#send(placed);
    }
    this.#tellRefused();
  }

  /** Sends nothing more: another process has closed this segment's ledger. */
  supersede(reason: FencelineError): void {
    this.#failure ??= reason;
    this.events.changed();
  }

  /** Resolves when the ledger writer has answered every add, and is done with its ensemble. */
  async settled(): Promise<void> {
    if (this.#unsettled > 0) await new Promise<void>((resolve) => this.#whenSettled.push(resolve));
    await this.writer.settled();
  }

  /** What this holder leaves to the next one. The caller sends nothing more here. */
  leave(): LeftSegment {
    return { left: this.#left(), suspects: [...this.writer.suspects] };
  }

  #left(): LeftSegment["left"] {
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

  /** After a failure, and settled: what was not acknowledged, in order. */
  takeLeft(): readonly Placed[] {
    assert(this.#unsettled === 0, "only what has settled is decided");
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
    this.#bytesInFlight += entry.payload.length;
    this.#unsettled += 1;
    for (const batch of entry.batches) batch.append.sent(() => this.events.doubt(batch));
    this.writer.add(entry.payload).then(
      (added) => this.#onAcknowledged(entry, added.entryId, added.regions),
      (error: FencelineError) => this.#onFailed(error),
    );
  }

  #onAcknowledged(sent: SentEntry, entryId: EntryId, regions: readonly Region[]): void {
    assert(entryId === sent.entryId && this.#inFlight[0] === sent, "adds are acknowledged in order");
    this.#inFlight.shift();
    this.#bytesInFlight -= sent.payload.length;
    this.acknowledge(sent, regions);
    this.#tellRefused();
    this.#settleOne();
    this.events.changed();
  }

  #onFailed(error: FencelineError): void {
    this.#failure ??= error;
    this.#settleOne();
    this.events.changed();
  }

  #tellRefused(): void {
    for (let head = this.#inFlight[0]; head?.kind === "refused"; head = this.#inFlight[0]) {
      this.#inFlight.shift();
      this.events.refused(head);
    }
  }

  #settleOne(): void {
    this.#unsettled -= 1;
    if (this.#unsettled > 0) return;
    for (const wake of this.#whenSettled.splice(0)) wake();
  }
}

function appendsOf(placed: Placed): readonly PendingAppend[] {
  return placed.kind === "refused" ? [placed.append] : placed.batches.map(({ append }) => append);
}
