/**
 * What an auditor does with one listed ledger of its region (rules 15, 31, 32). May run twice, and in several
 * processes at once; each step is one of the passes that are safe by themselves.
 *
 *     OPEN, IN_RECOVERY ──named: recovered if its writer is gone; unnamed: closed, DELETED
 *     CLOSED ──named: left; unnamed: DELETED
 *     DELETED ──entries collected ──seal age──> fences, seal and metadata collected, the listing last
 *
 * AL1 Only old ledgers are judged. A younger one may be on its way into its log.
 * AL2 A writer is gone if its lease was not left clean, and expired long ago. A clean lease that names the
 *     ledger is an idle log's, and in health; so is one that is held. Without the lease table nothing is
 *     known.
 *
 * Some ledgers are named by no item (rule 32): an opener creates its ledger first and its item afterwards,
 * and may die or freeze in between.
 *
 * CU1 The only item that can name a ledger is the one that its origin says: it was created for that key.
 * CU2 It is closed before anything else. Its owner may merely be frozen before its put: it then finds the
 *     ledger dead with its first add, and starts again (T09).
 * CU3 An empty one may go, named or not: under an item it is an empty segment (28). One that holds entries
 *     was named once, so its owner's put had won; it may go only if it is unnamed *after* the close as well.
 */
import type { LedgerId, LogIncarnation } from "../../ids.ts";
import { type LedgerListing, ledgerKey, ledgerListingKey, segmentKey } from "../../items.ts";
import { markDeleted, sweepEntries, sweepSeal } from "../../ledger/end-ledger.ts";
import type { LedgerPorts } from "../../ledger/ledger-ports.ts";
import { recoverLedger } from "../../ledger/recover-ledger.ts";
import type { LedgerMetadata, LedgerOrigin } from "../../ledger-metadata.ts";
import { limits } from "../../limits.ts";
import type { MetadataStore } from "../../ports.ts";
import { changeItem, readItem, removeItem } from "../../update-item.ts";
import { withTimeout } from "../../waiting.ts";
import type { LogPorts } from "../log-ports.ts";
import { auditLimits } from "./audit-limits.ts";
import { finishDeletion } from "./delete-log.ts";

export type LedgerVerdict =
  | "young"
  | "healthy"
  | "recovered"
  | "collected"
  | "swept"
  /** Nothing of it is left, and its listing is gone. */
  | "forgotten"
  /** A deleted log's; what is left of that was taken away. */
  | "log-deleted"
  /** Bookies or the lease table did not answer; the next pass looks again. */
  | "later";

/** Throws what recovery, the passes and the ports throw. */
export async function auditLedger(ports: LogPorts, listing: LedgerListing): Promise<LedgerVerdict> {
  if (ports.clock.nowMs() - listing.createdAtMs < auditLimits.ageMs) return "young"; // AL1
  const item = await readItem(ports.metadata, ledgerKey(listing.ledgerId), "ledger");
  if (item === undefined) return await forget(ports, listing);
  if (item.state === "DELETED") return await sweep(ports, listing);
  if (item.origin === undefined || !(await isNamed(ports.metadata, item.ledgerId, item.origin))) {
    return (await collectUnnamed(ports, item.ledgerId)) === "collected" ? "collected" : "healthy";
  }
  const deletion = await finishDeletion(ports, item.origin.log);
  if (deletion !== "kept") return deletion === "deleted" ? "log-deleted" : "later";
  if (item.state === "CLOSED") return "healthy";
  if (item.state === "OPEN") {
    const isOwn = listing.region === ports.region;
    const writer = isOwn ? await writerOf(ports, item, item.origin.log) : "gone"; // as operators say
    if (writer !== "gone") return writer === "alive" ? "healthy" : "later";
  }
  await recoverLedger(ports, item.ledgerId);
  return "recovered";
}

/** The put of a ledger that was never answered may land later, and leaves an item that holds nothing. */
async function forget(ports: LogPorts, { region, ledgerId }: LedgerListing): Promise<LedgerVerdict> {
  const key = ledgerListingKey(region, ledgerId);
  await removeItem(ports, key, ({ item }) => item.kind === "ledger-listing" && item.ledgerId === ledgerId);
  return "forgotten";
}

async function sweep(ports: LogPorts, listing: LedgerListing): Promise<LedgerVerdict> {
  const { ledgerId, region } = listing;
  if (listing.sweptAtMs === undefined) {
    if ((await sweepEntries(ports, ledgerId)).kind !== "swept") return "later";
    const sweptAtMs = ports.clock.nowMs();
    const key = ledgerListingKey(region, ledgerId);
    await changeItem(ports, key, "ledger-listing", (item) => ({ ...item, sweptAtMs }));
    return "swept";
  }
  const answer = await sweepSeal(ports, ledgerId);
  if (answer.kind === "too-early") return "healthy";
  return answer.kind === "swept" ? await forget(ports, listing) : "later";
}

/** AL2. */
async function writerOf(
  ports: LogPorts,
  { ledgerId }: LedgerMetadata,
  log: LogIncarnation,
): Promise<"alive" | "gone" | "unknown"> {
  const { leases, clock } = ports;
  if (leases === undefined) return "unknown";
  // Before the read: a process that freezes after it must not take a lease for one that expired meanwhile.
  const nowMs = clock.nowMs();
  const found = await withTimeout(clock, limits.leaseCallTimeoutMs, "lease read", () =>
    leases.store.read(log),
  ).catch(() => "silent" as const);
  if (found === "silent") return "unknown";
  if (found === undefined) return "gone";
  const { clean, tail, expiresAtMs } = found.lease;
  if (clean && tail?.ledgerId === ledgerId) return "alive";
  const sinceMs = nowMs - expiresAtMs;
  const isFromTheFuture = -sinceMs > limits.leaseTtlMs + limits.leaseSkewMaxMs;
  return isFromTheFuture || sinceMs > auditLimits.leaseExpiredMs ? "gone" : "alive";
}

/** `missing`: there is no such ledger. `no-segment`: it was not made for a log, and is not ours to judge. */
export type CollectAnswer = "collected" | "named" | "missing" | "no-segment";

/**
 * Marks the ledger DELETED if no item names it. An opener under way whose ledger is taken from it starts
 * again, so choose ledgers older than any opening takes. Throws what recovery and the ports throw.
 */
export async function collectUnnamed(ports: LedgerPorts, id: LedgerId): Promise<CollectAnswer> {
  const item = await readItem(ports.metadata, ledgerKey(id), "ledger");
  if (item === undefined) return "missing";
  if (item.origin === undefined) return "no-segment";
  if (item.state === "DELETED") return "collected";
  if (await isNamed(ports.metadata, id, item.origin)) return "named";
  const closed = await recoverLedger(ports, id); // CU2
  if (closed === undefined) return "missing";
  if (closed.lastEntry >= 0 && (await isNamed(ports.metadata, id, item.origin))) return "named"; // CU3
  await markDeleted(ports, id);
  ports.trace.emit({ event: "ledger-collected", ledgerId: id, lastEntry: closed.lastEntry });
  return "collected";
}

/** Whether the log holds the ledger as a segment (CU1). */
async function isNamed(metadata: MetadataStore, id: LedgerId, origin: LedgerOrigin): Promise<boolean> {
  const segment = await readItem(metadata, segmentKey(origin.log, origin.firstSeqNum), "segment");
  return segment?.ledgerId === id;
}
