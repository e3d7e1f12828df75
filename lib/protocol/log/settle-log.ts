/**
 * Settles the tail (rule 14): makes everything acknowledged so far readable to every strong reader, also to
 * those who cannot reach enough bookies of the tail. The writer appends a control entry whose last add
 * confirmed covers what is before it. Without the writer, recovery closes the ledger: a takeover.
 */
import type { LedgerPorts } from "../ledger/ledger-ports.ts";
import { recoverLedger } from "../ledger/recover-ledger.ts";
import type { LogWriter } from "./log-writer.ts";
import { lastItem } from "./segments.ts";
import type { LogIdentity } from "./start-segment.ts";

/** `writer`: this process's, if it has one. Throws what recovery and the ports throw. */
export async function settleLog(
  ports: LedgerPorts,
  log: LogIdentity,
  writer: LogWriter | undefined,
): Promise<void> {
  // Acknowledged in an open ledger, the entry proves that no later segment held anything when it was sent.
  if (writer !== undefined && (await writer.appendControl())) {
    ports.trace.emit({ event: "tail-settled", log: log.log, how: "control-entry" });
    return;
  }
  const last = await lastItem(ports.metadata, log.log, "consistent");
  if (last?.kind !== "segment") return;
  await recoverLedger(ports, last.item.ledgerId);
  ports.trace.emit({ event: "tail-settled", log: log.log, how: "takeover" });
}
