/**
 * Slots: an Original is never replaced, nothing becomes an Original later, all copies of an entry by one
 * tenure are the same bytes, and the last add confirmed that an entry carries was acknowledged when it was
 * sent and never falls from one entry to the next (rules 1, 4, 5).
 */

import { sameBytes } from "../../../lib/protocol/entry.ts";
import type { LedgerId } from "../../../lib/protocol/ids.ts";
import { ledgerKey } from "../../../lib/protocol/items.ts";
import type { SealedEntry } from "../../../lib/protocol/ports.ts";
import type { World } from "../world.ts";
import type { Checker } from "./checker.ts";

export const writeOnce: Checker = {
  name: "write-once",
  watch(world, report) {
    const first = new Map<string, SealedEntry>();
    const acknowledged = new Map<LedgerId, number>();
    /** For each ledger, the last add confirmed that each entry carries, whichever tenure wrote it. */
    const carried = new Map<LedgerId, Map<number, number>>();
    const falls = ({ ledgerId, entryId, lastAddConfirmed }: SealedEntry["header"]): boolean => {
      const entries = carried.get(ledgerId) ?? new Map<number, number>();
      carried.set(ledgerId, entries.set(entryId, lastAddConfirmed));
      const before = entries.get(entryId - 1) ?? lastAddConfirmed;
      const after = entries.get(entryId + 1) ?? lastAddConfirmed;
      return before > lastAddConfirmed || after < lastAddConfirmed;
    };
    return {
      emitted(event) {
        if (event.event === "entry-acknowledged") acknowledged.set(event.ledgerId, event.entryId);
      },
      storeChanged({ bookie, key, before, after }) {
        if (key.kind !== "slot" || after === undefined) return;
        const slot = `slot ${key.entryId} of ${bookie}`;
        if (before?.kind === "original" && !isCollected(world, key.ledgerId, key.entryId))
          report(`${slot} held an Original and is replaced`, key.ledgerId);
        if (after.kind !== "original" && after.kind !== "recovered") return;
        if (before !== undefined && after.kind === "original") {
          report(`${slot} held ${before.kind} and becomes an Original`, key.ledgerId);
        }
        const { header } = after.entry;
        const copy = `${header.ledgerId} ${header.entryId} ${header.tenure}`;
        const one = first.get(copy);
        if (one === undefined) {
          first.set(copy, after.entry);
          if (falls(header)) report(`the last add confirmed falls at entry ${header.entryId}`, key.ledgerId);
        } else if (!sameBytes(one.digest, after.entry.digest)) {
          report(`entry ${header.entryId} is sent with other bytes than before`, key.ledgerId);
        }
        if (header.lastAddConfirmed > (acknowledged.get(header.ledgerId) ?? -1)) {
          report(
            `entry ${header.entryId} says ${header.lastAddConfirmed} is confirmed, and it is not`,
            key.ledgerId,
          );
        }
      },
    };
  },
};

/**
 * An entry of a DELETED ledger: its slot was empty between its deletion and a late add, so a write-back that saw
 * a Tombstone before may come upon that Original. Nobody reads it any more; behind the end nothing is deleted.
 */
function isCollected({ table }: World, ledgerId: LedgerId, entry: number): boolean {
  const item = table.get(ledgerKey(ledgerId))?.item;
  if (item?.kind !== "ledger") return true;
  return item.state === "DELETED" && entry <= item.lastEntry;
}
