/**
 * The auditor of one log's chain (rule 31): takes away what was trimmed, END items that lost their log
 * included. May run twice, and in several processes at once.
 *
 * Y1 An item goes only if another one's key is greater than its own and at most the trim point. So the last
 *    item never goes, and neither does the one that holds the trim point.
 * Y2 The trim point is read first. It and the chain only move forward, and the greatest item up to any trim
 *    point is removed by no auditor that knows no later one: whoever removes it leaves another above it.
 * Y3 The order is that of a removal: recover if open, DELETED, remove.
 */
import type { LogIncarnation } from "../ids.ts";
import { logKey } from "../items.ts";
import type { LedgerPorts } from "../ledger/ledger-ports.ts";
import { limits } from "../limits.ts";
import { type Removals, removeFromChain } from "./remove-from-chain.ts";
import { allItems } from "./segments.ts";

/** Removals of one bounded pass. Throws what the metadata store throws. */
export async function auditSegments(ports: LedgerPorts, log: LogIncarnation): Promise<Removals> {
  const item = (await ports.metadata.get(logKey(log), "consistent"))?.item;
  if (item?.kind !== "log") return { removed: [], failed: [] };
  const below = await allItems(ports.metadata, log, "consistent", item.trimPoint);
  const trimmed = below.slice(0, -1); // Y1: behind each of these stands the last of `below`.
  return await removeFromChain(ports, log, trimmed.slice(0, limits.removalsMax));
}
