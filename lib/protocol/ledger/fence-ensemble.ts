/**
 * Fences the bookies of the last fragment and collects their hints for where the tail begins (rule 10). The
 * hint is the highest last add confirmed that a genuine entry carries; it saves reading, nothing more, so
 * waiting stops as soon as no write set could have acknowledged on the silent bookies alone.
 */
import { type EntryId, NO_ENTRY } from "../ids.ts";
import type { Bookie, TailAnswer } from "../ports.ts";
import { askBookie } from "./ask-bookie.ts";
import { isGenuine } from "./entry.ts";
import { type LedgerMetadata, lastFragment } from "./ledger-metadata.ts";
import type { LedgerPorts } from "./ledger-ports.ts";
import { coversEveryWriteSet } from "./write-set.ts";

/** The highest last add confirmed that was answered, or NO_ENTRY. */
export function fenceEnsemble(ports: LedgerPorts, ledger: LedgerMetadata): Promise<EntryId> {
  return askTails(ports, ledger, "fence", (bookie) => bookie.fence(ledger.ledgerId));
}

/** The same without fencing: for readers, who change nothing. */
export function highestConfirmed(ports: LedgerPorts, ledger: LedgerMetadata): Promise<EntryId> {
  return askTails(ports, ledger, "tail", (bookie) => bookie.tail(ledger.ledgerId));
}

function askTails(
  ports: LedgerPorts,
  ledger: LedgerMetadata,
  what: string,
  call: (bookie: Bookie) => Promise<TailAnswer>,
): Promise<EntryId> {
  const { ensemble } = lastFragment(ledger);
  const known = new Set<number>();
  let silent = 0;
  let highest: EntryId = NO_ENTRY;
  return new Promise((resolve) => {
    ensemble.forEach((bookie, position) => {
      void askBookie<TailAnswer | { readonly kind: "tail"; readonly answer: TailAnswer }>(ports, {
        ledgerId: ledger.ledgerId,
        bookie,
        what,
        call: async (port) => ({ kind: "tail", answer: await call(port) }),
      }).then((answer) => {
        if ("kind" in answer && answer.kind === "tail") {
          known.add(position);
          const copy = answer.answer.highest;
          // A damaged entry still proves the fence; its header proves nothing (H22).
          if (copy !== undefined && isGenuine(ports.digest, ledger, copy)) {
            if (copy.header.lastAddConfirmed > highest) highest = copy.header.lastAddConfirmed;
          }
        } else silent += 1;
        const done =
          known.size + silent === ensemble.length || coversEveryWriteSet(known, ledger.replication);
        if (done) resolve(highest);
      });
    });
  });
}
