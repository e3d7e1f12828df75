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
 */
import type { LogIncarnation } from "../../ids.ts";
import { type LedgerListing, ledgerKey, ledgerListingKey, logKey } from "../../items.ts";
import { sweepEntries, sweepSeal } from "../../ledger/collect-ledger.ts";
import { recoverLedger } from "../../ledger/recover-ledger.ts";
import type { LedgerMetadata } from "../../ledger-metadata.ts";
import { limits } from "../../limits.ts";
import { removeItem, updateItem } from "../../update-item.ts";
import { within } from "../../waiting.ts";
import type { LogPorts } from "../log-ports.ts";
import { auditLimits } from "./audit-limits.ts";
import { collectUnnamed, isNamed } from "./collect-unnamed.ts";
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
  const item = (await ports.metadata.get(ledgerKey(listing.ledgerId), "consistent"))?.item;
  if (item?.kind !== "ledger") return await forget(ports, listing);
  if (item.state === "DELETED") return await sweep(ports, listing);
  if (item.origin === undefined || !(await isNamed(ports.metadata, item.ledgerId, item.origin))) {
    return (await collectUnnamed(ports, item.ledgerId)) === "collected" ? "collected" : "healthy";
  }
  if (await isDeleting(ports, item.origin.log)) {
    return (await finishDeletion(ports, item.origin.log)) === "deleted" ? "log-deleted" : "later";
  }
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
    await updateItem(ports, ledgerListingKey(region, ledgerId), (current) =>
      current?.item.kind === "ledger-listing"
        ? { kind: "write", item: { ...current.item, sweptAtMs } }
        : { kind: "keep" },
    );
    return "swept";
  }
  const answer = await sweepSeal(ports, ledgerId);
  if (answer.kind === "too-early") return "healthy";
  return answer.kind === "swept" ? await forget(ports, listing) : "later";
}

async function isDeleting(ports: LogPorts, log: LogIncarnation): Promise<boolean> {
  const item = (await ports.metadata.get(logKey(log), "consistent"))?.item;
  return item?.kind === "log" && item.state === "deleting";
}

/** AL2. */
async function writerOf(
  ports: LogPorts,
  { ledgerId }: LedgerMetadata,
  log: LogIncarnation,
): Promise<"alive" | "gone" | "unknown"> {
  const { leases, clock } = ports;
  if (leases === undefined) return "unknown";
  // Before the read: whoever freezes after it must not take a lease for one that expired meanwhile.
  const nowMs = clock.nowMs();
  const found = await within(clock, limits.leaseCallTimeoutMs, "lease read", () =>
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
