/**
 * What became of entries that were sent and not acknowledged: recovery closes the ledger, and its end and
 * its entries decide (rules 8, 12, 20). An entry behind the closed end is certainly not recorded and never
 * will be; one up to it is ours if its tenure and its payload are.
 */
import { assert } from "../assert.ts";
import { isGenuine, sameBytes } from "../entry.ts";
import {
  type BookieVerdict,
  FencelineError,
  insufficientRegions,
  type Unknown,
  verdictOf,
} from "../errors.ts";
import type { EntryId, LedgerId, Region, Tenure } from "../ids.ts";
import { type ClosedLedger, fragmentAt, type LedgerMetadata } from "../ledger-metadata.ts";
import { limits } from "../limits.ts";
import type { BookieAddress } from "../place.ts";
import type { ReadAnswer, SealedEntry } from "../ports.ts";
import { isAckSet, writeSet } from "../write-set.ts";
import { callBookie, type LedgerPorts } from "./ledger-ports.ts";
import { recoverLedger } from "./recover-ledger.ts";

interface EntryInDoubt {
  readonly entryId: EntryId;
  readonly payload: Uint8Array;
}

export type EntryVerdict =
  | { readonly kind: "recorded"; readonly regions: readonly Region[] }
  | { readonly kind: "not-recorded" };

/**
 * One verdict for each entry, in order. Throws if it cannot say: `insufficient_regions` while too few
 * bookies answer, `unknown_outcome` if the ledger is gone for good.
 */
export async function decideEntries(
  ports: LedgerPorts,
  id: LedgerId,
  tenure: Tenure,
  entries: readonly EntryInDoubt[],
): Promise<readonly EntryVerdict[]> {
  const ledger = await recoverLedger(ports, id);
  const verdictOn = async (entry: EntryInDoubt): Promise<EntryVerdict> => {
    if (ledger === undefined) throw gone(id, "missing");
    if (entry.entryId > ledger.lastEntry) return { kind: "not-recorded" };
    if (ledger.state === "DELETED") throw gone(id, "DELETED");
    return await readVerdict(ports, ledger, tenure, entry);
  };
  const verdicts: EntryVerdict[] = [];
  for (let start = 0; start < entries.length; start += limits.recoveryReadWindow) {
    const window = entries.slice(start, start + limits.recoveryReadWindow);
    verdicts.push(...(await Promise.all(window.map(verdictOn))));
  }
  return verdicts;
}

async function readVerdict(
  ports: LedgerPorts,
  ledger: ClosedLedger,
  tenure: Tenure,
  { entryId, payload }: EntryInDoubt,
): Promise<EntryVerdict> {
  const { copy, holders } = await readCopies(ports, ledger, entryId);
  if (copy.header.tenure !== tenure || !sameBytes(copy.payload, payload)) return { kind: "not-recorded" };
  return { kind: "recorded", regions: [...new Set(holders.map((holder) => holder.place.region))].sort() };
}

interface Copies {
  readonly copy: SealedEntry;
  /** Bookies that showed a copy: an ACK set of them, or all that answered. */
  readonly holders: readonly BookieAddress[];
}

/** Asks the whole write set, so that the answer can also say where the entry is. */
function readCopies(ports: LedgerPorts, ledger: LedgerMetadata, entry: EntryId): Promise<Copies> {
  const { ledgerId, replication } = ledger;
  const set = writeSet(entry, fragmentAt(ledger, entry), replication);
  const holders: BookieAddress[] = [];
  const verdicts: BookieVerdict[] = [];
  let copy: SealedEntry | undefined;
  return new Promise((resolve, reject) => {
    const judge = (bookie: BookieAddress, answer: ReadAnswer | Unknown) => {
      const held = answer.kind === "entry" && isGenuine(ports.digest, ledger, answer.entry, entry);
      const said = held ? "has it" : "does not have it";
      verdicts.push(verdictOf(bookie, answer.kind === "unknown" ? answer : { kind: "answered", said }));
      if (held) {
        assert(
          copy === undefined || sameBytes(copy.payload, answer.entry.payload),
          "rule 20: one content an entry",
        );
        copy = answer.entry;
        holders.push(bookie);
        if (isAckSet(holders, replication)) return resolve({ copy, holders });
      }
      if (verdicts.length < set.length) return;
      if (copy !== undefined) return resolve({ copy, holders });
      reject(insufficientRegions(`ledger ${ledgerId}: entry ${entry} cannot be read`, verdicts, "none"));
    };
    for (const bookie of set) {
      callBookie(ports, { ledgerId, bookie, what: `read ${entry}` }, (port) => port.read(ledgerId, entry))
        .then((answer) => judge(bookie, answer))
        .catch(reject);
    }
  });
}

function gone(id: LedgerId, state: string): FencelineError {
  return new FencelineError("unknown_outcome", {
    message: `ledger ${id}, which the append was sent to, is ${state}`,
  });
}
