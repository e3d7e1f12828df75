/**
 * The silence of a log's owner, counted by all processes of a region in the region's own lease table: a
 * function that serves one request and is gone adds to what the next one finds.
 *
 * Q1 A failure is counted once, whatever becomes of the replies: it has a token of its own in the item.
 * Q2 An answer to any process wipes the count, and is remembered for as long as failures would have to last.
 * Q3 Times in the item are wall times of several processes. A wrong clock can hasten or delay a takeover, and
 *    nothing else; an item from the future, or that stood still for long, counts as none.
 * Q4 An owner that opens a segment while it is being taken over is heard by others, if not from here. It is
 *    left alone for a time that grows with each such takeover: a fence in vain stops all writing for a while.
 *    A takeover that succeeds counts as well: an owner that is gone is never asked again, and one that takes
 *    the log back was alive. Two regions that are cut from each other would have it in turn for ever.
 * Q5 A count goes over the lease as it is, by compare-and-set; it changes nothing that a holder or the next
 *    one goes by (rule 16).
 */
import { type LogIncarnation, newTenure, newWriteToken, type Region, type WriteToken } from "../../ids.ts";
import type { Lease, OwnerSilence } from "../../lease.ts";
import { limits } from "../../limits.ts";
import type { VersionedLease, WriteAnswer } from "../../ports.ts";
import { within } from "../../waiting.ts";
import type { LeasePorts } from "../lease/writer-lease.ts";
import { ownerLimits } from "./owner-limits.ts";

/** Counts one more failure of `owner`. Never throws: a region without its lease table takes nothing over. */
export async function countFailure(ports: LeasePorts, log: LogIncarnation, owner: Region): Promise<void> {
  const failure = newWriteToken(ports.random);
  await change(ports, log, (lease) => {
    const before = current(ports, lease, owner);
    if (before?.recent.includes(failure)) return undefined; // Q1
    return { ...counted(before, owner, ports.clock.nowMs(), failure), ...remembered(lease, owner) };
  });
}

/** What outlives a count. */
function remembered(lease: Lease | undefined, owner: Region): Partial<OwnerSilence> {
  const before = lease?.ownerSilence;
  if (before?.region !== owner) return {};
  const { heardAtMs, lived } = before;
  return { heardAtMs, ...(lived === undefined ? {} : { lived }) };
}

/** A takeover from `owner` found it alive, or succeeded (Q4). Never throws. */
export async function countLived(ports: LeasePorts, log: LogIncarnation, owner: Region): Promise<void> {
  const nowMs = ports.clock.nowMs();
  const { ownerGuardMs, ownerGuardMsMax, ownerGuardGrowth } = limits;
  await change(ports, log, (lease) => {
    const before = lease?.ownerSilence?.region === owner ? lease.ownerSilence.lived : undefined;
    if (before !== undefined && isLeftAlone(before, nowMs)) return undefined; // Counted just now, by another.
    const isOneContest = before !== undefined && nowMs - before.aloneUntilMs < ownerGuardMsMax;
    const times = (isOneContest ? before.times : 0) + 1;
    const aloneUntilMs = nowMs + Math.min(ownerGuardMsMax, ownerGuardMs * ownerGuardGrowth ** times);
    const none = { failures: 0, firstAtMs: nowMs, lastAtMs: nowMs, recent: [], heardAtMs: nowMs };
    return { region: owner, ...none, lived: { times, aloneUntilMs } };
  });
}

/** Not by a clock that is far off (Q3). */
function isLeftAlone({ aloneUntilMs }: { readonly aloneUntilMs: number }, nowMs: number): boolean {
  return nowMs < aloneUntilMs && aloneUntilMs - nowMs <= limits.ownerGuardMsMax;
}

/** Takes note of an answer of `owner`, if failures were counted. Never throws. */
export async function countAnswer(ports: LeasePorts, log: LogIncarnation, owner: Region): Promise<void> {
  await wipe(ports, log, owner, () => ({ heardAtMs: ports.clock.nowMs() })); // Q2
}

/** Failures that were counted turned out to be the asker's own fault. Never throws. */
export async function countDenied(ports: LeasePorts, log: LogIncarnation, owner: Region): Promise<void> {
  await wipe(ports, log, owner, () => ({}));
}

