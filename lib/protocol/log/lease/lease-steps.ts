/**
 * The steps of the writer lease over its store (rules 16 to 20). A lease passes between processes of
 * one region; it saves recoveries, and nothing about safety rests on it or on clocks.
 *
 *     free or expired ──acquire──> held ──renew──> held ... ──release──> free, clean or not
 *
 * WL1 Every write is conditional on the version of an item just read or written; holder names are never
 *     compared (16). Renewals and releases go only over an item that names one's own tenure.
 * WL2 An acquire is clean only if its own write was answered "written" over a clean item. One whose reply was
 *     lost, and that turns out to be held, is not clean (18); neither is one over no item at all (20).
 * WL3 Each acquire draws a new tenure (20).
 * WL4 Waits are measured on the observer's own clock: an expiry further ahead than the longest lease counts
 *     as expired, and so does one that was watched for a whole lease without change.
 */
import { Age, type Clock } from "../../deadline.ts";
import { FencelineError, notReady } from "../../errors.ts";
import {
  type BookieId,
  type LogIncarnation,
  newTenure,
  newWriteToken,
  type Region,
  type Tenure,
  type WriteToken,
} from "../../ids.ts";
import type { Version } from "../../items.ts";
import type { Lease, LedgerTail, LogContest } from "../../lease.ts";
import { limits } from "../../limits.ts";
import type { LeaseStore, VersionedLease, WriteAnswer } from "../../ports.ts";
import { type Random, randomBelow } from "../../random.ts";
import { pause, withTimeout } from "../../waiting.ts";

export interface LeasePorts {
  readonly leases: LeaseStore;
  readonly clock: Clock;
  readonly random: Random;
}

/** A lease as its holder last wrote it, or read it with its own tenure in it. */
export interface HeldLease {
  readonly log: LogIncarnation;
  readonly lease: Lease;
  readonly version: Version;
}

export interface AcquiredLease {
  readonly kind: "acquired";
  readonly held: HeldLease;
  /** Where to go on in the same ledger (19). Absent: not clean, the last ledger is to be recovered. */
  readonly tail?: LedgerTail;
}

export type LeaseRefusal =
  /** The lease store does not answer: this region cannot own logs now. */
  | { readonly kind: "cannot-own"; readonly error: FencelineError }
  /** Another process held it for longer than `leaseWaitMs`: `not_ready`, with `retry_after_ms`. */
  | { readonly kind: "held"; readonly error: FencelineError };

/** Waits for the lease and takes it. Never throws. */
export async function acquireLease(
  ports: LeasePorts,
  log: LogIncarnation,
  holder: string,
): Promise<AcquiredLease | LeaseRefusal> {
  const { clock, random } = ports;
  const since = new Age(clock);
  const sent = new Set<WriteToken>();
  const watch = new LeaseWatch(clock);
  while (true) {
    let found: VersionedLease | undefined;
    try {
      found = await read(ports, log);
    } catch (error) {
      return { kind: "cannot-own", error: leasesSilent(log, error) };
    }
    // A write of this process whose reply was lost has taken effect (WL2).
    if (found !== undefined && sent.has(found.version.token)) {
      return { kind: "acquired", held: { log, ...found } };
    }
    if (found === undefined || watch.isFree(found.lease)) {
      const acquired = await take(ports, log, holder, found, sent);
      if (acquired !== undefined) return acquired;
    } else {
      await want(ports, log, found);
    }
    if (since.isOlder(limits.leaseWaitMs)) return { kind: "held", error: heldByAnother(log, found) };
    await pause(clock, limits.leasePollMs + randomBelow(random, limits.leasePollMs));
  }
}

export type Renewal =
  /** `held.lease.wanted` says whether somebody waits. */
  | { readonly kind: "kept"; readonly held: HeldLease }
  /** Another tenure is in the item. */
  | { readonly kind: "lost" }
  /** The store does not answer. The holder may go on: whoever took over has fenced it (2, 8). */
  | { readonly kind: "unknown" };

