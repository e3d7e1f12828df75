/**
 * Reads an entry that is known to exist: any genuine copy will do. Order, hedging and failover are the read
 * policy's; what counts as an answer is said here.
 */

import { isGenuine } from "../entry.ts";
import type { BookieVerdict } from "../errors.ts";
import type { EntryId } from "../ids.ts";
import type { LedgerMetadata } from "../ledger-metadata.ts";
import type { BookieAddress } from "../place.ts";
import type { ReadAnswer, SealedEntry } from "../ports.ts";
import type { GatheredReads } from "../reads/gathered-reads.ts";
import type { ReadCounters } from "../reads/read-counters.ts";
import { speculativeRead } from "../reads/speculative-read.ts";
import type { LedgerPorts } from "./ledger-ports.ts";
import { readCall } from "./read-call.ts";

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
  batch: ReadBatch = {},
): Promise<AnyCopy> {
  const { ledgerId } = ledger;
  const readOne = readCall(ports, ledgerId, entry);
  const judge = (answer: ReadAnswer, bookie: BookieAddress) => {
    if (answer.kind !== "entry") return { usable: false, said: "does not have it" } as const;
    if (isGenuine(ports.digest, ledger, answer.entry, entry)) {
      return { usable: true, value: answer.entry } as const;
    }
    ports.trace.emit({ event: "corrupt-entry", ledgerId, entryId: entry, bookie: bookie.id });
    return { usable: false, said: "has a damaged copy" } as const;
  };
  const read = await speculativeRead(ports.reads, {
    writeSet,
    cost: batch.cost,
    call: (bookie, signal, lane) =>
      lane === "hedge" && batch.hedges !== undefined
        ? batch.hedges.read(bookie, entry, signal)
        : readOne(bookie, signal),
    judge,
  });
  return read.kind === "answer" ? { kind: "entry", entry: read.value } : read;
}
