/**
 * The open segment of one writer: gives appends their places and sends them, many at a time, in order.
 *
 * B1 Seq_nums are dense: an entry starts where the entry before it ends, acknowledged or not.
 * B2 Timestamps never fall.
 * B3 A match_seq_num is compared with the next seq_num at the append's own place in the pipeline. A mismatch
 *    is told only when everything before that place is acknowledged: until then a failure could make the
 *    condition true after all.
 * B4 After the first failure nothing more is sent here. What was in flight is left, in order, to be decided.
 */
import { assert } from "../assert.ts";
import type { FencelineError } from "../errors.ts";
import { type EntryId, nextEntry, type Region, type SeqNum } from "../ids.ts";
import type { LedgerTail } from "../lease.ts";
import type { LedgerPorts } from "../ledger/ledger-ports.ts";
import { LedgerWriter } from "../ledger/ledger-writer.ts";
import type { WriterStart } from "../ledger/writer-start.ts";
import { limits } from "../limits.ts";
import type { RecordPosition } from "./operations.ts";
import type { PendingAppend } from "./pending-append.ts";
import { encodeControlEntry, encodeRecordSet, type StoredRecord } from "./record-set.ts";
import type { LogIdentity, OpenedSegment } from "./start-segment.ts";

/** An append that was handed to the ledger writer. */
export interface SentAppend {
  readonly kind: "sent";
  readonly append: PendingAppend;
  readonly entryId: EntryId;
  readonly payload: Uint8Array;
  /** Positions of its first and last record; both are the next record's if it has none. */
  readonly start: RecordPosition;
  readonly last: RecordPosition;
}

/** An append whose condition does not hold at its place (B3). */
interface Mismatch {
  readonly kind: "mismatch";
  readonly append: PendingAppend;
  readonly actual: SeqNum;
}

export interface ActiveSegmentEvents {
  /** Everything before a mismatch's place is acknowledged. */
  mismatch(append: PendingAppend, actual: SeqNum): void;
  /** The segment failed, or there is room again. */
  changed(): void;
  /** What to answer if time runs out while it is in flight. */
  doubt(sent: SentAppend): FencelineError;
}

