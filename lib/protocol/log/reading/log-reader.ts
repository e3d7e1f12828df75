/**
 * One read of a log from a position: across entries and segments, until its limits or the tail (rule 33).
 * Each letter of the rule is a step of its own; a step names the next one.
 *
 * LRD1 "Up to date" is said only on a consistent query of this operation, or on rule 14's consistent read of
 *      a ledger that a consistent query had named last before (33e).
 * LRD2 A stale query may send the operation anywhere but never ends a strong one: what looks wrong under
 *      stale answers is looked at again under consistent ones before it is reported.
 * LRD3 Every step that brings the read no further is counted, and so is every settling: the operation ends.
 *
 * Before anything is said of a position whose segment cannot be found or read, the log item is read
 * consistently: is the log still there, and the position not trimmed away (33d, 33f)?
 */
import { FencelineError, notReady } from "../../errors.ts";
import type { LedgerId, SeqNum } from "../../ids.ts";
import type { LedgerPorts } from "../../ledger/ledger-ports.ts";
import type { ReadConsistency } from "../../ledger/ledger-reader.ts";
import { limits } from "../../limits.ts";
import type { MetadataConsistency } from "../../ports.ts";
import { ReadCounters } from "../../reads/read-counters.ts";
import { backoff, type Wanted } from "../../waiting.ts";
import {
  type ChainItem,
  firstAtOrAbove,
  lastAtOrBelow,
  lastItem,
  type SegmentAt,
} from "../chain/segments.ts";
import type { Settler } from "../log-ports.ts";
import { activeLog, type LogRef } from "../log-ref.ts";
import type { KnownTail, ReadAnswer, ReadRequest } from "../operations.ts";
import type { NoEntry } from "./find-entry.ts";
import type { KnownLedgers } from "./known-ledgers.ts";
import { ReadCollector, walkSegment } from "./walk-segment.ts";

/** What a read needs of its process. */
export interface ReaderPorts extends LedgerPorts {
  readonly known: KnownLedgers;
  /** Without one an undecidable tail is an error at once. */
  readonly settler?: Settler;
}

interface ReadEnd extends KnownTail {
  /** The segment where the operation ended. */
  readonly segment?: SegmentAt;
}

type Step =
  | { readonly to: "a" }
  | { readonly to: "ledger"; readonly segment: SegmentAt }
  | { readonly to: "b"; readonly segment: SegmentAt; readonly end: SeqNum }
  | { readonly to: "c" }
  | { readonly to: "d" }
  | { readonly to: "e"; readonly segment: SegmentAt; readonly tail: SeqNum; readonly openAndLast: boolean }
  | { readonly to: "f"; readonly gone?: SegmentAt }
  | { readonly to: "done"; readonly end: ReadEnd };

/**
 * Reads records from a seq_num on. Throws `log_not_found`, `position_trimmed`, `insufficient_regions`,
 * `not_ready`, `data_corrupt`, what ports throw, and `position_unwritten` if the position is beyond a tail
 * that is certain.
 */
export async function readRecords(
  ports: ReaderPorts,
  log: LogRef,
  request: Omit<ReadRequest, "log" | "from"> & { readonly from: SeqNum },
  cost = new ReadCounters(),
): Promise<ReadAnswer> {
  const { from, limit, bytesMax = limits.readBytesMax, consistency, signal } = request;
  const collector = new ReadCollector(from, limit, bytesMax, cost, signal);
  const { tail, upToDate, sealed } = await new LogReader(ports, log, consistency, collector).run();
  const next = collector.position;
  if (upToDate && next > tail) {
    throw new FencelineError("position_unwritten", {
      message: `log ${log.name} ends at ${tail}, and ${next} was asked for; read from ${tail} or wait`,
      details: { tail },
    });
  }
  return { records: collector.records, next, tail, upToDate, sealed };
}

/** Finds the tail, beginning at the last segment. Throws as `readRecords` does. */
export function findTail(
  ports: ReaderPorts,
  log: LogRef,
  consistency: ReadConsistency,
  cost?: ReadCounters,
  signal?: Wanted,
): Promise<ReadEnd> {
  return new LogReader(ports, log, consistency, ReadCollector.ofNothing(cost, signal)).run();
}

const START = 0 as SeqNum;

/** Tails that one operation has settled (rule 14), so often at most (LRD3). */
export class TailSettling {
  #settles = 0;

  constructor(
    private readonly ports: ReaderPorts,
    private readonly log: LogRef,
  ) {}

