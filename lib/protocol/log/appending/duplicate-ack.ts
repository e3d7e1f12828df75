/**
 * The answer to a batch that is in the log already: its positions as they were, and which regions hold it
 * now.
 */
import type { Region } from "../../ids.ts";
import { ledgerKey } from "../../items.ts";
import { readCopies } from "../../ledger/decide-entries.ts";
import type { LedgerPorts } from "../../ledger/ledger-ports.ts";
import { lastAtOrBelow } from "../chain/segments.ts";
import type { LogIdentity } from "../log-identity.ts";
import type { AppendAck } from "../operations.ts";
import type { KnownBatch } from "../producers/producer-table.ts";

/** `tail`, `ownerRegion`: of the log now. Never throws for want of an answer: the batch is in the log. */
export async function duplicateAck(
  ports: LedgerPorts,
  log: LogIdentity,
  { start, last }: KnownBatch,
  now: Pick<AppendAck, "tail" | "ownerRegion">,
): Promise<AppendAck> {
  const durableIn = await regionsOf(ports, log, start).catch(() => []);
  return { start, last, durableIn, duplicate: true, epoch: start.dlsn.segment, ...now };
}

async function regionsOf(
  ports: LedgerPorts,
  log: LogIdentity,
  { seqNum, dlsn }: KnownBatch["start"],
): Promise<readonly Region[]> {
  const segment = await lastAtOrBelow(ports.metadata, log.log, seqNum, "consistent");
  if (segment?.kind !== "segment" || segment.item.number !== dlsn.segment) return [];
  const ledger = (await ports.metadata.get(ledgerKey(segment.item.ledgerId), "consistent"))?.item;
  if (ledger?.kind !== "ledger" || ledger.state === "DELETED") return [];
  const { holders } = await readCopies(ports, ledger, dlsn.entry);
  return [...new Set(holders.map(({ place }) => place.region))].sort();
}
