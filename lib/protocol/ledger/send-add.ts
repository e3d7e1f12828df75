/** An add on its way: sealed once, and sent as those bytes to each bookie of its write set (rule 5). */

import { sealEntry } from "../entry.ts";
import type { OpenLedger } from "../ledger-metadata.ts";
import type { BookieAddress } from "../place.ts";
import type { EntryHeader, SealedEntry } from "../ports.ts";
import { callBookie } from "./call-bookie.ts";
import type { LedgerPorts } from "./ledger-ports.ts";
import type { HeldAdd, PendingAdd } from "./pending-adds.ts";

/** Seals the entry; from here on its place and its bytes never change (LGW1). */
export function sealAdd(
  ports: LedgerPorts,
  { ledgerId, digest }: OpenLedger,
  place: Omit<EntryHeader, "ledgerId">,
  { payload, resolve, reject }: HeldAdd,
): PendingAdd {
  const entry = sealEntry(ports.digest, digest, { ledgerId, ...place }, payload);
  return { entry, acked: new Set(), failed: new Map(), resolve, reject };
}

export function sendAdd(ports: LedgerPorts, bookie: BookieAddress, entry: SealedEntry) {
  const { ledgerId, entryId } = entry.header;
  const what = `add ${entryId}`;
  return callBookie(ports, { ledgerId, bookie, what }, (port) => port.add(entry));
}
