/**
 * No acknowledgement lies behind a closed end (TLA+: NoDivergenceBetweenClientAndMetaData), whichever of
 * the two comes first; and none in a ledger whose item is gone (rule 15's clock assumption).
 */
import type { LedgerId } from "../../../lib/protocol/ids.ts";
import { ledgerKey } from "../../../lib/protocol/items.ts";
import type { Checker } from "./checker.ts";

export const acknowledgedWithinEnd: Checker = {
  name: "acknowledged-within-end",
  watch(world, report) {
    const highest = new Map<LedgerId, number>();
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
      metadataChanged({ after }) {
        const item = after?.item;
        if (item?.kind !== "ledger" || (item.state !== "CLOSED" && item.state !== "DELETED")) return;
        const acknowledged = highest.get(item.ledgerId) ?? -1;
        if (acknowledged > item.lastEntry) {
          report(`closed at ${item.lastEntry}; entry ${acknowledged} is acknowledged`, item.ledgerId);
        }
      },
    };
  },
};
