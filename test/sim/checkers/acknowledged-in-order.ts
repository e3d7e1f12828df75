/** Each add gets its outcome once, and adds of a ledger are acknowledged in entry order without a gap. */
import type { LedgerId } from "../../../lib/protocol/ids.ts";
import type { Operation } from "../history.ts";
import type { Checker } from "./checker.ts";

export const acknowledgedInOrder: Checker = {
  name: "acknowledged-in-order",
  watch(_world, report) {
    const told = new Map<LedgerId, number>();
    const confirmed = new Map<LedgerId, number>();

    const follows = (last: Map<LedgerId, number>, ledgerId: LedgerId, entry: number, what: string) => {
      const before = last.get(ledgerId) ?? -1;
      if (entry !== before + 1) report(`entry ${entry} ${what} after ${before}`, ledgerId);
      last.set(ledgerId, entry);
    };

    return {
      emitted(event) {
        if (event.event !== "entry-acknowledged") return;
        follows(confirmed, event.ledgerId, event.entryId, "is confirmed");
      },
      operated({ request, answer }: Operation) {
        if (request.kind !== "add" || answer?.kind !== "stored") return;
        follows(told, request.ledgerId, answer.at, "is acknowledged");
      },
    };
  },
};
