/**
 * The collector of ledgers that no item names (rule 32): an opener creates its ledger first and its item
 * afterwards, and may die or freeze in between. Takes one ledger id; may run twice, and in several processes
 * at once.
 *
 * CU1 The only item that can name a ledger is the one that its origin says: it was created for that key.
 * CU2 It is closed before anything else. Its owner may merely be frozen before its put: it then finds the
 *     ledger dead with its first add, and starts again (T09).
 * CU3 An empty one may go, named or not: under an item it is an empty segment (28). One that holds entries
 *     was named once, so its owner's put had won; it may go only if it is unnamed *after* the close as well.
 */
import type { LedgerId } from "../../ids.ts";
import { ledgerKey, segmentKey } from "../../items.ts";
import { markDeleted } from "../../ledger/delete-ledger.ts";
import type { LedgerPorts } from "../../ledger/ledger-ports.ts";
import { recoverLedger } from "../../ledger/recover-ledger.ts";
import type { LedgerOrigin } from "../../ledger-metadata.ts";
import type { MetadataStore } from "../../ports.ts";

/** `missing`: there is no such ledger. `no-segment`: it was not made for a log, and is not ours to judge. */
export type CollectAnswer = "collected" | "named" | "missing" | "no-segment";

/**
 * Marks the ledger DELETED if no item names it. An opener under way whose ledger is taken from it starts
 * again, so choose ledgers older than any opening takes. Throws what recovery and the ports throw.
 */
export async function collectUnnamed(ports: LedgerPorts, id: LedgerId): Promise<CollectAnswer> {
  const item = (await ports.metadata.get(ledgerKey(id), "consistent"))?.item;
  if (item?.kind !== "ledger") return "missing";
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
export async function isNamed(metadata: MetadataStore, id: LedgerId, origin: LedgerOrigin): Promise<boolean> {
  const item = (await metadata.get(segmentKey(origin.log, origin.firstSeqNum), "consistent"))?.item;
  return item?.kind === "segment" && item.ledgerId === id;
}
