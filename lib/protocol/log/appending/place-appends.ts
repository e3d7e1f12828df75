/**
 * Gives appends their places in the open segment and makes entries of them: consecutive ones share an entry
 * (group commit). Everything here is as if all that was placed before were recorded.
 *
 * SQ1 Seq_nums are dense: an entry starts where the entry before it ends, acknowledged or not.
 * SQ2 Timestamps never fall.
 * SQ3 An append is judged at its own place, behind everything that was placed before it (JA1, JA2). What
 *     is refused comes behind the entry of its group, and so waits for everything before its place.
 * SQ4 An entry names the snapshot that the producers can be restored from, and is one itself if there is
 *     none yet or the last one is `producerSnapshotEntries` old.
 *
 * What an append gets at a place in the log, as far as everything before that place is recorded. One judge
 * for open logs and sealed ones.
 *
 * JA1 The sender is judged before the condition: a repetition of a recorded batch is a duplicate wherever
 *     the log ends by now. A new batch needs its match_seq_num.
 * JA2 An append that is refused is not noted: its sender's seq is free, and a later attempt with the same
 *     seq or key is judged anew. It succeeds if its condition holds then.
 */
import type { Clock } from "../../deadline.ts";
import type { FencelineError } from "../../errors.ts";
import { type EntryId, nextEntry, type SegmentNumber, type SeqNum } from "../../ids.ts";
import { producerRefusal } from "../producers/producer-errors.ts";
import { encodeProducers } from "../producers/producer-snapshot.ts";
import type { KnownBatch, ProducerTable } from "../producers/producer-table.ts";
import { appendLimits } from "../records/append-limits.ts";
import { batchPlaces } from "../records/batch-places.ts";
import type { RecordPosition, StoredRecord } from "../records/record.ts";
import {
  type EntryBatch,
  type EntryBatches,
  encodeControlEntry,
  encodeRecordSet,
} from "../records/record-set.ts";
import { seqNumMismatch } from "./append-errors.ts";
import type { AppendBatch, PendingAppend } from "./pending-appends.ts";

interface PlacedBatch {
  readonly append: PendingAppend;
  /** Positions of its first and last record; both are the next record's if it has none. */
  readonly start: RecordPosition;
  readonly last: RecordPosition;
}

/** An entry on its way. */
export interface SentEntry {
  readonly kind: "sent";
  /** At least one, in the order of their records. */
  readonly batches: readonly PlacedBatch[];
  readonly entryId: EntryId;
  readonly payload: Uint8Array;
  /** The seq_num after its last record. */
  readonly end: SeqNum;
}

/** An append that gets no place (SQ3). */
export interface RefusedAppend {
  readonly kind: "refused";
  readonly append: PendingAppend;
  readonly refusal: Refusal;
}

export type Placed = SentEntry | RefusedAppend;

/** Where the next record goes. */
interface NextPlace {
  readonly entry: EntryId;
  readonly seqNum: SeqNum;
  /** Of the record before it. */
  readonly lastTimestampMs: number;
  /** The entry of this ledger from which the producers can be restored. Undefined: there are none. */
  readonly producersAt: EntryId | undefined;
}

export class AppendSequencer {
  #next: NextPlace;

  constructor(
    private readonly clock: Clock,
    private readonly logName: string,
    private readonly segment: SegmentNumber,
    /** The log's, with those of every append that was placed. */
    readonly producers: ProducerTable,
    start: NextPlace,
  ) {
    this.#next = start;
  }

  get next(): NextPlace {
    return this.#next;
  }

