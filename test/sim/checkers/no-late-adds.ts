/**
 * The fencing promise: no add that arrives at a bookie after the bookie answered a recovery request for that
 * ledger is OK, whichever of its processes takes it up, as long as its fence is kept.
 */
import type { Checker } from "./checker.ts";

export const noLateAdds: Checker = {
  name: "no-late-adds",
  watch(_world, report) {
    const promisedAt = new Map<string, number>();
    return {
      storeChanged({ bookie, key, after }) {
        // Past the seal age the promise is over; whether that is so is another checker's question.
        if (key.kind === "fence" && after === undefined) promisedAt.delete(`${bookie} ${key.ledgerId}`);
      },
      bookieAnswered({ bookie, operation, ledgerId, entryId, arrivedAt }, answer, at) {
        const promise = `${bookie} ${ledgerId}`;
        if (operation === "fence" || operation === "recoveryRead" || operation === "recoveryAdd") {
          if (!promisedAt.has(promise)) promisedAt.set(promise, at);
        } else if (operation === "add" && (answer as { kind: string }).kind === "ok") {
          const since = promisedAt.get(promise);
          if (since !== undefined && since < arrivedAt) {
            report(`${bookie} took entry ${entryId} that arrived after it had answered a recovery`, ledgerId);
          }
        }
      },
    };
  },
};