  /** Resolves when the read that got `error` is worth another try; throws `error` if it is not. */
  async settle({ item }: SegmentAt, error: FencelineError): Promise<void> {
    const { settler } = this.ports;
    if (settler === undefined || this.#settles >= limits.settleRoundsMax) throw error;
    this.#settles += 1;
    try {
      await settler.settle(item.ownerRegion, this.log.name);
    } catch (cause) {
      if (this.#settles >= limits.settleRoundsMax) throw notSettled(error, cause);
    }
  }
}

class LogReader {
  #restarts = 0;
  readonly #tails: TailSettling;
  /** The ledger that a consistent "last" query of this operation named. */
  #lastSeen: LedgerId | undefined;

  constructor(
    private readonly ports: ReaderPorts,
    private readonly log: LogRef,
    private readonly consistency: ReadConsistency,
    private readonly collector: ReadCollector,
  ) {
    this.#tails = new TailSettling(ports, log);
  }

  async run(): Promise<ReadEnd> {
    let step: Step = { to: "a" };
    while (step.to !== "done") {
      this.collector.checkWanted();
      step = await this.#take(step);
    }
    return step.end;
  }

  #take(step: Exclude<Step, { to: "done" }>): Promise<Step> {
    switch (step.to) {
      case "a":
        return this.#findSegment();
      case "ledger":
        return this.#readLedger(step.segment);
      case "b":
        return this.#crossEnd(step.segment, step.end);
      case "c":
        return this.#endOfLog();
      case "d":
        return this.#beforeFirst();
      case "e":
        return this.#nothingYet(step.segment, step.tail, step.openAndLast);
      case "f":
        return this.#lookAgain(step.gone);
    }
  }

  /** 33a: the segment with the greatest key <= n; else the first key, if only a consistent query has none. */
  async #findSegment(): Promise<Step> {
    const { metadata } = this.ports;
    const { incarnation: log } = this.log;
    const isStrong = this.consistency === "strong";
    if (this.collector.isForTail) {
      const last = isStrong ? await this.#queryLast() : await lastItem(metadata, log, this.#queries);
      if (last !== undefined) return enter(last);
      return done(START, isStrong);
    }
    const found = await lastAtOrBelow(metadata, log, this.#position, this.#queries);
    if (found !== undefined) return enter(found);
    const first =
      (await firstAtOrAbove(metadata, log, START, this.#queries)) ??
      (isStrong ? await firstAtOrAbove(metadata, log, START, "consistent") : undefined);
    if (first === undefined) return done(START, isStrong);
    return first.first > this.#position ? { to: "d" } : enter(first);
  }

  async #readLedger(segment: SegmentAt): Promise<Step> {
    const known = this.ports.known.of(segment.item.ledgerId);
    const { seenLast } = known;
    const end = await walkSegment(segment, known, this.consistency, this.collector);
    switch (end.kind) {
      case "enough":
        return done(this.#position, false, segment);
      case "gap":
        throw this.#alarm(
          `entry ${end.at} of ledger ${segment.item.ledgerId} begins at ${end.found}, not at ${end.next}`,
        );
      case "stopped":
        break;
    }
    const { read, next } = end;
    switch (read.kind) {
      case "nothing-yet":
        return { to: "e", segment, tail: next, openAndLast: seenLast };
      case "beyond-end":
        return { to: "b", segment, end: next };
      case "deleted":
      case "missing":
        return { to: "f", gone: segment };
      case "unknown-tail":
        return done(next, false, segment);
      case "undecided":
        return await this.#undecided(segment, end.at <= known.reader.confirmed, next, read);
    }
  }

  /** 33b: at the end of a CLOSED ledger, the first key >= its end. */
  async #crossEnd(segment: SegmentAt, end: SeqNum): Promise<Step> {
    const next = await firstAtOrAbove(this.ports.metadata, this.log.incarnation, end, this.#queries);
    if (next === undefined || isOf(next, segment)) {
      return { to: "e", segment, tail: end, openAndLast: false };
    }
    // Another ledger under the same key: it replaced this one, or a stale answer names the one it replaced.
    if (next.first <= segment.first) this.#countRestart();
    return next.first > this.#position ? { to: "d" } : enter(next);
  }

  /** 33c: an END item ends the log if it is the last. It also is the first step of a deletion (29). */
  async #endOfLog(): Promise<Step> {
    const last = await this.#queryLast();
    if (last?.kind !== "end" || last.first > this.#position) return { to: "f" };
    await this.#checkReadable(last.first);
    return endOfLog(last.first);
  }

  /** 33d: everything that is left lies behind the position. */
  async #beforeFirst(): Promise<Step> {
    await this.#checkReadable(this.#position);
    if (this.#queries === "stale") return await this.#again();
    throw this.#alarm(`nothing holds ${this.#position}, and the log is not trimmed beyond it`);
  }

  /** 33e: nothing yet, if this is the last segment, open or closed. */
  async #nothingYet(segment: SegmentAt, tail: SeqNum, openAndLast: boolean): Promise<Step> {
    if (this.consistency === "local") return done(tail, false, segment);
    const { ledgerId } = segment.item;
    if (openAndLast || this.#lastSeen === ledgerId) return done(tail, true, segment);
    const last = await this.#queryLast();
    return last !== undefined && isOf(last, segment) ? done(tail, true, segment) : { to: "f" };
  }

  /**
   * 33f: the log item first; a ledger that is gone but still last holds nothing yet; else from the
   * beginning.
   */
  async #lookAgain(gone: SegmentAt | undefined): Promise<Step> {
    await this.#checkReadable(this.#position);
    if (gone !== undefined) {
      const last = await this.#queryLast();
      if (last !== undefined && isOf(last, gone)) return done(gone.first, true, gone);
    }
    return await this.#again();
  }

  /** Rule 14: bookies of the tail are down. What was collected before is a true, if shorter, answer. */
  async #undecided(
    segment: SegmentAt,
    isConfirmed: boolean,
    next: SeqNum,
    { error }: Extract<NoEntry, { kind: "undecided" }>,
  ): Promise<Step> {
    if (this.collector.records.length > 0) return done(this.#position, false, segment);
    if (isConfirmed) throw error;
    if (this.consistency === "local") return done(next, false, segment);
    await this.#tails.settle(segment, error);
    return { to: "ledger", segment };
  }

  async #again(): Promise<Step> {
    this.#countRestart();
    if (this.#restarts > 1) await backoff(this.ports, this.#restarts);
    return { to: "a" };
  }

  #countRestart(): void {
    this.#restarts += 1;
    if (this.#restarts <= limits.readRestartsMax) return;
    throw notReady(`log ${this.log.name}: its segments kept changing under this read; try again`);
  }

  async #queryLast(): Promise<ChainItem | undefined> {
    const last = await lastItem(this.ports.metadata, this.log.incarnation, "consistent");
    this.#lastSeen = last?.kind === "segment" ? last.item.ledgerId : undefined;
    if (last?.kind === "segment") this.ports.known.of(last.item.ledgerId).seenLast = true;
    return last;
  }

