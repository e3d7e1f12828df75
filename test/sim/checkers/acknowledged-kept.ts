/**
 * Nothing acknowledged is lost or changed (TLA+: AllAckedEntriesAreReadable, NoOutOfOrderEntries): when
 * everything has been read back at the end, each acknowledged entry is there with the content that was
 * acknowledged; and nobody is ever given anything else for it. What was added once stands in one place.
 */
import type { LedgerId } from "../../../lib/protocol/ids.ts";
import type { Content, Operation } from "../history.ts";
import type { Checker } from "./checker.ts";

export const acknowledgedKept: Checker = {
  name: "acknowledged-kept",
  watch(world, report) {
    const acknowledged = new Map<LedgerId, Map<number, Content>>();
    const known = (ledgerId: LedgerId, entry: number) => acknowledged.get(ledgerId)?.get(entry);

    const learn = (ledgerId: LedgerId, entry: number, content: Content, how: string) => {
      const before = known(ledgerId, entry);
      if (before !== undefined && before !== content) {
        report(`entry ${entry} was ${before} and is ${how} as ${content}`, ledgerId);
      }
      const entries = acknowledged.get(ledgerId) ?? new Map<number, Content>();
      acknowledged.set(ledgerId, entries.set(entry, content));
    };

    return {
      operated({ request, answer }: Operation) {
        if (request.kind === "add" && answer?.kind === "stored") {
          learn(request.ledgerId, answer.at, request.content, "acknowledged");
        }
        if (request.kind === "read" && answer?.kind === "entry") {
          learn(request.ledgerId, request.entryId, answer.content, "returned");
        }
      },
      finished() {
        for (const [ledgerId, kept] of world.readBack) {
          const twice = kept.find((content, entry) => kept.indexOf(content) !== entry);
          if (twice !== undefined) report(`${twice} was added once and stands in it twice`, ledgerId);
        }
        for (const [ledgerId, entries] of acknowledged) {
          const kept = world.readBack.get(ledgerId);
          if (kept === undefined) continue;
          for (const [entry, content] of entries) {
            if (kept[entry] === content) continue;
            report(`entry ${entry} was ${content} and in the end is ${kept[entry] ?? "not there"}`, ledgerId);
          }
        }
      },
    };
  },
};
