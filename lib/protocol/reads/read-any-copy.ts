/**
 * Reads an entry that is known to exist: any genuine copy will do. The nearest bookie is asked first; an
 * error or a missing copy sends the question on at once, silence sends it on after a while.
 */
import type { BookieVerdict } from "../errors.ts";
import type { EntryId } from "../ids.ts";
import { askBookie, entryCall, type Unknown } from "../ledger/ask-bookie.ts";
import { isGenuine } from "../ledger/entry.ts";
import type { LedgerMetadata } from "../ledger/ledger-metadata.ts";
import type { LedgerPorts } from "../ledger/ledger-ports.ts";
import { limits } from "../limits.ts";
import type { BookieAddress } from "../place.ts";
import type { ReadAnswer, SealedEntry, Timer } from "../ports.ts";
import { nearestFirst } from "./replica-order.ts";

export type AnyCopy =
  | { readonly kind: "entry"; readonly entry: SealedEntry }
  | { readonly kind: "none"; readonly verdicts: readonly BookieVerdict[] };

export function readAnyCopy(
  ports: LedgerPorts,
  ledger: LedgerMetadata,
  entry: EntryId,
  writeSet: readonly BookieAddress[],
): Promise<AnyCopy> {
  const queue = nearestFirst(ports, writeSet);
  const verdicts: BookieVerdict[] = [];
  return new Promise((resolve) => {
    let timer: Timer | undefined;
    let finished = false;
    const askNext = () => {
      timer?.cancel();
      const bookie = finished ? undefined : queue.shift();
      if (bookie === undefined) return;
      if (queue.length > 0) timer = ports.clock.startTimer(limits.readNextReplicaAfterMs, askNext);
      void askOne(ports, ledger, entry, bookie).then((answer) => {
        if (finished) return;
        if (answer.kind === "entry") {
          finished = true;
          timer?.cancel();
          return resolve(answer);
        }
        verdicts.push({ bookie: bookie.id, region: bookie.place.region, said: answer.said });
        if (verdicts.length < writeSet.length) return askNext();
        finished = true;
        resolve({ kind: "none", verdicts });
      });
    };
    askNext();
  });
}

type OneCopy =
  | { readonly kind: "entry"; readonly entry: SealedEntry }
  | { readonly kind: "none"; readonly said: string };

async function askOne(
  ports: LedgerPorts,
  ledger: LedgerMetadata,
  entry: EntryId,
  bookie: BookieAddress,
): Promise<OneCopy> {
  const { ledgerId } = ledger;
  const what = entryCall("read", entry);
  const answer: ReadAnswer | Unknown = await askBookie(ports, {
    ledgerId,
    bookie,
    what,
    attempts: 1,
    call: (port) => port.read(ledgerId, entry),
  });
  switch (answer.kind) {
    case "unknown":
      return { kind: "none", said: `unknown (${answer.reason})` };
    case "nothing":
    case "tombstone":
      return { kind: "none", said: "does not have it" };
    case "entry":
      if (isGenuine(ports.digest, ledger, answer.entry, entry)) return { kind: "entry", entry: answer.entry };
      ports.trace.emit({ event: "corrupt-entry", ledgerId, entryId: entry, bookie: bookie.id });
      return { kind: "none", said: "has a damaged copy" };
  }
}
