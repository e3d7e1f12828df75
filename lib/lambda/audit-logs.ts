/**
 * One pass over the logs of a deployment, made on a schedule in each region. May run twice, and in several
 * regions at once: every step of it may.
 *
 * D1 What was trimmed goes (rule 31).
 * D2 A last segment's ledger that is IN_RECOVERY is recovered: whoever began may have died. One that is OPEN
 *    is recovered only if its owner's region is said to be lost; healthy idle ledgers are left alone.
 * D3 A log that cannot be audited now is left to the next pass; the others are audited all the same.
 */
import type { LogName } from "../protocol/ids.ts";
import { ledgerKey } from "../protocol/items.ts";
import type { LedgerPorts } from "../protocol/ledger/ledger-ports.ts";
import { recoverLedger } from "../protocol/ledger/recover-ledger.ts";
import { auditSegments } from "../protocol/log/audit-segments.ts";
import { listLogs } from "../protocol/log/list-logs.ts";
import { findLog } from "../protocol/log/log-names.ts";
import { lastItem } from "../protocol/log/segments.ts";

export interface AuditReport {
  readonly logs: number;
  readonly itemsRemoved: number;
  readonly recovered: number;
  readonly failed: readonly { readonly log: LogName; readonly reason: string }[];
  /** Where the next pass goes on, if time was up. */
  readonly next?: LogName;
}

const PAGE = 100;

/** `isTimeUp` is asked before each log. Throws what the directory's reading throws. */
export async function auditLogs(
  ports: LedgerPorts,
  isTimeUp: () => boolean,
  startAfter?: LogName,
): Promise<AuditReport> {
  const report = { logs: 0, itemsRemoved: 0, recovered: 0, failed: [] as { log: LogName; reason: string }[] };
  let last = startAfter;
  while (true) {
    const page = await listLogs(ports.metadata, {
      prefix: "",
      limit: PAGE,
      ...(last === undefined ? {} : { startAfter: last }),
    });
    for (const log of page.logs) {
      if (isTimeUp()) return last === undefined ? report : { ...report, next: last };
      last = log;
      report.logs += 1;
      try {
        const { removed, recovered } = await auditLog(ports, log);
        report.itemsRemoved += removed;
        report.recovered += recovered ? 1 : 0;
      } catch (error) {
        report.failed.push({ log, reason: error instanceof Error ? error.message : String(error) }); // D3
      }
    }
    if (!page.hasMore) return report;
  }
}

async function auditLog(ports: LedgerPorts, name: LogName): Promise<{ removed: number; recovered: boolean }> {
  const { log } = await findLog(ports.metadata, name, "consistent");
  const { removed } = await auditSegments(ports, log);
  const last = await lastItem(ports.metadata, log, "consistent");
  if (last?.kind !== "segment") return { removed: removed.length, recovered: false };
  const ledger = (await ports.metadata.get(ledgerKey(last.item.ledgerId), "consistent"))?.item;
  const isLost = ports.topology.states?.().regions.get(last.item.ownerRegion) === "lost";
  const state = ledger?.kind === "ledger" ? ledger.state : undefined;
  const isDue = state === "IN_RECOVERY" || (state === "OPEN" && isLost); // D2
  if (isDue) await recoverLedger(ports, last.item.ledgerId);
  return { removed: removed.length, recovered: isDue };
}
