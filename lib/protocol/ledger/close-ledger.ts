/**
 * The writer's close (rule 9): first the seal, Tombstones at the slot after the last entry on NEG bookies of
 * its write set, so that no stale reader takes that empty slot for a tail; then the metadata, OPEN -> CLOSED.
 * Where either does not go through, the writer recovers its own ledger like anybody else. May run twice.
 */
import { FencelineError } from "../errors.ts";
import { type EntryId, type LedgerId, nextEntry } from "../ids.ts";
import {
  type ClosedLedger,
  closeLedger,
  fragmentAt,
  type LedgerMetadata,
  lastFragment,
  type OpenLedger,
  sameFragment,
} from "../ledger-metadata.ts";
import type { Bookie, SealAnswer, Versioned } from "../ports.ts";
import { changeItem } from "../update-item.ts";
import { negativeQuorum, writeSet } from "../write-set.ts";
import { callBookie, type LedgerPorts } from "./ledger-ports.ts";
import { recoverLedger } from "./recover-ledger.ts";

/** Without `end` something is outstanding, and only recovery may say where the ledger ends. */
export async function closeCleanly(
  ports: LedgerPorts,
  ledger: Versioned<OpenLedger>,
  end: { readonly lastEntry: EntryId; readonly length: number } | undefined,
): Promise<ClosedLedger> {
  const { ledgerId } = ledger.item;
  if (end !== undefined && (await sealEnd(ports, ledger.item, end.lastEntry))) {
    const { stored, wrote } = await changeItem(ports, ledger.key, "ledger", (item) => {
      // The seal is on the bookies that this writer knows: where others have taken their place, it is none.
      const isOurs = item.state === "OPEN" && sameFragment(lastFragment(item), lastFragment(ledger.item));
      return isOurs ? closeLedger(item, end) : undefined;
    });
    if (wrote) ports.trace.emit({ event: "ledger-closed", ledgerId, lastEntry: end.lastEntry, by: "writer" });
    if (stored?.item.state === "CLOSED") return stored.item;
  }
  const recovered = await recoverLedger(ports, ledgerId);
  if (recovered?.state === "CLOSED") return recovered;
  throw new FencelineError("fenced", {
    message: `ledger ${ledgerId} was deleted while its writer closed it`,
    retryable: false,
  });
}

/** Seals one bookie's slot and says if it is sealed then. */
export type SealSlot = (bookie: Bookie, ledgerId: LedgerId, slot: EntryId) => Promise<SealAnswer>;

/** SEAL(l): true once NEG bookies of the next entry's write set hold a Tombstone there. */
export async function sealEnd(
  ports: LedgerPorts,
  ledger: LedgerMetadata,
  lastEntry: EntryId,
  sealSlot: SealSlot = (bookie, ledgerId, slot) => bookie.seal(ledgerId, slot),
): Promise<boolean> {
  const { ledgerId, replication } = ledger;
  const slot = nextEntry(lastEntry);
  const set = writeSet(slot, fragmentAt(ledger, slot), replication);
  return await new Promise<boolean>((resolve) => {
    let sealed = 0;
    let answered = 0;
    for (const bookie of set) {
      void callBookie(ports, { ledgerId, bookie, what: `seal ${slot}` }, (port) =>
        sealSlot(port, ledgerId, slot),
      ).then((answer) => {
        answered += 1;
        if (answer.kind === "sealed") sealed += 1;
        if (sealed >= negativeQuorum(replication)) resolve(true);
        else if (answered === set.length) resolve(false);
      });
    }
  });
}
