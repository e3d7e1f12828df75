/** The payloads of an entry as the bookies' storage really holds them, for checkers; damaged storage left out. */

import { isGenuine } from "../../lib/protocol/entry.ts";
import type { EntryId } from "../../lib/protocol/ids.ts";
import type { LedgerMetadata } from "../../lib/protocol/ledger-metadata.ts";
import { simulatedDigest } from "./content.ts";
import type { World } from "./world.ts";

export function contentsOfEntry(world: World, ledger: LedgerMetadata, entryId: EntryId): Uint8Array[] {
  const found: Uint8Array[] = [];
  for (const { storage } of world.bookies.values()) {
    const value = storage.get({ kind: "slot", ledgerId: ledger.ledgerId, entryId });
    if (value?.kind !== "original" && value?.kind !== "recovered") continue;
    if (isGenuine(simulatedDigest, ledger, value.entry, entryId)) found.push(value.entry.payload);
  }
  return found;
}