/** Prolongs one's own tenure, also one that expired and that nobody took. Never throws. */
export async function renewLease(
  ports: LeasePorts,
  held: HeldLease,
  suspects: readonly BookieId[],
): Promise<Renewal> {
  return await overwrite(ports, held, (lease) => ({ ...lease, expiresAtMs: expiry(ports.clock), suspects }));
}

/**
 * Prolongs one's own tenure, and notes that the log was taken from `region`, or that a takeover found that
 * region alive (OF7). Never throws.
 */
export async function renewContested(ports: LeasePorts, held: HeldLease, region: Region): Promise<Renewal> {
  const nowMs = ports.clock.nowMs();
  return await overwrite(ports, held, (lease) => {
    const before = contestWith(lease.contest, region);
    const contest = isLeftAlone(before, nowMs) ? before : nextContest(before, region, nowMs);
    return { ...lease, expiresAtMs: expiry(ports.clock), ...(contest === undefined ? {} : { contest }) };
  });
}

/**
 * Gives the lease up. With `tail`: clean, every add of this tenure was acknowledged (18). The caller adds
 * nothing more in this tenure once it has called this, whatever the answer (17). Never throws.
 */
export async function releaseLease(
  ports: LeasePorts,
  held: HeldLease,
  left: { readonly tail?: LedgerTail; readonly suspects: readonly BookieId[] },
): Promise<"released" | "lost" | "unknown"> {
  const { tail, suspects } = left;
  const answer = await overwrite(ports, held, (lease) => ({
    ...lease,
    expiresAtMs: 0,
    clean: tail !== undefined,
    wanted: false,
    ...(tail === undefined ? {} : { tail }),
    suspects,
  }));
  return answer.kind === "kept" ? "released" : answer.kind;
}

/** Resolves if the lease store answers, which owning a log takes; rejects if it does not. */
export async function checkLeases(ports: LeasePorts, log: LogIncarnation): Promise<void> {
  await read(ports, log);
}

/** WL4 */
class LeaseWatch {
  #seen: { readonly tenure: Tenure; readonly expiresAtMs: number; readonly since: Age } | undefined;

  constructor(private readonly clock: Clock) {}

  isFree({ tenure, expiresAtMs }: Lease): boolean {
    const leftMs = expiresAtMs - this.clock.nowMs();
    if (leftMs <= 0 || leftMs > limits.leaseTtlMs + limits.leaseSkewMaxMs) return true;
    if (this.#seen?.tenure !== tenure || this.#seen.expiresAtMs !== expiresAtMs) {
      this.#seen = { tenure, expiresAtMs, since: new Age(this.clock) };
    }
    return this.#seen.since.isOlder(limits.leaseTtlMs);
  }
}

/** One try to take a free lease. Undefined: a rival was quicker, or the reply was lost; look again. */
async function take(
  ports: LeasePorts,
  log: LogIncarnation,
  holder: string,
  found: VersionedLease | undefined,
  sent: Set<WriteToken>,
): Promise<AcquiredLease | undefined> {
  const before = found?.lease;
  const lease: Lease = {
    tenure: newTenure(ports.random), // WL3
    holder,
    expiresAtMs: expiry(ports.clock),
    clean: false,
    wanted: false,
    ...(before?.tail === undefined ? {} : { tail: before.tail }),
    suspects: before?.suspects ?? [],
    ...(before?.contest === undefined ? {} : { contest: before.contest }),
  };
  const token = newWriteToken(ports.random);
  sent.add(token);
  const answer = await write(ports, log, found?.version ?? "absent", lease, token);
  if (answer?.kind !== "written") return undefined;
  const held = { log, lease, version: answer.version };
  const tail = before?.clean === true ? before.tail : undefined;
  return { kind: "acquired", held, ...(tail === undefined ? {} : { tail }) };
}

