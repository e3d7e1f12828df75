/**
 * Goes on in the ledger that a clean release left open (rule 19). A process that knows the ledger's metadata
 * as the lease names it asks nothing; any other reads it after the acquire. An OPEN ledger is the last
 * segment's: the next one starts only behind a CLOSED one (22), and it passed its check before it came into
 * the lease (35).
 */
import { Age } from "../../deadline.ts";
import { NO_ENTRY, nextEntry } from "../../ids.ts";
import { isSameVersion, ledgerKey, segmentKey } from "../../items.ts";
import type { LedgerTail } from "../../lease.ts";
import type { LedgerPorts } from "../../ledger/ledger-ports.ts";
import { beforeSegment } from "../chain/segment-end.ts";
import type { LogIdentity } from "../log-identity.ts";
import { type ProducersIn, restoreProducers } from "../producers/producer-snapshot.ts";
import type { OpenedSegment } from "./start-segment.ts";

/** Undefined: the ledger is not open any more, or not this log's; recover it. */
export async function resumeSegment(
  ports: LedgerPorts,
  log: LogIdentity,
  tail: LedgerTail,
  known: OpenedSegment | undefined,
): Promise<OpenedSegment | undefined> {
  const segment: ResumedSegment | undefined = isSame(known, tail)
    ? known
    : await readSegment(ports, log, tail);
  if (segment === undefined) return undefined;
  const { ledgerId } = segment.ledger.item;
  const firstEntry = (tail.lastAddConfirmed + 1) as typeof tail.lastAddConfirmed;
  const producers = await restoreProducers(ports, await producersIn(ports, log, segment, tail, known));
  ports.trace.emit({ event: "segment-resumed", log: log.log, ledgerId, firstEntry });
  return { ...segment, lastTimestampMs: tail.lastTimestampMs, producers, tail };
}

/**
 * Who left the ledger itself reads only what others have added since, unless a later snapshot is nearer. A
 * ledger without an entry says nothing yet: what came before it does.
 */
async function producersIn(
  ports: LedgerPorts,
  log: LogIdentity,
  { first, item, ledger }: ResumedSegment,
  { producersAt, lastAddConfirmed: through }: LedgerTail,
  known: OpenedSegment | undefined,
): Promise<ProducersIn | undefined> {
  const left = known?.ledger.item.ledgerId === ledger.item.ledgerId ? known : undefined;
  const where = { ledger: ledger.item, segment: item.number, through };
  const since = left?.tail?.lastAddConfirmed;
  if (left !== undefined && since === through)
    return { ...where, from: nextEntry(through), known: left.producers };
  if (through === NO_ENTRY) return (await beforeSegment(ports, log.log, first)).producersIn;
  if (producersAt === undefined) return undefined;
  if (left === undefined || since === undefined || since < producersAt)
    return { ...where, from: producersAt };
  return { ...where, from: nextEntry(since), known: left.producers };
}

type ResumedSegment = Pick<OpenedSegment, "first" | "item" | "ledger">;

function isSame(known: OpenedSegment | undefined, tail: LedgerTail): known is OpenedSegment {
  if (known === undefined || known.ledger.item.ledgerId !== tail.ledgerId) return false;
  return isSameVersion(known.ledger.version, tail.ledgerVersion);
}

async function readSegment(
  ports: LedgerPorts,
  log: LogIdentity,
  tail: LedgerTail,
): Promise<ResumedSegment | undefined> {
  const readAt = new Age(ports.clock);
  const ledger = await ports.metadata.get(ledgerKey(tail.ledgerId), "consistent");
  if (ledger?.item.kind !== "ledger" || ledger.item.state !== "OPEN") return undefined;
  const { origin } = ledger.item;
  if (origin?.log !== log.log) return undefined;
  const first = origin.firstSeqNum;
  const item = (await ports.metadata.get(segmentKey(log.log, first), "consistent"))?.item;
  if (item?.kind !== "segment" || item.ledgerId !== tail.ledgerId) return undefined;
  return { first, item, ledger: { ...ledger, item: ledger.item, readAt } };
}
