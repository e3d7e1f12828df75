/**
 * Fences the bookies of the last fragment and collects their hints for where the tail begins (rule 10). The
 * hint is the highest last add confirmed that a genuine entry carries; it saves reading, nothing more, so
 * waiting stops as soon as no write set could have acknowledged on the silent bookies alone.
 */
import { type EntryId, NO_ENTRY } from "../ids.ts";
import { type LedgerMetadata, lastFragment } from "../ledger-metadata.ts";
import type { TailAnswer } from "../ports.ts";
import { coversEveryWriteSet } from "../write-set.ts";
import { askBookie } from "./ask-bookie.ts";
import type { LedgerPorts } from "./ledger-ports.ts";
import { confirmedBy } from "./read-confirmed.ts";

/** The highest last add confirmed that was answered, or NO_ENTRY. */
export function fenceEnsemble(ports: LedgerPorts, ledger: LedgerMetadata): Promise<EntryId> {
  const { ledgerId, replication } = ledger;
  const { ensemble } = lastFragment(ledger);
  const known = new Set<number>();
  let silent = 0;
  let highest: EntryId = NO_ENTRY;
  return new Promise((resolve) => {
    ensemble.forEach((bookie, position) => {
      void askBookie<TailAnswer | { readonly kind: "tail"; readonly answer: TailAnswer }>(ports, {
        ledgerId,
        bookie,
        what: "fence",
        call: async (port) => ({ kind: "tail", answer: await port.fence(ledgerId) }),
      }).then((answer) => {
        if ("kind" in answer && answer.kind === "tail") {
          known.add(position);
          const confirmed = confirmedBy(ports, ledger, answer.answer);
          if (confirmed > highest) highest = confirmed;
        } else silent += 1;
        const done = known.size + silent === ensemble.length || coversEveryWriteSet(known, replication);
        if (done) resolve(highest);
      });
    });
  });
}
