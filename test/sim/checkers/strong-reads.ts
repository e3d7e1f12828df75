/**
 * Strong reads of a ledger are linearizable. Entries appear one after the other; entry e has appeared, at
 * the latest, when an add or a read of e or of a later entry has come to its end. So:
 *
 * - "nothing yet" at e must have begun before that;
 * - "beyond the end" at e means that e never appears;
 * - an entry that was returned is there in the end (acknowledged-kept), and was asked for after its add began.
 *
 * For a log that only grows at known positions this is all there is: choosing for each entry the latest
 * moment at which it can appear satisfies every read that any choice satisfies.
 */
import type { LedgerId } from "../../../lib/protocol/ids.ts";
import type { Operation } from "../history.ts";
import type { Checker } from "./checker.ts";

interface Appearances {
  /** For each entry, the end of the earliest operation that proves that it, or a later one, exists. */
  readonly provedAt: number[];
  /** Begins of adds, by content. */
  readonly addedFrom: Map<number, number>;
  end: number | undefined;
}

export const strongReads: Checker = {
  name: "strong-reads",
  watch(_world, report) {
    const ledgers = new Map<LedgerId, Appearances>();
    const of = (ledgerId: LedgerId): Appearances => {
      const known = ledgers.get(ledgerId) ?? { provedAt: [], addedFrom: new Map(), end: undefined };
      ledgers.set(ledgerId, known);
      return known;
    };

    const appeared = (ledgerId: LedgerId, entry: number, at: number) => {
      const { provedAt, end } = of(ledgerId);
      if (end !== undefined && entry > end) {
        report(`entry ${entry} exists, yet a reader was told that the ledger ends at ${end}`, ledgerId);
      }
      for (let below = entry; below >= 0 && !((provedAt[below] ?? Number.POSITIVE_INFINITY) <= at); below--) {
        provedAt[below] = at;
      }
    };

    const judgeRead = (operation: Operation, ledgerId: LedgerId, entry: number) => {
      const { answer, startedAt, endedAt } = operation;
      const { provedAt, addedFrom } = of(ledgerId);
      if (answer?.kind === "entry") {
        if (!addedFrom.has(answer.content))
          report(`entry ${entry} was never added: ${answer.content}`, ledgerId);
        appeared(ledgerId, entry, endedAt);
      } else if (answer?.kind === "nothing-yet") {
        const proved = provedAt[entry];
        if (proved === undefined || proved > startedAt) return;
        report(
          `${operation.actor} is told "nothing yet" at ${entry}, which was there before it asked`,
          ledgerId,
        );
      } else if (answer?.kind === "beyond-end") {
        of(ledgerId).end = answer.lastEntry;
        const beyond = provedAt.length - 1;
        if (beyond > answer.lastEntry) {
          report(
            `${operation.actor} is told an end of ${answer.lastEntry}; entry ${beyond} exists`,
            ledgerId,
          );
        }
      }
    };

    return {
      operated(operation: Operation) {
        const { request, answer, startedAt, endedAt } = operation;
        if (request.kind === "add") {
          if (answer === undefined) of(request.ledgerId).addedFrom.set(request.content, startedAt);
          else if (answer.kind === "stored") appeared(request.ledgerId, answer.at, endedAt);
        } else if (request.kind === "read") judgeRead(operation, request.ledgerId, request.entryId);
      },
    };
  },
};