  /** One entry at most, and behind it what is refused. The appends together fit one entry. */
  place(appends: readonly PendingAppend[]): readonly Placed[] {
    const refused: RefusedAppend[] = [];
    const group = this.#begin();
    for (const append of appends) {
      const refusal = judgeAppend(this.logName, this.producers, append.batch, this.#next.seqNum); // SQ3
      if (refusal !== undefined) refused.push({ kind: "refused", append, refusal });
      else this.#add(group, append);
    }
    const sent = group.batches.length === 0 ? [] : [this.#close(group)];
    return [...sent, ...refused];
  }

  #begin(): Group {
    return { first: this.#next.seqNum, snapshot: undefined, records: [], batches: [], marks: [] };
  }

  #add(group: Group, append: PendingAppend): void {
    const { sender, records } = append.batch;
    if (group.batches.length === 0) this.#beginEntry(group, sender !== undefined);
    else if (sender !== undefined && this.#next.producersAt === undefined) this.#snapshot(group);
    const count = records.length;
    const slot = group.records.length;
    const { entry, seqNum, lastTimestampMs } = this.#next;
    const stored = this.#stamped(append);
    group.records.push(...stored);
    const timestampMs = stored[0]?.timestampMs ?? lastTimestampMs;
    const start = { seqNum, dlsn: { segment: this.segment, entry, slot }, timestampMs };
    const last = stored.at(-1)?.timestampMs ?? lastTimestampMs;
    const places = batchPlaces(start, count, last);
    group.batches.push({ append, ...places });
    this.#next = { ...this.#next, seqNum: (seqNum + count) as SeqNum, lastTimestampMs: last }; // SQ1
    const mark = this.#mark(append.batch);
    if (count > 0 || mark.ticket !== undefined) group.marks.push(mark);
    if (sender === undefined) return;
    this.producers.note(sender, { seq: sender.seq, count, content: sender.content, ...places });
  }

  #mark({ records, sender, ticket }: AppendBatch): EntryBatch {
    const { segment } = this;
    return {
      count: records.length,
      ...(sender === undefined ? {} : { sender }),
      ...(ticket === undefined
        ? {}
        : { ticket: { birth: ticket.birth, id: ticket.id, revision: ticket.revision, segment } }),
    };
  }

  /** SQ4 */
  #beginEntry(group: Group, hasSender: boolean): void {
    if (!hasSender && this.producers.isEmpty) return;
    const { producersAt: at, entry } = this.#next;
    const isDue = at === undefined || entry - at >= appendLimits.producerSnapshotEntries;
    if (isDue) this.#snapshot(group);
  }

  /** Taken before the first sender of the entry is noted. */
  #snapshot(group: Group): void {
    group.snapshot = encodeProducers(this.producers);
    this.#next = { ...this.#next, producersAt: this.#next.entry };
  }

  #close({ first, snapshot, records, batches, marks }: Group): SentEntry {
    const { entry: entryId, seqNum: end, lastTimestampMs, producersAt } = this.#next;
    const entry: EntryBatches = {
      batches: marks,
      ...(producersAt === undefined ? {} : { producersAt }),
      ...(snapshot === undefined ? {} : { snapshot }),
    };
    const payload =
      records.length === 0
        ? encodeControlEntry(first, lastTimestampMs, entry)
        : encodeRecordSet(first, records, entry);
    this.#next = { ...this.#next, entry: nextEntry(entryId) };
    return { kind: "sent", batches, entryId, payload, end };
  }

  #stamped({ batch }: PendingAppend): StoredRecord[] {
    const arrivedMs = Math.floor(this.clock.nowMs());
    let latestMs = this.#next.lastTimestampMs;
    return batch.records.map(({ headers, body, timestampMs = arrivedMs }) => {
      latestMs = Math.max(latestMs, timestampMs); // SQ2
      return { headers, body, timestampMs: latestMs };
    });
  }
}

/** An entry in the making. */
interface Group {
  readonly first: SeqNum;
  snapshot: Uint8Array | undefined;
  readonly records: StoredRecord[];
  readonly batches: PlacedBatch[];
  readonly marks: EntryBatch[];
}

type Refusal =
  /** The batch is in the log, or will be with everything before this place. */
  | { readonly kind: "duplicate"; readonly batch: KnownBatch }
  /** True for ever, whatever is appended later: what is recorded stays, and an epoch never goes back. */
  | { readonly kind: "lasting"; readonly error: FencelineError }
  /** True at this place; behind other records the append may be right. */
  | { readonly kind: "passing"; readonly error: FencelineError };

/** Undefined: it is new, and may be appended at `next`. */
export function judgeAppend(
  logName: string,
  producers: ProducerTable,
  append: Pick<AppendBatch, "sender" | "matchSeqNum" | "records">,
  next: SeqNum,
): Refusal | undefined {
  const { sender, matchSeqNum, records } = append;
  if (sender !== undefined) {
    const verdict = producers.judge(sender, records.length);
    if (verdict.kind === "duplicate") return verdict;
    if (verdict.kind !== "new") {
      const isPassing = verdict.kind === "gap" || verdict.kind === "full";
      return {
        kind: isPassing ? "passing" : "lasting",
        error: producerRefusal(logName, sender, verdict),
      };
    }
  }
  if (matchSeqNum === undefined || matchSeqNum === next) return undefined;
  const places = { expected: matchSeqNum, actual: next };
  return { kind: "passing", error: seqNumMismatch(logName, sender !== undefined, places) };
}
