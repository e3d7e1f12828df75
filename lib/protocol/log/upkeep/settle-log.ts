/**
 * Settles the tail (rule 14): makes everything acknowledged so far readable to every strong reader, also to
 * those who cannot reach enough bookies of the tail. The writer appends a control entry whose last add
 * confirmed covers what is before it: this process's, or through the inbox the one that serves (42). Without
 * a writer, recovery closes the ledger: a takeover. So too if
 * an earlier recovery came to nothing after it had marked the ledger: its writer goes on without knowing it,
 * and where a ledger ends that is being recovered is known to nobody.
 */
import { ledgerKey } from "../../items.ts";
import { recoverLedger } from "../../ledger/recover-ledger.ts";
import { readItem } from "../../update-item.ts";
import type { LogWriter } from "../appending/log-writer.ts";
import { settleByPost } from "../appending/posted-appends.ts";
import { lastItem } from "../chain/segments.ts";
import type { LogPorts } from "../log-ports.ts";
import type { LogRef } from "../log-ref.ts";

/** `writer`: this process's, if it has one. Throws what recovery and the ports throw. */
export async function settleLog(ports: LogPorts, log: LogRef, writer: LogWriter | undefined): Promise<void> {
  // Acknowledged, the entry proves that no later segment held anything when it was sent.
  const isWritten = (await writer?.appendControl()) === true || (await settleByPost(ports, log));
  const last = await lastItem(ports.metadata, log.incarnation, "consistent");
  if (last?.kind !== "segment") return;
  const { ledgerId } = last.item;
  const isInRecovery = async () =>
    (await readItem(ports.metadata, ledgerKey(ledgerId), "ledger"))?.state === "IN_RECOVERY";
  const isSettled = isWritten && !(await isInRecovery());
  if (!isSettled) await recoverLedger(ports, ledgerId);
  ports.trace.emit({
    event: "tail-settled",
    log: log.incarnation,
    how: isSettled ? "control-entry" : "takeover",
  });
}
