/**
 * Asks a write set for an entry that is not known to be confirmed, and says what the answers prove (rules 13,
 * 14). Answers as soon as one of the proofs is complete; bookies that hang do not hold it up.
 */
import { type BookieVerdict, verdictOf } from "../errors.ts";
import type { EntryId } from "../ids.ts";
import type { BookieAddress } from "../place.ts";
import type { ReadAnswer, SealedEntry } from "../ports.ts";
import { askBookie, entryCall, type Unknown } from "./ask-bookie.ts";
import { isGenuine, sameContent } from "./entry.ts";
import { fragmentAt, type LedgerMetadata } from "./ledger-metadata.ts";
import type { LedgerPorts } from "./ledger-ports.ts";
import { isAckSet, provesAbsence, writeSet } from "./write-set.ts";

export type TailSlot =
  /** T2's half: Originals of the entry were read from an ACK set. */
  | { readonly kind: "on-ack-set"; readonly entry: SealedEntry }
  /** A negative quorum of `nothing`: the slots' half of rule 14. */
  | { readonly kind: "nothing" }
  /** A Tombstone or a Recovered copy: the ledger was or is being recovered; metadata knows more. */
  | { readonly kind: "ask-metadata"; readonly verdicts: readonly BookieVerdict[] }
  | { readonly kind: "undecided"; readonly verdicts: readonly BookieVerdict[] };

export function readTailSlot(ports: LedgerPorts, ledger: LedgerMetadata, entry: EntryId): Promise<TailSlot> {
  const { ledgerId, replication } = ledger;
  const set = writeSet(entry, fragmentAt(ledger, entry), replication);
  const originals: { bookie: BookieAddress; entry: SealedEntry }[] = [];
  const nothings: BookieAddress[] = [];
  const verdicts: BookieVerdict[] = [];
  let recovered = false;
  return new Promise((resolve, reject) => {
    const judge = (bookie: BookieAddress, answer: ReadAnswer | Unknown) => {
      verdicts.push(
        verdictOf(bookie, answer.kind === "unknown" ? answer : { kind: "answered", said: saidBy(answer) }),
      );
      if (answer.kind === "nothing") nothings.push(bookie);
      if (answer.kind === "tombstone") recovered = true;
      if (answer.kind === "entry" && answer.copy === "recovered") recovered = true;
      if (answer.kind === "entry" && answer.copy === "original") {
        if (isGenuine(ports.digest, ledger, answer.entry, entry))
          originals.push({ bookie, entry: answer.entry });
        else ports.trace.emit({ event: "corrupt-entry", ledgerId, entryId: entry, bookie: bookie.id });
      }
      const acknowledged = originals.find(({ entry: one }) => {
        const holders = originals
          .filter((other) => sameContent(other.entry, one))
          .map((other) => other.bookie);
        return isAckSet(holders, replication);
      });
      if (acknowledged !== undefined) return resolve({ kind: "on-ack-set", entry: acknowledged.entry });
      if (provesAbsence(nothings, set, replication)) return resolve({ kind: "nothing" });
      if (verdicts.length < set.length) return;
      resolve({ kind: recovered ? "ask-metadata" : "undecided", verdicts });
    };
    for (const bookie of set) {
      askBookie(ports, {
        ledgerId,
        bookie,
        what: entryCall("read", entry),
        attempts: 1,
        call: (port) => port.read(ledgerId, entry),
      })
        .then((answer) => judge(bookie, answer))
        .catch(reject);
    }
  });
}

function saidBy(answer: ReadAnswer): string {
  switch (answer.kind) {
    case "nothing":
      return "has nothing there";
    case "tombstone":
      return "has a Tombstone there";
    case "entry":
      return `has a copy (${answer.copy})`;
  }
}
