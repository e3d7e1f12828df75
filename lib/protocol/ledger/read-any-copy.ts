/**
 * Reads an entry that is known to exist: any genuine copy will do. Order, hedging and failover are the read
 * policy's; what counts as an answer is said here.
 */

import type { CallSignal } from "../call-abort.ts";
import { isGenuine } from "../entry.ts";
import type { BookieVerdict } from "../errors.ts";
import type { EntryId, LedgerId } from "../ids.ts";
import type { LedgerMetadata } from "../ledger-metadata.ts";
import type { BookieAddress } from "../place.ts";
import type { ReadAnswer, SealedEntry } from "../ports.ts";
import type { GatheredReads } from "../reads/gathered-reads.ts";
import type { ReadCounters } from "../reads/read-counters.ts";
import { type Judgement, speculativeRead } from "../reads/speculative-read.ts";
import { callOnce, type LedgerPorts } from "./ledger-ports.ts";

type SlotEntry = Extract<ReadAnswer, { readonly kind: "entry" }>;

type AnyCopy =
  | { readonly kind: "entry"; readonly entry: SealedEntry }
  | { readonly kind: "none"; readonly verdicts: readonly BookieVerdict[] };

/** What reads of one ledger share. */
interface ReadBatch {
  /** Sends hedges to one replica together. */
  readonly hedges?: GatheredReads;
  readonly cost?: ReadCounters | undefined;
}

export async function readAnyCopy(
  ports: LedgerPorts,
  ledger: LedgerMetadata,
  entry: EntryId,
  writeSet: readonly BookieAddress[],
  { hedges, cost }: ReadBatch = {},
): Promise<AnyCopy> {
  const read = await speculativeRead<ReadAnswer, SlotEntry>(ports.reads, {
    writeSet,
    cost,
    call: (bookie, signal, lane) =>
      lane === "hedge" && hedges !== undefined
        ? hedges.read(bookie, entry, signal)
        : readSlot(ports, ledger.ledgerId, entry, bookie, signal),
    judge: (answer, bookie) => {
      if (answer.kind === "entry") return judgeSlot(ports, ledger, entry, answer, bookie);
      return { usable: false, said: "does not have it" };
    },
  });
  return read.kind === "answer" ? { kind: "entry", entry: read.value.entry } : read;
}

/** One read of one slot, bounded in time, as the read policy sends it. */
export function readSlot(
  ports: LedgerPorts,
  ledgerId: LedgerId,
  entry: EntryId,
  bookie: BookieAddress,
  signal: CallSignal,
): Promise<ReadAnswer> {
  return callOnce(ports, bookie, `read ${entry}`, (port) => port.read(ledgerId, entry, signal), signal);
}

/** What an answer about a slot is worth: a damaged copy is no copy, and is traced. */
export function judgeSlot<A extends ReadAnswer>(
  ports: LedgerPorts,
  ledger: LedgerMetadata,
  entry: EntryId,
  answer: A,
  bookie: BookieAddress,
): Judgement<A> {
  if (answer.kind !== "entry" || isGenuine(ports.digest, ledger, answer.entry, entry)) {
    return { usable: true, value: answer };
  }
  ports.trace.emit({ event: "corrupt-entry", ledgerId: ledger.ledgerId, entryId: entry, bookie: bookie.id });
  return { usable: false, said: "has a damaged copy" };
}