/** Lets a long holder know that another process waits. Best effort. */
async function want(ports: LeasePorts, log: LogIncarnation, { lease, version }: VersionedLease) {
  if (lease.wanted) return;
  await write(ports, log, version, { ...lease, wanted: true }, newWriteToken(ports.random));
}

/** Writes over one's own tenure; a version changed by another process's `wanted` is read again (WL1). */
async function overwrite(
  ports: LeasePorts,
  held: HeldLease,
  change: (lease: Lease) => Lease,
): Promise<Renewal> {
  const { log } = held;
  const { tenure } = held.lease;
  const sent = new Set<WriteToken>();
  let current: VersionedLease = held;
  for (let round = 0; round < limits.leaseRoundsMax; round++) {
    const lease = change(current.lease);
    const token = newWriteToken(ports.random);
    sent.add(token);
    const answer = await write(ports, log, current.version, lease, token);
    if (answer?.kind === "written") return { kind: "kept", held: { log, lease, version: answer.version } };
    const found = await read(ports, log).catch(() => "silent" as const);
    if (found === "silent") return { kind: "unknown" };
    if (found?.lease.tenure !== tenure) return { kind: "lost" };
    if (sent.has(found.version.token)) return { kind: "kept", held: { log, ...found } };
    current = found;
  }
  return { kind: "unknown" };
}

const expiry = (clock: Clock): number => clock.nowMs() + limits.leaseTtlMs;

async function read(ports: LeasePorts, log: LogIncarnation): Promise<VersionedLease | undefined> {
  const once = () =>
    withTimeout(ports.clock, limits.leaseCallTimeoutMs, "lease read", () => ports.leases.read(log));
  return await once().catch(once);
}

/** Undefined: no answer; the write may have taken effect, or may yet. */
async function write(
  ports: LeasePorts,
  log: LogIncarnation,
  expected: Version | "absent",
  lease: Lease,
  token: WriteToken,
): Promise<WriteAnswer | undefined> {
  try {
    return await withTimeout(ports.clock, limits.leaseCallTimeoutMs, "lease write", () =>
      ports.leases.write(log, expected, lease, token),
    );
  } catch {
    return undefined;
  }
}

function leasesSilent(log: LogIncarnation, cause: unknown): FencelineError {
  return new FencelineError("region_unavailable", {
    message: `the writer lease of log ${log} could not be read: this region cannot own logs now`,
    sideEffects: "none",
    details: { cannot_own: true },
    cause,
  });
}

function heldByAnother(log: LogIncarnation, found: VersionedLease | undefined): FencelineError {
  const holder = found === undefined ? "" : ` (${found.lease.holder})`;
  const message = `log ${log}: another process of this region writes to it${holder}; try again`;
  return notReady(message, "waiting-for-lease", { details: { retry_after_ms: limits.leaseRenewAheadMs } });
}

export const contestWith = (contest: LogContest | undefined, region: Region): LogContest | undefined =>
  contest?.region === region ? contest : undefined;

/** Not by a clock that is far off (OF5). */
export const isLeftAlone = (contest: LogContest | undefined, nowMs: number): boolean =>
  contest !== undefined &&
  nowMs < contest.aloneUntilMs &&
  contest.aloneUntilMs - nowMs <= limits.ownerGuardMsMax;

function nextContest(before: LogContest | undefined, region: Region, nowMs: number): LogContest {
  const { ownerGuardMs, ownerGuardMsMax, ownerGuardGrowth } = limits;
  const isOneContest = before !== undefined && nowMs - before.aloneUntilMs < ownerGuardMsMax;
  const times = (isOneContest ? before.times : 0) + 1;
  const aloneMs = Math.min(ownerGuardMsMax, ownerGuardMs * ownerGuardGrowth ** times);
  return { region, times, aloneUntilMs: nowMs + aloneMs };
}
