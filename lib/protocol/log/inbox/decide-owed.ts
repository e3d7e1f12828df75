/**
 * Deciding what a tenure owed (rule 40): which of its tickets its ledger holds. Any process may, several at
 * once, each step twice. Opens no segment and needs no ownership; the ledger is the one that the lease item
 * names, whether or not it is the log's last (U13, U14).
 *
 * DO1 The ledger is CLOSED, persisted, before its entries are read: an open one may yet take a ticket (U22).
 * DO2 The last `answerWindow` entries are read, whatever they hold: no ticket without an answer is before
 *     them (37c, U03, U04). Only entries of that very tenure count.
 * DO3 Every answer is put, its reply received, before the ledger leaves the list (U21).
 * DO4 A ledger that is DELETED or gone stays on the list for the keeping time: what it held is unknown (U07).
 * DO5 The present tenure's ledger is left to it, expired or not: it may be serving.
 * DO6 What is dropped by age was kept by its tenure a keeping time ago: any post to that tenure is older than
 *     the age at which an absent answer proves something (39 iii, 41).
 */
import { type EntryId, entryId } from "../../ids.ts";
import type { OwedLedger } from "../../lease.ts";
import type { LedgerPorts } from "../../ledger/ledger-ports.ts";
import { readEntry } from "../../ledger/read-slots.ts";
import { recoverLedger } from "../../ledger/recover-ledger.ts";
import type { ClosedLedger } from "../../ledger-metadata.ts";
import { inboxLimits } from "../inbox-limits.ts";
import type { AnsweredTicket, InboxStore } from "../inbox-store.ts";
import { dropOwed, leasePorts, readLease } from "../lease/lease-steps.ts";
import type { RegionLeases } from "../log-ports.ts";
import type { LogRef } from "../log-ref.ts";
import { placedBatches } from "../records/batch-places.ts";
import { decodeRecordSet, nextSeqNumOf } from "../records/record-set.ts";
import { putAnswers } from "./answer-tickets.ts";

export interface DecidePorts extends LedgerPorts {
  readonly leases: RegionLeases;
  readonly inbox: InboxStore;
}

/**
 * "decided": everything that the ledger holds of the tenure is answered; the ledger is off the list, or will
 * be by the next process that decides it. "gone": nobody can say. Throws `insufficient_regions` and what
 * stores throw.
 */
export async function decideOwed(
  ports: DecidePorts,
  log: LogRef,
  owed: OwedLedger,
): Promise<"decided" | "gone"> {
  const ledger = await recoverLedger(ports, owed.ledgerId); // DO1
  if (ledger === undefined || ledger.state === "DELETED") return "gone"; // DO4
  const last = ledger.lastEntry;
  const first = Math.max(0, last - inboxLimits.answerWindow + 1); // DO2
  const window = Array.from({ length: last - first + 1 }, (_, index) => entryId(first + index));
  const found = await Promise.all(window.map((entry) => ticketsIn(ports, ledger, owed, entry)));
  await putAnswers(ports, log.incarnation, found.flat()); // DO3
  await dropOwed(leasePorts(ports, ports.leases), log.incarnation, owed);
  return "decided";
}

/**
 * Decides or drops what the log's item owes for tenures that are over (40, 41). Throws what stores throw; the
 * next one goes on.
 */
export async function keepOwed(ports: DecidePorts, log: LogRef): Promise<void> {
  const leases = leasePorts(ports, ports.leases);
  const lease = (await readLease(leases, log.incarnation))?.lease;
  for (const owed of lease?.owed ?? []) {
    if (owed.tenure === lease?.tenure) continue; // DO5
    const decided = await decideOwed(ports, log, owed);
    const isOld = ports.clock.nowMs() - owed.keptAtMs > inboxLimits.keepMs;
    if (decided === "gone" && isOld) await dropOwed(leases, log.incarnation, owed); // DO6
  }
}

/** "recorded at" for each ticket that the entry lists, if it is the tenure's. */
async function ticketsIn(
  ports: LedgerPorts,
  ledger: ClosedLedger,
  { tenure }: OwedLedger,
  entry: EntryId,
): Promise<readonly AnsweredTicket[]> {
  const name = `entry ${entry} of ledger ${ledger.ledgerId}`;
  const unread = `${name}, which may hold posted appends, cannot be read`;
  const { header, payload } = await readEntry(ports, ledger, entry, unread);
  if (header.tenure !== tenure) return [];
  const set = decodeRecordSet(payload, name);
  // All tickets of an entry name its segment.
  const segment = set.batches.find(({ ticket }) => ticket !== undefined)?.ticket?.segment;
  if (segment === undefined) return [];
  const ownerRegion = ledger.origin?.ownerRegion ?? ports.region;
  const now = { tail: nextSeqNumOf(set), duplicate: false, epoch: segment, ownerRegion };
  return placedBatches(set, { segment, entry }).flatMap(({ batch: { ticket }, ...places }) => {
    if (ticket === undefined) return [];
    const { birth, id, revision } = ticket;
    const answer = { kind: "recorded", ack: { ...places, ...now } } as const;
    return [{ ticket: { birth, tenure, id, revision }, answer }];
  });
}
