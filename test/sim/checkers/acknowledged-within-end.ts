/**
 * No acknowledgement lies behind a closed end (TLA+: NoDivergenceBetweenClientAndMetaData), whichever of
 * the two comes first; and none in a ledger whose item is gone (rule 15's clock assumption). Nor is an entry
 * returned to a reader that lies behind a closed end: it was never part of the ledger.
 */
import type { LedgerId } from "../../../lib/protocol/ids.ts";
import { ledgerKey } from "../../../lib/protocol/items.ts";
import type { Checker } from "./checker.ts";

export const acknowledgedWithinEnd: Checker = {
  name: "acknowledged-within-end",
  watch(world, report) {
    const highest = new Map<LedgerId, number>();
    /** Ends of ledgers, also of those whose items are gone. */
    const ends = new Map<LedgerId, number>();
    return {
      emitted(event) {
        if (event.event !== "entry-acknowledged") return;
        const { ledgerId, entryId } = event;
        highest.set(ledgerId, Math.max(highest.get(ledgerId) ?? -1, entryId));
        const item = world.table.get(ledgerKey(ledgerId))?.item;
        if (item?.kind !== "ledger") {
          return report(`entry ${entryId} is acknowledged in a ledger that was collected`, ledgerId);
        }
        if (item.state === "OPEN" || item.state === "IN_RECOVERY") return;
        if (entryId > item.lastEntry) {
          report(`entry ${entryId} is acknowledged after the ledger closed at ${item.lastEntry}`, ledgerId);
        }
      },
      operated({ request, answer, actor }) {
        if (request.kind !== "read" || answer?.kind !== "entry") return;
        const { ledgerId, entryId } = request;
        const end = ends.get(ledgerId) ?? Number.POSITIVE_INFINITY;
        if (entryId > end) report(`${actor} is given entry ${entryId}; the ledger ended at ${end}`, ledgerId);
      },
      metadataChanged({ after }) {
        const item = after?.item;
        if (item?.kind !== "ledger" || (item.state !== "CLOSED" && item.state !== "DELETED")) return;
        ends.set(item.ledgerId, item.lastEntry);
        const acknowledged = highest.get(item.ledgerId) ?? -1;
        if (acknowledged > item.lastEntry) {
          report(`closed at ${item.lastEntry}; entry ${acknowledged} is acknowledged`, item.ledgerId);
        }
      },
    };
  },
};
