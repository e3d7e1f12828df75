/** A ledger has one closed end for ever: in its metadata, and in what every closer and reader gets. */
import type { LedgerId } from "../../../lib/protocol/ids.ts";
import type { Operation } from "../history.ts";
import type { Checker } from "./checker.ts";

export const oneClosedEnd: Checker = {
  name: "one-closed-end",
  watch(_world, report) {
    const ends = new Map<LedgerId, { lastEntry: number; length: number }>();

    const hears = (ledgerId: LedgerId, lastEntry: number, length: number | undefined, who: string) => {
      const end = ends.get(ledgerId);
      if (end === undefined) {
        report(`${who} is told an end of ${lastEntry}, but the metadata never had one`, ledgerId);
      } else if (end.lastEntry !== lastEntry || (length !== undefined && end.length !== length)) {
        report(
          `ended at ${end.lastEntry} (${end.length} bytes); ${who} has ${lastEntry} (${length})`,
          ledgerId,
        );
      }
    };

    return {
      metadataChanged({ after }) {
        const item = after?.item;
        if (item?.kind !== "ledger" || (item.state !== "CLOSED" && item.state !== "DELETED")) return;
        const { ledgerId, lastEntry, length } = item;
        if (ends.has(ledgerId)) hears(ledgerId, lastEntry, length, "a later write");
        else ends.set(ledgerId, { lastEntry, length });
      },
      operated({ request, answer, actor }: Operation) {
        if (!("ledgerId" in request)) return;
        if (answer?.kind === "closed") hears(request.ledgerId, answer.lastEntry, answer.length, actor);
        if (answer?.kind === "beyond-end") hears(request.ledgerId, answer.lastEntry, undefined, actor);
      },
    };
  },
};
