/**
 * Starts a segment at a place in the log: a new ledger, the conditional write that is the election, and the
 * check behind it (rules 24 to 27). Only a process that returns from here with a segment may send to it.
 *
 * SG1 The conditional write is conditional on what the place says: nothing at that key, or the very item of
 *     the empty segment, compared by its ledger id (24).
 * SG2 The check is a consistent read of the log item that starts after the write took effect, also when the
 *     win was learnt by re-reading (25, 26).
 * SG3 A ledger that did not win, or whose win did not pass the check, is abandoned and never written to (27).
 *     Its item may turn up at any later time, as the item of a DELETED ledger (28).
 */
import { unavailable } from "../../errors.ts";
import {
  type BookieId,
  type LedgerId,
  NO_ENTRY,
  type SegmentNumber,
  type SeqNum,
  segmentNumber,
} from "../../ids.ts";
import { type EndItem, type LogItem, logKey, type SegmentItem, segmentKey } from "../../items.ts";
import type { LedgerTail } from "../../lease.ts";
import { type CreatedLedger, createLedger } from "../../ledger/create-ledger.ts";
import { abandonLedger } from "../../ledger/end-ledger.ts";
import type { LedgerPorts } from "../../ledger/ledger-ports.ts";
import type { Versioned } from "../../ports.ts";
import type { LedgerDigest } from "../../replication.ts";
import { type UpdatePorts, updateItem } from "../../update-item.ts";
import { type LogRef, logNotFound } from "../log-ref.ts";
import type { ProducerSource } from "../producers/producer-snapshot.ts";
import type { ProducerTable } from "../producers/producer-table.ts";

/** Where the next segment goes (rule 24). */
export interface SegmentPlace {
  readonly first: SeqNum;
  /** Greater than the number of every segment before it, of an empty one in its place too. */
  readonly number: SegmentNumber;
  /** The empty segment whose item it takes over. Absent: there must be no item at `first`. */
  readonly replaces?: LedgerId;
  /** Timestamps start no lower. */
  readonly lastTimestampMs: number;
  /** Where the log's producers are written down. Absent: it remembers none. */
  readonly producersIn?: ProducerSource | undefined;
  /** For the trace. */
  readonly how: "opened" | "rolled" | "replaced-empty";
}

/** A segment that this process won and may write to. */
export interface OpenedSegment {
  readonly first: SeqNum;
  readonly item: SegmentItem;
  readonly ledger: CreatedLedger;
  readonly lastTimestampMs: number;
  /** The log's producers when it was opened or left. */
  readonly producers: ProducerTable;
  /** Where to go on in it. Absent: its ledger is fresh. */
  readonly tail?: LedgerTail;
}

/** A segment as its writer left it, with every add acknowledged: the next one may go on there (18, 19). */
export type LeftSegment = OpenedSegment & { readonly tail: LedgerTail };

/** The same of a segment that its opener has sent nothing to. */
export function leftUntouched(opened: OpenedSegment): LeftSegment {
  const { first, ledger, lastTimestampMs } = opened;
  const fresh = {
    ledgerId: ledger.item.ledgerId,
    lastAddConfirmed: NO_ENTRY,
    nextSeqNum: first,
    lastTimestampMs,
    ledgerBytes: 0,
  };
  return { ...opened, tail: { ...(opened.tail ?? fresh), ledgerVersion: ledger.version } };
}

type SegmentStart =
  | { readonly kind: "started"; readonly segment: OpenedSegment }
  /** A rival has that place, or it was trimmed away: query again. */
  | { readonly kind: "lost"; readonly reason: string };

/**
 * Throws `log_not_found` if the log is gone, and what the ports throw; the place is then lost or may be won
 * later.
 */
