/**
 * An audit recovers no named ledger of its own region whose lease was left clean, or is held, or was not looked
 * at (AL2). The lease counts as it was when the auditor read it, by the auditor's own clock at that moment: what
 * becomes of it afterwards it cannot know.
 */
import type { LedgerId, LogIncarnation } from "../../../lib/protocol/ids.ts";
import { logKey, segmentKey, segmentsPartition, seqNumOfKey } from "../../../lib/protocol/items.ts";
import type { Lease } from "../../../lib/protocol/lease.ts";
import type { LedgerOrigin } from "../../../lib/protocol/ledger-metadata.ts";
import { limits } from "../../../lib/protocol/limits.ts";
import { auditLimits } from "../../../lib/protocol/log/upkeep/audit-limits.ts";
import type { SimulatedProcess } from "../simulated-process.ts";
import type { World } from "../world.ts";
import type { Checker } from "./checker.ts";

interface Read {
  readonly lease: Lease | undefined;
  readonly wallMs: number;
}

/** What an auditor has seen in its present pass. */
interface Pass {
  readonly beganMs: number;
  readonly reads: Map<LogIncarnation, Read>;
}

export const auditsLeaveAlone: Checker = {
  name: "audits-leave-alone",
  watch(world, report) {
    const passes = new Map<SimulatedProcess, Pass>();
    const namedAtMs = new Map<LedgerId, number>();
    return {
      operated({ request, answer, process }) {
        if (request.kind !== "audit" || answer !== undefined) return;
        passes.set(process, { beganMs: world.scheduler.nowMs, reads: new Map() });
      },
      leaseRead(process, log, lease) {
        passes.get(process)?.reads.set(log, { lease, wallMs: process.clock.nowMs() });
      },
      metadataChanged({ before, after, process }) {
        if (after?.item.kind === "segment" && !namedAtMs.has(after.item.ledgerId))
          namedAtMs.set(after.item.ledgerId, world.scheduler.nowMs);
        const pass = process === undefined ? undefined : passes.get(process);
        if (pass === undefined || after?.item.kind !== "ledger" || before?.item.kind !== "ledger") return;
        if (before.item.state !== "OPEN" || after.item.state !== "IN_RECOVERY") return;
        const { ledgerId, origin } = after.item;
        if (origin === undefined || origin.ownerRegion !== process?.region) return;
        if ((namedAtMs.get(ledgerId) ?? Infinity) >= pass.beganMs || !isNeeded(world, ledgerId, origin))
          return;
        const reason = reasonToLeave(pass.reads.get(origin.log), ledgerId);
        if (reason !== undefined) report(`${process.name} recovers it ${reason}`, ledgerId);
      },
    };
  },
};

/** Its log is there, and names it, and no trim has passed it. */
function isNeeded({ table }: World, ledgerId: LedgerId, { log, firstSeqNum }: LedgerOrigin): boolean {
  const named = table.get(segmentKey(log, firstSeqNum))?.item;
  const item = table.get(logKey(log))?.item;
  if (named?.kind !== "segment" || named.ledgerId !== ledgerId) return false;
  if (item?.kind !== "log" || item.state !== "active") return false;
  const later = table
    .query({ partition: segmentsPartition(log), order: "ascending", limit: Number.MAX_SAFE_INTEGER })
    .map(({ key }) => seqNumOfKey(key))
    .filter((first) => first > firstSeqNum);
  return !later.some((first) => first <= item.trimPoint);
}

/** Undefined: its writer is gone. */
function reasonToLeave(read: Read | undefined, ledgerId: LedgerId): string | undefined {
  if (read === undefined) return "without a look at its lease";
  if (read.lease === undefined) return undefined;
  const { clean, tail, expiresAtMs } = read.lease;
  if (clean && tail?.ledgerId === ledgerId) return "although it was left clean";
  const sinceMs = read.wallMs - expiresAtMs;
  const isFromTheFuture = -sinceMs > limits.leaseTtlMs + limits.leaseSkewMaxMs;
  if (isFromTheFuture || sinceMs > auditLimits.leaseExpiredMs) return undefined;
  return `although its lease ran out only ${sinceMs} ms before`;
}
