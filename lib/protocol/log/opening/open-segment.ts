/**
 * Opens a log for write (rules 23 to 28): the writer before is fenced and its ledger closed, and the next
 * segment is this process's. Ends in a segment that may be written to, or in an error; in either case nothing
 * of any append was sent.
 *
 *     query last ──END──> sealed
 *         │ segment: recover its ledger to CLOSED, find the end (22)
 *         v
 *     start a segment there (24 to 27) ──lost──> pause, query again
 */
import { Deadline } from "../../deadline.ts";
import { FencelineError, notReady, unavailable } from "../../errors.ts";
import type { BookieId, LedgerId, Region, SeqNum } from "../../ids.ts";
import { logKey } from "../../items.ts";
import type { LedgerPorts } from "../../ledger/ledger-ports.ts";
import type { LedgerWriter } from "../../ledger/ledger-writer.ts";
import { recoverLedger } from "../../ledger/recover-ledger.ts";
import type { ClosedLedger } from "../../ledger-metadata.ts";
import { limits } from "../../limits.ts";
import { backoff } from "../../waiting.ts";
import {
  beforeSegment,
  type CarriedOver,
  completeSegment,
  producersIn,
  type SegmentEnd,
  segmentEnd,
} from "../chain/segment-end.ts";
import { type EndAt, lastItem, type SegmentAt } from "../chain/segments.ts";
import type { LogPorts } from "../log-ports.ts";
import { type LogRef, logNotFound } from "../log-ref.ts";
import { restoreProducers } from "../producers/producer-snapshot.ts";
import { numberAfter, type OpenedSegment, type SegmentPlace, startSegment } from "./start-segment.ts";

/** That a log may be taken over from its owner, for a caller who found that owner out of reach. */
export interface TakeoverPermit {
  readonly from: Region;
  /** Of that caller. The reason for the takeover was found since it began, and allows nothing after it. */
  readonly deadline: Deadline;
  /** The owner counts as silent: if it takes the log back it was alive, so the takeover is noted (OF7). */
  readonly isOnSilence?: boolean;
}

export interface OpenRequest {
  /** Bookies that failed the last writer: chosen last. */
  readonly avoid: ReadonlySet<BookieId>;
  /** The owner that the log may be taken over from. */
  readonly permit: TakeoverPermit | undefined;
  /**
   * The time for it is over, or the lease is another's: from then on no ledger is fenced and no place taken.
   * What allowed it may be long over if the process was frozen.
   */
  readonly isLate: () => boolean;
}

export type Opening =
  | { readonly kind: "opened"; readonly segment: OpenedSegment }
  /** Another region owns the log. `alive`: it may be taken over, and its owner opened a segment meanwhile. */
  | { readonly kind: "not-owner"; readonly owner: Region; readonly alive: boolean }
  /** Nothing can be appended any more; `tail` is the end. */
  | { readonly kind: "sealed"; readonly tail: SeqNum };

/** Throws `log_not_found`, `not_ready` if rivals keep getting ahead, or what recovery and the ports throw. */
export async function openSegment(ports: LogPorts, log: LogRef, request: OpenRequest): Promise<Opening> {
  let reason = "";
  let takenFrom: LedgerId | undefined;
  for (let restart = 0; restart <= limits.appendRestartsMax; restart++) {
    if (restart > 0) await backoff(ports, restart);
    if (request.isLate()) break;
    const last = await lastItem(ports.metadata, log.incarnation, "consistent");
    if (request.isLate()) break;
    if (last?.kind === "end") return await sealedOrGone(ports, log, last);
    if (last !== undefined) {
      takenFrom ??= last.item.ledgerId;
      const other = otherOwner(ports, last, request.permit, takenFrom);
      if (other !== undefined) return other;
    }
    const place = await placeAfter(ports, log, last);
    if (place === undefined) {
      reason = CHANGED;
      continue;
    }
    const producers = await restoreProducers(ports, place.producersIn);
    if (request.isLate()) break;
    const start = await startSegment(ports, log, { ...place, producers }, request);
    if (start.kind === "started") return { kind: "opened", segment: start.segment };
    reason = start.reason;
  }
  const why = reason || "out of time";
  throw notReady(`log ${log.name}: no segment could be opened (${why}); try again`, "opening");
}

/**
 * Rolls: closes the segment with nothing outstanding and starts the next one at its end (rules 9, 23). From
 * the conditional write on it is the same as opening; where anything gets in the way, it is opening. Throws
 * as `openSegment` does. The segment is not written to any more, whatever comes of it. `full`: as it is left.
 */
export async function rollSegment(
  ports: LogPorts,
  log: LogRef,
  full: OpenedSegment,
  writer: LedgerWriter,
  request: OpenRequest,
): Promise<Opening> {
  const closed = await writer.close();
  const end = await segmentEnd(ports, full.first, closed);
  if (end.end > full.first) {
    // Nothing was outstanding: what this process knows of the producers is all there is.
    const place = { ...placeBehind(full, end, "rolled"), producers: full.producers };
    const [start] = await Promise.all([
      startSegment(ports, log, place, request),
      completeSegment(ports, log.incarnation, { ...full.item, first: full.first }, completionOf(closed, end)),
    ]);
    if (start.kind === "started") return { kind: "opened", segment: start.segment };
  }
  return await openSegment(ports, log, request);
}

/** Why there is no place, for the error. */
export const CHANGED = "the last segment was deleted meanwhile";

/**
 * A log of another region is forwarded to, unless there is reason to take it over, or no way to forward. Once
 * the owner has opened another segment meanwhile, it lives, and is not fenced again.
 */