export async function startSegment(
  ports: LedgerPorts,
  log: LogRef,
  place: SegmentPlace & { readonly producers: ProducerTable },
  { avoid, isLate }: { readonly avoid: ReadonlySet<BookieId>; readonly isLate: () => boolean },
): Promise<SegmentStart> {
  const ledger = await createLedger(ports, {
    replication: log.config.replication,
    digest: ledgerDigest(ports, log),
    origin: { log: log.incarnation, firstSeqNum: place.first, ownerRegion: ports.region },
    avoid,
  });
  const { ledgerId } = ledger.item;
  const item: SegmentItem = {
    kind: "segment",
    number: place.number,
    ledgerId,
    ownerRegion: ports.region,
    createdAtMs: ledger.item.createdAtMs,
  };
  try {
    const lost = isLate() ? "nobody waits for it any more" : await takePlace(ports, log, place, item);
    if (lost !== undefined) {
      await abandon(ports, ledgerId, lost);
      return { kind: "lost", reason: lost };
    }
  } catch (error) {
    await abandon(ports, ledgerId, error instanceof Error ? error.message : String(error));
    throw error;
  }
  const { first, lastTimestampMs, producers, how } = place;
  const { region } = ports;
  ports.trace.emit({
    event: "segment-opened",
    log: log.incarnation,
    firstSeqNum: first,
    ledgerId,
    region,
    how,
  });
  return { kind: "started", segment: { first, item, ledger, lastTimestampMs, producers } };
}

/** The number after that of the item found last. */
export function numberAfter(item: { readonly number: SegmentNumber } | undefined): SegmentNumber {
  return segmentNumber((item?.number ?? 0) + 1);
}

/**
 * The election and the check behind it (SG1, SG2), for a segment and for the END of a log alike. Undefined:
 * the place is taken and the win stands; else why not. Throws `log_not_found` and what the ports throw.
 */
export async function takePlace(
  ports: UpdatePorts,
  log: LogRef,
  place: Pick<SegmentPlace, "first" | "replaces">,
  item: SegmentItem | EndItem,
): Promise<string | undefined> {
  return (await election(ports, log, place, item)) ?? (await checkPlace(ports, log, place.first));
}

/** Rules 24 and 26. Undefined: the item names this ledger, or is an END if that was wanted. */
async function election(
  ports: UpdatePorts,
  log: LogRef,
  place: Pick<SegmentPlace, "first" | "replaces">,
  item: SegmentItem | EndItem,
): Promise<string | undefined> {
  const outcome = await updateItem(ports, segmentKey(log.incarnation, place.first), (current) =>
    isFree(place, current) ? item : undefined,
  );
  const now = outcome.stored?.item;
  if (outcome.wrote) return undefined;
  // Rule 26: an item that names this ledger is a win, also if another process completed it since. One END is
  // like another.
  if (now?.kind === "end" && item.kind === "end") return undefined;
  if (now?.kind === "segment" && item.kind === "segment" && now.ledgerId === item.ledgerId) return undefined;
  const there = now?.kind === "segment" ? `ledger ${now.ledgerId}` : (now?.kind ?? "no item");
  return `at ${place.first} there is ${there}`;
}

function isFree(place: Pick<SegmentPlace, "replaces">, current: Versioned | undefined): boolean {
  if (place.replaces === undefined) return current === undefined;
  return current?.item.kind === "segment" && current.item.ledgerId === place.replaces;
}

/** Rule 25. Undefined: the win stands. */
export async function checkPlace(
  ports: Pick<UpdatePorts, "metadata">,
  log: LogRef,
  first: SeqNum,
): Promise<string | undefined> {
  let item: LogItem | undefined;
  try {
    const stored = await ports.metadata.get(logKey(log.incarnation), "consistent");
    item = stored?.item.kind === "log" ? stored.item : undefined;
  } catch (error) {
    throw unavailable(`log ${log.name}: its item could not be read after an election`, "none", error);
  }
  if (item === undefined || item.state !== "active") throw logNotFound(log);
  if (item.trimPoint > first) {
    return `the log is trimmed up to ${item.trimPoint}, beyond the place at ${first}`;
  }
  return undefined;
}

/**
 * Best effort: a ledger that no item names is the collector's (rule 32), and one that an item names is
 * recovered by the next opener.
 */
async function abandon(ports: LedgerPorts, ledgerId: LedgerId, reason: string): Promise<void> {
  try {
    await abandonLedger(ports, ledgerId, reason);
  } catch {
    // Nothing was sent to it, so leaving it open loses nothing.
  }
}

/** Each ledger with a digest key of its own. */
function ledgerDigest(ports: LedgerPorts, log: LogRef): LedgerDigest {
  if (log.config.digest === "crc32") return { type: "crc32" };
  const KEY_WORDS = 8;
  let keyHex = "";
  for (let word = 0; word < KEY_WORDS; word++) {
    keyHex += ports.random.uint32().toString(16).padStart(8, "0");
  }
  return { type: "hmac-sha256", keyHex };
}