async function wipe(
  ports: LeasePorts,
  log: LogIncarnation,
  owner: Region,
  more: () => Partial<OwnerSilence>,
): Promise<void> {
  await change(ports, log, (lease) => {
    const before = lease?.ownerSilence;
    if (before?.region !== owner || before.failures === 0) return undefined;
    return { ...before, failures: 0, recent: [], ...more() };
  });
}

/**
 * `silent`: enough failures over enough time, and no answer. `heard`: a process of this region was answered
 * just now. Throws if the lease table does not answer.
 */
export async function judgeSilence(
  ports: LeasePorts,
  log: LogIncarnation,
  owner: Region,
): Promise<"silent" | "heard" | "unsure"> {
  const found = await read(ports, log);
  const nowMs = ports.clock.nowMs();
  const stored = found?.lease.ownerSilence;
  const sinceAnswerMs = nowMs - (stored?.heardAtMs ?? 0);
  if (stored?.region === owner && sinceAnswerMs >= 0 && sinceAnswerMs < limits.ownerSilenceMs) return "heard";
  const lived = stored?.region === owner ? stored.lived : undefined;
  if (lived !== undefined && isLeftAlone(lived, nowMs)) return "heard";
  const silence = current(ports, found?.lease, owner);
  if (silence === undefined || silence.failures < limits.ownerFailuresMin) return "unsure";
  return nowMs - silence.firstAtMs >= limits.ownerSilenceMs ? "silent" : "unsure";
}

/** Q3. What was counted of this outage, if there is one. */
function current(ports: LeasePorts, lease: Lease | undefined, owner: Region): OwnerSilence | undefined {
  const silence = lease?.ownerSilence;
  if (silence?.region !== owner || silence.failures === 0) return undefined;
  const sinceMs = ports.clock.nowMs() - silence.lastAtMs;
  return sinceMs < -limits.leaseSkewMaxMs || sinceMs > limits.ownerFailureGapMaxMs ? undefined : silence;
}

function counted(
  before: OwnerSilence | undefined,
  region: Region,
  nowMs: number,
  failure: WriteToken,
): OwnerSilence {
  const recent = [...(before?.recent ?? []), failure].slice(-ownerLimits.ownerFailuresNamed);
  return {
    region,
    failures: (before?.failures ?? 0) + 1,
    firstAtMs: before?.firstAtMs ?? nowMs,
    lastAtMs: nowMs,
    recent,
    heardAtMs: before?.heardAtMs ?? 0,
  };
}

/** Undefined of `decide`: nothing is left to write. */
async function change(
  ports: LeasePorts,
  log: LogIncarnation,
  decide: (lease: Lease | undefined) => OwnerSilence | undefined,
): Promise<void> {
  for (let round = 0; round < limits.leaseRoundsMax; round++) {
    const found = await read(ports, log).catch(() => "silent" as const);
    if (found === "silent") return;
    const ownerSilence = decide(found?.lease);
    if (ownerSilence === undefined) return;
    const lease = { ...(found?.lease ?? neverHeld(ports)), ownerSilence };
    if ((await write(ports, log, found, lease))?.kind === "written") return;
  }
}

/** As good as no item: free, and not clean (20). */
function neverHeld(ports: LeasePorts): Lease {
  const tenure = newTenure(ports.random);
  return { tenure, holder: "", expiresAtMs: 0, clean: false, wanted: false, suspects: [] };
}

function read(ports: LeasePorts, log: LogIncarnation): Promise<VersionedLease | undefined> {
  return within(ports.clock, limits.leaseCallTimeoutMs, "lease read", () => ports.leases.read(log));
}

/** Undefined: no answer; the next round reads what became of it (Q1). */
async function write(
  ports: LeasePorts,
  log: LogIncarnation,
  found: VersionedLease | undefined,
  lease: Lease,
): Promise<WriteAnswer | undefined> {
  const token = newWriteToken(ports.random);
  try {
    return await within(ports.clock, limits.leaseCallTimeoutMs, "lease write", () =>
      ports.leases.write(log, found?.version ?? "absent", lease, token),
    );
  } catch {
    return undefined;
  }
}
