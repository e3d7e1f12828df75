/**
 * Reads one entry for recovery from its whole write set, fencing each bookie and occupying empty slots on
 * the way (rules 3, 11). One genuine copy is enough to keep the entry; a negative quorum ends the ledger;
 * anything unknown counts as neither, in whatever order the answers come (H29).
 *
 * The read policy is told how bookies do and calls off what is no longer needed. It has nothing to choose:
 * everyone is asked at once, since appends wait for the end of recovery.
 */

import { isGenuine } from "../entry.ts";
import { type BookieVerdict, unavailable, verdictOf } from "../errors.ts";
import type { EntryId } from "../ids.ts";
import { fragmentAt, type LedgerInRecovery } from "../ledger-metadata.ts";
import { limits } from "../limits.ts";
import type { BookieAddress } from "../place.ts";
import type { RecoveryReadAnswer, SealedEntry } from "../ports.ts";
import type { Part } from "../reads/replica-read.ts";
import { quorumRead } from "../reads/speculative-read.ts";
import type { Replication } from "../replication.ts";
import { provesAbsence, writeSet } from "../write-set.ts";
import { askBookie, entryCall } from "./ask-bookie.ts";
import type { LedgerPorts } from "./ledger-ports.ts";

type RecoveryDecision =
  | { readonly kind: "found"; readonly entry: SealedEntry }
  | { readonly kind: "absent" }
  | { readonly kind: "undecided"; readonly verdicts: readonly BookieVerdict[] };

type Proof = Exclude<RecoveryDecision, { readonly kind: "undecided" }>;

export async function recoveryRead(
  ports: LedgerPorts,
  ledger: LedgerInRecovery,
  entry: EntryId,
): Promise<RecoveryDecision> {
  const { ledgerId, replication } = ledger;
  const set = writeSet(entry, fragmentAt(ledger, entry), replication);
  const read = await quorumRead<RecoveryReadAnswer, RecoveryReadAnswer, Proof>(ports.reads, {
    kind: "recovery-read",
    writeSet: set,
    // One lost message is not yet a failure.
    timeoutMs: limits.bookieCallAttempts * (limits.bookieCallTimeoutMs + limits.bookieCallPauseMs),
    call: async (bookie, signal) => {
      const answer = await askBookie(ports, {
        ledgerId,
        bookie,
        what: entryCall("recovery read", entry),
        call: (port) => port.recoveryRead(ledgerId, entry, signal),
        signal,
      });
      if (answer.kind === "unknown") throw unavailable(answer.reason);
      return answer;
    },
    judge: (answer, bookie) => {
      if (answer.kind === "tombstone" || isGenuine(ports.digest, ledger, answer.entry, entry))
        return { usable: true, value: answer };
      ports.trace.emit({ event: "corrupt-entry", ledgerId, entryId: entry, bookie: bookie.id });
      return { usable: false, said: "has a damaged copy" };
    },
    conclude: (parts) => provenBy(parts, set, replication),
    couldConclude: () => false,
  });
  if (read.kind === "answer") return read.value;
  const negatives = read.parts.map(({ bookie }) => {
    return verdictOf(bookie, { kind: "answered", said: "does not have it" });
  });
  return { kind: "undecided", verdicts: [...read.verdicts, ...negatives] };
}

function provenBy(
  parts: readonly Part<RecoveryReadAnswer>[],
  set: readonly BookieAddress[],
  replication: Replication,
): { readonly value: Proof } | undefined {
  const negatives: BookieAddress[] = [];
  for (const { bookie, value } of parts) {
    if (value.kind === "entry") return { value: { kind: "found", entry: value.entry } };
    negatives.push(bookie);
  }
  return provesAbsence(negatives, set, replication) ? { value: { kind: "absent" } } : undefined;
}
