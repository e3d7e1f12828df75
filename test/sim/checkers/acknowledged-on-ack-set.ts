/**
 * What is acknowledged is there already: at that moment Originals of the entry, all of one content, are on an
 * ACK set of its write set in the ensemble that the metadata names (rules 5, 6d). Storage that was damaged counts
 * as what it was given, and a ledger that was closed meanwhile is judged by its end and its copies.
 */
import { ledgerKey } from "../../../lib/protocol/items.ts";
import { areAckSet, bookiesOf, copyOf } from "../quorums.ts";
import type { Checker } from "./checker.ts";

export const acknowledgedOnAckSet: Checker = {
  name: "acknowledged-on-ack-set",
  watch(world, report) {
    return {
      emitted(event) {
        if (event.event !== "entry-acknowledged") return;
        const { ledgerId, entryId } = event;
        const item = world.table.get(ledgerKey(ledgerId))?.item;
        if (item?.kind !== "ledger" || (item.state !== "OPEN" && item.state !== "IN_RECOVERY")) return;
        const contents = new Set<string>();
        const holders = bookiesOf(item, entryId).filter(({ id }) => {
          const storage = world.bookies.get(id)?.storage;
          if (storage === undefined || storage.damaged) return true;
          const value = storage.get({ kind: "slot", ledgerId, entryId });
          if (value?.kind !== "original") return false;
          contents.add(copyOf(value.entry));
          return true;
        });
        if (contents.size > 1) report(`entry ${entryId} is acknowledged with several contents`, ledgerId);
        if (areAckSet(holders, item.replication)) return;
        const names = holders.map(({ id }) => id).join(", ") || "no bookie";
        report(`entry ${entryId} is acknowledged and stands on ${names} only`, ledgerId);
      },
    };
  },
};