export class ActiveSegment {
  readonly writer: LedgerWriter;
  /** The seq_num of the next record, as far as everything in flight is recorded. */
  #nextSeqNum: SeqNum;
  #lastTimestampMs: number;
  #acknowledged: SeqNum;
  #nextEntry: EntryId;
  #inFlight: (SentAppend | Mismatch)[] = [];
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
    this.#nextEntry = nextEntry(start.lastAddConfirmed);
    this.#nextSeqNum = opened.tail?.nextSeqNum ?? opened.first;
    this.#acknowledged = this.#nextSeqNum;
    this.#lastTimestampMs = opened.lastTimestampMs;
  }

  /** Why nothing more is sent here. */
  get failure(): FencelineError | undefined {
    return this.#failure;
  }

  /** Rolls by bytes and by fragments. */
  get isFull(): boolean {
    const { segmentBytesMax } = this.log.config;
    return this.writer.length >= segmentBytesMax || this.writer.fragmentCount >= limits.fragmentsMax;
  }

  get hasRoom(): boolean {
    return this.#inFlight.length < limits.pendingAddsMax && this.#bytesInFlight < limits.pendingBytesMax;
  }

  get isIdle(): boolean {
    return this.#inFlight.length === 0;
  }

  /** Appends that are in flight, for whoever must give up on them. */
  get inFlight(): readonly PendingAppend[] {
    return this.#inFlight.map(({ append }) => append);
  }

  /** Sends the append, or puts it in line to be told of its mismatch. */
  offer(append: PendingAppend): void {
    assert(this.#failure === undefined, "B4: nothing is sent after a failure");
    if (append.matchSeqNum !== undefined && append.matchSeqNum !== this.#nextSeqNum) {
      this.#inFlight.push({ kind: "mismatch", append, actual: this.#nextSeqNum });
      this.#tellMismatches();
      return;
    }
    const sent = append.isControl ? this.#placeControl(append) : this.#placeRecords(append);
    this.#nextEntry = nextEntry(sent.entryId);
    this.#inFlight.push(sent);
    this.#bytesInFlight += sent.payload.length;
    this.#unsettled += 1;
    append.sent(() => this.events.doubt(sent));
    this.writer.add(sent.payload).then(
      (added) => this.#onAcknowledged(sent, added.entryId, added.regions),
      (error: FencelineError) => this.#onFailed(error),
    );
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

  /**
   * What the next holder may go on from (rules 18, 19). Undefined: something is outstanding, or failed. The
   * caller sends nothing more here.
   */
  leave(): (OpenedSegment & { readonly tail: LedgerTail }) | undefined {
    if (this.#failure !== undefined || this.#inFlight.length > 0 || !this.writer.isClean) return undefined;
    const { ledger, lastAddConfirmed, length } = this.writer;
    const tail: LedgerTail = {
      ledgerId: ledger.item.ledgerId,
      ledgerVersion: ledger.version,
      lastAddConfirmed,
      nextSeqNum: this.#nextSeqNum,
      lastTimestampMs: this.#lastTimestampMs,
      ledgerBytes: length,
    };
    return { ...this.opened, ledger, tail };
  }

  /** After a failure, and settled: what was not acknowledged, in order. */
  takeLeft(): readonly (SentAppend | Mismatch)[] {
    assert(this.#unsettled === 0, "only what has settled is decided");
    const left = this.#inFlight;
    this.#inFlight = [];
    return left;
  }

  /** The entry is certainly part of the log: acknowledged by the ledger writer, or found by recovery. */
  acknowledge(sent: SentAppend, durableIn: readonly Region[]): void {
    this.#acknowledged = (sent.start.seqNum + sent.append.records.length) as SeqNum;
    const { number: epoch, ownerRegion } = this.opened.item;
    const { start, last } = sent;
    sent.append.acknowledge({ start, last, tail: this.#acknowledged, durableIn, epoch, ownerRegion });
  }

  #placeRecords(append: PendingAppend): SentAppend {
    const arrivedMs = Math.floor(this.ports.clock.nowMs());
    const records: StoredRecord[] = append.records.map(({ headers, body, timestampMs = arrivedMs }) => {
      this.#lastTimestampMs = Math.max(this.#lastTimestampMs, timestampMs); // B2
      return { headers, body, timestampMs: this.#lastTimestampMs };
    });
    const payload = encodeRecordSet(this.#nextSeqNum, records);
    const start = this.#position(0, records[0]);
    const last = this.#position(records.length - 1, records.at(-1));
    this.#nextSeqNum = (this.#nextSeqNum + records.length) as SeqNum; // B1
    return { kind: "sent", append, entryId: this.#nextEntry, payload, start, last };
  }

  #placeControl(append: PendingAppend): SentAppend {
    const payload = encodeControlEntry(this.#nextSeqNum, this.#lastTimestampMs);
    const here = this.#position(0, undefined);
    return { kind: "sent", append, entryId: this.#nextEntry, payload, start: here, last: here };
  }

  #position(slot: number, record: StoredRecord | undefined): RecordPosition {
    return {
      seqNum: (this.#nextSeqNum + slot) as SeqNum,
      dlsn: { segment: this.opened.item.number, entry: this.#nextEntry, slot },
      timestampMs: record?.timestampMs ?? this.#lastTimestampMs,
    };
  }

  #onAcknowledged(sent: SentAppend, entryId: EntryId, regions: readonly Region[]): void {
    assert(entryId === sent.entryId && this.#inFlight[0] === sent, "adds are acknowledged in order");
    this.#inFlight.shift();
    this.#bytesInFlight -= sent.payload.length;
    this.acknowledge(sent, regions);
    this.#tellMismatches();
    this.#settleOne();
    this.events.changed();
  }

  #onFailed(error: FencelineError): void {
    this.#failure ??= error;
    this.#settleOne();
    this.events.changed();
  }

  #tellMismatches(): void {
    for (let head = this.#inFlight[0]; head?.kind === "mismatch"; head = this.#inFlight[0]) {
      this.#inFlight.shift();
      this.events.mismatch(head.append, head.actual);
    }
  }

  #settleOne(): void {
    this.#unsettled -= 1;
    if (this.#unsettled > 0) return;
    for (const wake of this.#whenSettled.splice(0)) wake();
  }
}