  get #position(): SeqNum {
    return this.collector.position;
  }

  /** LRD2: a read that had to begin again trusts no stale answer any more. */
  get #queries(): MetadataConsistency {
    return this.#restarts > 0 ? "consistent" : "stale";
  }

  /** Throws `log_not_found` or `position_trimmed`. */
  async #checkReadable(position: SeqNum): Promise<void> {
    const { trimPoint } = await activeLog(this.ports.metadata, this.log);
    if (trimPoint <= position) return;
    throw new FencelineError("position_trimmed", {
      message:
        `log ${this.log.name}: ${position} was trimmed away; the first record that is left is ` +
        `${trimPoint}; read from there`,
      details: { first_available: trimPoint },
    });
  }

  #alarm(reason: string): FencelineError {
    this.ports.trace.emit({ event: "log-alarm", log: this.log.incarnation, reason });
    return new FencelineError("data_corrupt", { message: `log ${this.log.name}: ${reason}` });
  }
}

const enter = (item: ChainItem): Step =>
  item.kind === "end" ? { to: "c" } : { to: "ledger", segment: item };

const isOf = (item: ChainItem, segment: SegmentAt): boolean =>
  item.kind === "segment" && item.item.ledgerId === segment.item.ledgerId;

function done(tail: SeqNum, upToDate: boolean, segment?: SegmentAt): Step {
  return {
    to: "done",
    end: { tail, upToDate, sealed: false, ...(segment === undefined ? {} : { segment }) },
  };
}

function endOfLog(tail: SeqNum): Step {
  return { to: "done", end: { tail, upToDate: true, sealed: true } };
}

function notSettled(error: FencelineError, cause: unknown): FencelineError {
  const why = cause instanceof Error ? cause.message : String(cause);
  const message = `${error.message}; it could not be settled either: ${why}`;
  return new FencelineError(error.code, { message, sideEffects: "none", details: error.details, cause });
}
