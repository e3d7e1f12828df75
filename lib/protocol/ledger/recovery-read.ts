/**
 * Reads one entry for recovery from its whole write set, fencing each bookie and occupying empty slots on
 * the way (rules 3, 11). One genuine copy is enough to keep the entry; a negative quorum ends the ledger;
 * anything unknown counts as neither, in whatever order the answers come (H29).
 */
import { type BookieVerdict, verdictOf } from "../errors.ts";
import type { EntryId } from "../ids.ts";
import type { BookieAddress } from "../place.ts";
import type { RecoveryReadAnswer, SealedEntry } from "../ports.ts";
import { askBookie, entryCall, type Unknown } from "./ask-bookie.ts";
import { isGenuine } from "./entry.ts";
import { fragmentAt, type LedgerInRecovery } from "./ledger-metadata.ts";
import type { LedgerPorts } from "./ledger-ports.ts";
import { provesAbsence, writeSet } from "./write-set.ts";

export type RecoveryDecision =
  | { readonly kind: "found"; readonly entry: SealedEntry }
  | { readonly kind: "absent" }
  | { readonly kind: "undecided"; readonly verdicts: readonly BookieVerdict[] };

export function recoveryRead(
  ports: LedgerPorts,
  ledger: LedgerInRecovery,
  entry: EntryId,
): Promise<RecoveryDecision> {
  const { ledgerId, replication } = ledger;
  const set = writeSet(entry, fragmentAt(ledger, entry), replication);
  const negatives: BookieAddress[] = [];
  const verdicts: BookieVerdict[] = [];
  return new Promise((resolve, reject) => {
    const judge = (bookie: BookieAddress, answer: RecoveryReadAnswer | Unknown) => {
      const copy = answer.kind === "entry" ? answer.entry : undefined;
      const genuine = copy !== undefined && isGenuine(ports.digest, ledger, copy, entry);
      if (copy !== undefined && genuine) return resolve({ kind: "found", entry: copy });
      if (answer.kind === "tombstone") negatives.push(bookie);
      if (answer.kind === "entry") {
        ports.trace.emit({ event: "corrupt-entry", ledgerId, entryId: entry, bookie: bookie.id });
      }
      verdicts.push(
        verdictOf(bookie, answer.kind === "unknown" ? answer : { kind: "answered", said: saidBy(answer) }),
      );
      if (provesAbsence(negatives, set, replication)) return resolve({ kind: "absent" });
      if (verdicts.length === set.length) resolve({ kind: "undecided", verdicts });
    };
    for (const bookie of set) {
      askBookie(ports, {
        ledgerId,
        bookie,
        what: entryCall("recovery read", entry),
        call: (port) => port.recoveryRead(ledgerId, entry),
      })
        .then((answer) => judge(bookie, answer))
        .catch(reject);
    }
  });
}

function saidBy(answer: RecoveryReadAnswer): string {
  switch (answer.kind) {
    case "tombstone":
      return "does not have it";
    case "entry":
      return "has a damaged copy";
  }
}
