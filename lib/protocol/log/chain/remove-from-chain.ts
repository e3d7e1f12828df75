/**
 * Takes one item out of a log's chain, for auditor and deleter (rules 29, 31). Whether it may go is the
 * caller's question. May run twice, and in several processes at once.
 *
 * RC1 A segment's ledger says DELETED before its item goes: no item, no way to find what must be deleted.
 * RC2 A segment's item goes only while it names that ledger, and an END's only while it is an END.
 */
import { assert } from "../../assert.ts";
import type { LedgerId, LogIncarnation } from "../../ids.ts";
import { type Item, segmentKey } from "../../items.ts";
import { markDeleted } from "../../ledger/end-ledger.ts";
import type { LedgerPorts } from "../../ledger/ledger-ports.ts";
import { recoverLedger } from "../../ledger/recover-ledger.ts";
import { limits } from "../../limits.ts";
import { removeItem } from "../../update-item.ts";
import type { ChainItem } from "./segments.ts";

/** Items that are gone now, and the failures of those that are not. */
export interface Removals {
  readonly removed: readonly ChainItem[];
  readonly failed: readonly { readonly item: ChainItem; readonly error: unknown }[];
}

/** Removes the items, a few at a time; one that fails does not stop the others. */
export async function removeFromChain(
  ports: LedgerPorts,
  log: LogIncarnation,
  items: readonly ChainItem[],
): Promise<Removals> {
  const removed: ChainItem[] = [];
  const failed: { item: ChainItem; error: unknown }[] = [];
  for (let start = 0; start < items.length; start += limits.removalsAtOnce) {
    const some = items.slice(start, start + limits.removalsAtOnce);
    const outcomes = await Promise.allSettled(some.map((item) => removeOne(ports, log, item)));
    some.forEach((item, index) => {
      const outcome = outcomes[index];
      if (outcome?.status === "fulfilled") removed.push(item);
      else failed.push({ item, error: outcome?.reason });
    });
  }
  return { removed, failed };
}

async function removeOne(ports: LedgerPorts, log: LogIncarnation, one: ChainItem): Promise<void> {
  if (one.kind === "segment") await deleteLedgerOf(ports, one.item.ledgerId);
  const answer = await removeItem(ports, segmentKey(log, one.first), ({ item }) => isStill(one, item));
  if (answer === "kept") return; // Another's by now: what was asked to go is gone.
  const { first: firstSeqNum } = one;
  const ledger = one.kind === "segment" ? { ledgerId: one.item.ledgerId } : {};
  ports.trace.emit({ event: "chain-item-removed", log, firstSeqNum, ...ledger });
}

/** RC1. A ledger that is missing is past its second sweep. */
async function deleteLedgerOf(ports: LedgerPorts, id: LedgerId): Promise<void> {
  const recovered = await recoverLedger(ports, id);
  if (recovered?.state !== "CLOSED") return;
  const deleted = await markDeleted(ports, id);
  assert(deleted !== undefined, `RC1: ledger ${id} was closed and is not DELETED`);
}

/** RC2 */
function isStill(one: ChainItem, item: Item): boolean {
  if (one.kind === "end") return item.kind === "end";
  return item.kind === "segment" && item.ledgerId === one.item.ledgerId;
}
