/**
 * The auditor of one log's chain (rule 31): takes away what was trimmed, END items that lost their log
 * included. May run twice, and in several processes at once.
 *
 * AS1 An item goes only if another one's key is greater than its own and at most the trim point. So the last
 *     item never goes, and neither does the one that holds the trim point.
 * AS2 The trim point is read first. It and the chain only move forward, and the greatest item up to any trim
 *     point is removed by no auditor that knows no later one: the auditor that removes it leaves another
 *     above it.
 * AS3 The order is that of a removal: recover if open, DELETED, remove.
 * AS4 The item before a last segment without a record stays: what the log remembers of its producers and of
 *     its last timestamp is read there (segment-end.ts). Control entries say it too, but a segment that
 *     holds nothing else may be replaced by one that holds nothing at all (24).
 */
import { entryId, type LogIncarnation, type SeqNum } from "../../ids.ts";
import type { LedgerPorts } from "../../ledger/ledger-ports.ts";
import { LedgerReader } from "../../ledger/ledger-reader.ts";
import { limits } from "../../limits.ts";
import { type Removals, removeFromChain } from "../chain/remove-from-chain.ts";
import { allItems, type ChainItem, lastItem } from "../chain/segments.ts";
import { logItem } from "../log-ref.ts";
import { decodeRecordSetHead } from "../records/record-set.ts";
import { auditLimits } from "./audit-limits.ts";

/** Removals of one bounded pass. Throws what the metadata store throws. */
export async function auditSegments(ports: LedgerPorts, log: LogIncarnation): Promise<Removals> {
  const item = await logItem(ports.metadata, log);
  if (item === undefined) return { removed: [], failed: [] };
  const below = await allItems(ports.metadata, log, "consistent", item.trimPoint);
  const isNeeded = await isBeforeBareLast(ports, log, below.at(-1), item.trimPoint);
  const trimmed = below.slice(0, isNeeded ? -2 : -1); // AS1: behind each of these stands the last of `below`.
  return await removeFromChain(ports, log, trimmed.slice(0, limits.removalsMax));
}

/** AS4. `greatest`: of the items up to the trim point. Beyond the last item's key, it has passed records. */
async function isBeforeBareLast(
  ports: LedgerPorts,
  log: LogIncarnation,
  greatest: ChainItem | undefined,
  trimPoint: SeqNum,
): Promise<boolean> {
  if (greatest?.kind !== "segment" || greatest.first < trimPoint) return false;
  const last = await lastItem(ports.metadata, log, "consistent");
  if (last?.first !== greatest.first || last.kind !== "segment") return false;
  return !(await holdsRecord(new LedgerReader(ports, last.item.ledgerId)));
}

/** An entry that a strong read returns stays for good, and with a record in it its segment, too. */
async function holdsRecord(reader: LedgerReader): Promise<boolean> {
  for (let entry = 0; entry < auditLimits.controlEntriesMax; entry++) {
    const read = await reader.read(entryId(entry), "strong");
    if (read.kind !== "entry") return false;
    if (decodeRecordSetHead(read.entry.payload).count > 0) return true;
  }
  return false; // The next segment, or a later trim, ends the wait.
}