function otherOwner(
  ports: LogPorts,
  { item: { ownerRegion: owner, ledgerId } }: SegmentAt,
  permit: TakeoverPermit | undefined,
  takenFrom: LedgerId,
): Opening | undefined {
  if (ports.regions === undefined || owner === ports.region) return undefined;
  const isPermitted = owner === permit?.from && !permit.deadline.isOver;
  if (isPermitted && ledgerId === takenFrom) return undefined;
  return { kind: "not-owner", owner, alive: isPermitted };
}

/**
 * Opens in bounded time. A segment that comes too late is left as it is: nothing was sent to it, and the next
 * process that opens the log recovers it.
 */
export function boundedOpening(
  ports: LedgerPorts,
  what: string,
  allowed: Pick<OpenRequest, "avoid" | "permit"> & { readonly holdsLease?: () => boolean },
  open: (request: OpenRequest) => Promise<Opening>,
): Promise<Opening> {
  const { avoid, permit, holdsLease } = allowed;
  const late = (timeoutMs: number) => unavailable(`${what}: no answer in ${timeoutMs} ms`);
  const deadline = new Deadline(ports.clock, limits.segmentOpenTimeoutMs, late);
  const isLate = () => deadline.isOver || holdsLease?.() === false;
  return deadline.ask(() => open({ avoid, permit, isLate }));
}

/** No item at all (24). */
const FIRST_PLACE: SegmentPlace = {
  first: 0 as SeqNum,
  number: numberAfter(undefined),
  lastTimestampMs: 0,
  how: "opened",
};

/**
 * Recovers the last segment's ledger and says where what follows it goes: the next segment, or the END.
 * Undefined: it is not the last any more; query again. Throws what recovery and the ports throw.
 */
export async function placeAfter(
  ports: LedgerPorts,
  log: LogRef,
  last: SegmentAt | undefined,
): Promise<SegmentPlace | undefined> {
  if (last === undefined) return FIRST_PLACE;
  const ledger = await recoverLedger(ports, last.item.ledgerId);
  if (ledger === undefined || ledger.state === "DELETED") {
    if (ledger !== undefined && ledger.lastEntry >= 0) {
      await alarmIfLast(ports, log, last);
      return undefined;
    }
    return await placeInstead(ports, log, last, undefined);
  }
  const end = await segmentEnd(ports, last.first, ledger);
  if (end.end === last.first) return await placeInstead(ports, log, last, saidBy(last, ledger, end));
  await completeSegment(
    ports,
    log.incarnation,
    { ...last.item, first: last.first },
    completionOf(ledger, end),
  );
  return { ...placeBehind(last, end, "opened"), producersIn: producersIn(ledger, last.item.number, end) };
}

/**
 * An empty segment, or one under a DELETED or missing ledger (28): the next one takes over its very item
 * (24).
 */
async function placeInstead(
  ports: LedgerPorts,
  log: LogRef,
  last: SegmentAt,
  said: CarriedOver | undefined,
): Promise<SegmentPlace> {
  const before = said ?? (await beforeSegment(ports, log.incarnation, last.first));
  return {
    first: last.first,
    number: numberAfter(last.item),
    replaces: last.item.ledgerId,
    ...before,
    how: "replaced-empty",
  };
}

/** What an empty segment's own entries say, if it has any: none of them holds a record. */
function saidBy(last: SegmentAt, ledger: ClosedLedger, end: SegmentEnd): CarriedOver | undefined {
  const { lastTimestampMs } = end;
  if (lastTimestampMs === undefined) return undefined;
  return { lastTimestampMs, producersIn: producersIn(ledger, last.item.number, end) };
}

/** A segment with records: the next one starts at its end (24). */
function placeBehind(
  last: { readonly item: SegmentAt["item"] },
  end: { readonly end: SeqNum; readonly lastTimestampMs?: number | undefined },
  how: "opened" | "rolled",
): SegmentPlace {
  return { first: end.end, number: numberAfter(last.item), lastTimestampMs: end.lastTimestampMs ?? 0, how };
}

function completionOf(ledger: ClosedLedger, end: SegmentEnd) {
  const lastTimestampMs = end.lastTimestampMs ?? 0;
  return { end: end.end, lastEntry: ledger.lastEntry, lastTimestampMs, bytes: ledger.length };
}

/** Under an END item: sealed, unless the log is being deleted, whose first step is that item (29). */
async function sealedOrGone(ports: LedgerPorts, log: LogRef, end: EndAt): Promise<Opening> {
  const item = (await ports.metadata.get(logKey(log.incarnation), "consistent"))?.item;
  if (item?.kind !== "log" || item.state !== "active") throw logNotFound(log);
  return { kind: "sealed", tail: end.first };
}

export function logSealed({ name }: LogRef, tail: SeqNum): FencelineError {
  return new FencelineError("log_sealed", {
    message: `log ${name} was sealed at ${tail}; nothing can be appended to it any more`,
    details: { tail },
  });
}

/**
 * Rule 28 is about ledgers that hold nothing. One that held records is DELETED only below a trim point or
 * under an END item, never as the last: to number its records again would change what was acknowledged.
 */
async function alarmIfLast(ports: LedgerPorts, log: LogRef, last: SegmentAt): Promise<void> {
  const { ledgerId } = last.item;
  const now = await lastItem(ports.metadata, log.incarnation, "consistent");
  if (now?.kind !== "segment" || now.item.ledgerId !== ledgerId) return;
  const reason = `rule 28: ledger ${ledgerId}, the last, at ${last.first}, held records and is DELETED`;
  ports.trace.emit({ event: "log-alarm", log: log.incarnation, reason });
  throw new FencelineError("data_corrupt", { message: `log ${log.name}: ${reason}`, sideEffects: "none" });
}
