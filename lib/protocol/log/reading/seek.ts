/**
 * Where a read begins that names no seq_num: the first record at or behind a DLSN, the first one no older
 * than a time, or the last few before the tail. What was trimmed away is skipped. Queries and bookie reads
 * grow with the logarithm of the log's length, also in a log of many segments.
 *
 * SEK1 A strong seek asks consistently: no segment that was there before is missed. A local one may be
 *      behind.
 * SEK2 A record at or behind the place is never skipped, also if it is appended while the place is looked
 *      for: a reader that goes on from where another read ended must not lose it. So nothing is answered by a
 *      later tail.
 * SEK3 A tail that cannot be decided, such as that of a ledger that is being closed, is settled, as a read
 *      does it (rule 14), and looked at again.
 */

import { type EntryId, entryId, type SeqNum } from "../../ids.ts";
import type { ReadConsistency } from "../../ledger/ledger-reader.ts";
import type { MetadataConsistency } from "../../ports.ts";
import type { ReadCounters } from "../../reads/read-counters.ts";
import { throwIfAborted, type Wanted } from "../../waiting.ts";
import { type ChainItem, findSegment, type SegmentAt } from "../chain/segments.ts";
import { type LogRef, logItem } from "../log-ref.ts";
import type { ReadPlace } from "../operations.ts";
import type { Dlsn } from "../records/record.ts";
import { decodeRecordSetHead } from "../records/record-set.ts";
import { type DecidedRead, findTimestamp } from "./find-entry.ts";
import { findTail, type ReaderPorts, TailSettling } from "./log-reader.ts";

/** Throws what reads throw. */
export async function seek(
  ports: ReaderPorts,
  log: LogRef,
  place: ReadPlace,
  consistency: ReadConsistency,
  cost?: ReadCounters,
  signal?: Wanted,
): Promise<SeqNum> {
  const search = new Seek(ports, log, consistency, cost, signal);
  const found = await search.find(place);
  return Math.max(found, await search.trimPoint()) as SeqNum;
}

class Seek {
  readonly #queries: MetadataConsistency;
  readonly #tails: TailSettling;

  constructor(
    private readonly ports: ReaderPorts,
    private readonly log: LogRef,
    private readonly consistency: ReadConsistency,
    private readonly cost: ReadCounters | undefined,
    private readonly signal: Wanted | undefined,
  ) {
    this.#queries = consistency === "strong" ? "consistent" : "stale"; // SEK1
    this.#tails = new TailSettling(ports, log);
  }

  async find(place: ReadPlace): Promise<SeqNum> {
    switch (place.kind) {
      case "dlsn":
        return await this.#dlsn(place.dlsn);
      case "timestamp":
        return await this.#timestamp(place.timestampMs);
      case "tail-offset":
        return Math.max(0, (await this.#tail()) - place.count) as SeqNum;
    }
  }

  async trimPoint(): Promise<SeqNum> {
    const item = await logItem(this.ports.metadata, this.log.incarnation, this.#queries);
    return item?.trimPoint ?? (0 as SeqNum);
  }

  async #dlsn(dlsn: Dlsn): Promise<SeqNum> {
    const isBefore = (item: ChainItem) => item.item.number <= dlsn.segment;
    const { before, after } = await this.#segment(isBefore);
    const there = await this.#within(before, dlsn);
    if (there !== undefined) return there;
    // Stale answers may show the second next segment as the next one.
    if (after !== undefined && (before === undefined || this.#queries === "consistent")) return after;
    const end = await this.#endOf(before);
    // One that others follow holds records (rule 24), unless they were trimmed away.
    const isGone = after !== undefined && end === before?.first;
    return (await this.#within(before, dlsn)) ?? (isGone ? after : end);
  }

  /** Undefined: the place is of another segment, or its entry is not there. */
  async #within(item: ChainItem | undefined, { segment, entry, slot }: Dlsn): Promise<SeqNum | undefined> {
    if (item?.kind !== "segment" || item.item.number !== segment) return undefined;
    const read = await this.#read(item, entry);
    if (read.kind !== "entry") return undefined;
    const { firstSeqNum, count } = decodeRecordSetHead(
      read.entry.payload,
      `entry ${entry} of ledger ${item.item.ledgerId}`,
    );
    return (firstSeqNum + Math.min(slot, count)) as SeqNum;
  }

  /** The place behind the last record of a segment. */
  async #endOf(item: ChainItem | undefined): Promise<SeqNum> {
    if (item?.kind !== "segment") return item?.first ?? (0 as SeqNum);
    const noRecordIsThatYoung = Number.POSITIVE_INFINITY;
    return await this.#youngerIn(item, noRecordIsThatYoung);
  }

  async #timestamp(timestampMs: number): Promise<SeqNum> {
    const isBefore = (item: ChainItem, isLast: boolean) => this.#startsBefore(item, isLast, timestampMs);
    const { before, after } = await this.#segment(isBefore);
    if (before?.kind !== "segment") return after ?? (0 as SeqNum);
    return await this.#youngerIn(before, timestampMs);
  }

  /** The segment's first record that is no older, or the place behind its last one. */
  #youngerIn(segment: SegmentAt, timestampMs: number): Promise<SeqNum> {
    const read = (entry: EntryId) => this.#read(segment, entry);
    return findTimestamp(this.#known(segment), segment.first, timestampMs, read, this.cost);
  }

  /** Whether the segment's first entry is older. One that holds nothing counts as young. */
  async #startsBefore(item: ChainItem, isLast: boolean, timestampMs: number): Promise<boolean> {
    if (item.kind === "end") return false;
    const read = await this.#read(item, entryId(0));
    // A DELETED ledger was trimmed away, or as the last never held anything (rule 28).
    if (read.kind === "deleted" || read.kind === "missing") return !isLast;
    if (read.kind !== "entry") return false;
    const name = `entry 0 of ledger ${item.item.ledgerId}`;
    return decodeRecordSetHead(read.entry.payload, name).firstTimestampMs < timestampMs;
  }

  /** SEK3 */
  async #read(segment: SegmentAt, entry: EntryId): Promise<DecidedRead> {
    const { reader } = this.#known(segment);
    while (true) {
      throwIfAborted(this.signal, `seek at entry ${entry}`);
      const read = await reader.read(entry, this.consistency, this.cost);
      if (read.kind !== "undecided") return read;
      if (entry <= reader.confirmed || this.consistency === "local") throw read.error;
      await this.#tails.settle(segment, read.error);
    }
  }

  #segment(isBefore: Parameters<typeof findSegment>[3]) {
    return findSegment(this.ports.metadata, this.log.incarnation, this.#queries, isBefore);
  }

  async #tail(): Promise<SeqNum> {
    return (await findTail(this.ports, this.log, this.consistency, this.cost, this.signal)).tail;
  }

  #known({ item }: SegmentAt) {
    return this.ports.known.of(item.ledgerId);
  }
}
