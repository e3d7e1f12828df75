/** CLOSED -> DELETED, and the abandonment of a ledger that was never written to (rules 15, 27). */
import type { LedgerId } from "../ids.ts";
import { type DeletedLedger, deleteLedger } from "../ledger-metadata.ts";
import type { LedgerPorts } from "./ledger-ports.ts";
import { recoverLedger } from "./recover-ledger.ts";
import { updateLedger } from "./stored-ledger.ts";

/**
 * Marks a CLOSED ledger as DELETED. Undefined: there is no such ledger, or it is not closed yet. From here on
 * its entries may be collected; its fences and seal stay for the seal age.
 */
export async function markDeleted(ports: LedgerPorts, id: LedgerId): Promise<DeletedLedger | undefined> {
  const { stored } = await updateLedger(ports, id, (item) =>
    item?.state === "CLOSED" ? deleteLedger(item, ports.clock.nowMs()) : undefined,
  );
  return stored?.item.state === "DELETED" ? stored.item : undefined;
}

/**
 * Rule 27, only for a process that sent nothing to this ledger and never will: closes it with its seal, then
 * marks it DELETED. Recovery does both halves of the close, and finds the truth should somebody have written
 * after all: a ledger that turns out not to be empty is closed and kept.
 */
export async function abandonLedger(ports: LedgerPorts, id: LedgerId, reason: string): Promise<void> {
  ports.trace.emit({ event: "ledger-abandoned", ledgerId: id, reason });
  const recovered = await recoverLedger(ports, id);
  if (recovered?.state === "CLOSED" && recovered.lastEntry < 0) await markDeleted(ports, id);
}
