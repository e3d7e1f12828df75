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
  type LedgerId,
  type LogIncarnation,
  newLeaseBirth,
  newTenure,
  newWriteToken,
  type Region,
  type Tenure,
  type WriteToken,
} from "../../ids.ts";
import type { Version } from "../../items.ts";
import type { Lease, LedgerTail, LogContest, OwedLedger } from "../../lease.ts";
import { limits } from "../../limits.ts";
import type { LeaseStore, VersionedLease, WriteAnswer } from "../../ports.ts";
import { type Random, randomBelow } from "../../random.ts";
import { pause, withTimeout } from "../../waiting.ts";

export interface LeasePorts {
  readonly leases: LeaseStore;
  readonly clock: Clock;
  readonly random: Random;
}

/** The lease's part of a process's ports. */
export function leasePorts(
  { clock, random }: Pick<LeasePorts, "clock" | "random">,
  { store }: { readonly store: LeaseStore },
): LeasePorts {
  return { leases: store, clock, random };
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

/** Another process holds the lease and serves the log's inbox, as a read that began at `since` says. */
export interface ServedElsewhere {
  readonly kind: "served";
  readonly found: VersionedLease;
  readonly since: Age;
}

/** Whether the tenure that the item names is listed, so that appends may be posted to it (36). */
export function isServed({ birth, tenure, owed }: Lease): boolean {
  return birth !== undefined && owed.some((ledger) => ledger.tenure === tenure);
}

/** By this process's clock, which may be wrong. */
export const isExpired = (clock: Clock, { expiresAtMs }: Lease): boolean => expiresAtMs <= clock.nowMs();

/**
 * Waits for the lease and takes it; with `mayPost` not while its holder serves the log's inbox. Never throws.
 */
export async function acquireLease(
  ports: LeasePorts,
  log: LogIncarnation,
  holder: string,
  mayPost: boolean,
): Promise<AcquiredLease | LeaseRefusal | ServedElsewhere> {
  const { clock, random } = ports;
  const since = new Age(clock);
  const sent = new Set<WriteToken>();
  const watch = new LeaseWatch(clock);
  while (true) {
    let found: VersionedLease | undefined;
    const readAt = new Age(clock);
    try {
      found = await readLease(ports, log);
    } catch (error) {
      return { kind: "cannot-own", error: leasesSilent(log, error) };
    }
    // A write of this process whose reply was lost has taken effect (WL2).
    if (found !== undefined && sent.has(found.version.token)) {
      return { kind: "acquired", held: { log, ...found } };
    }
    if (found === undefined || watch.isFree(found.lease)) {
      const acquired = await takeLease(ports, log, holder, found, sent);
      if (acquired !== undefined) return acquired;
    } else if (mayPost && isServed(found.lease)) {
      return { kind: "served", found, since: readAt };
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
  /** The store does not answer. The holder may go on: a writer that took over has fenced it (2, 8). */
  | { readonly kind: "unknown" };

/**
 * Prolongs one's own tenure, also one that expired and that nobody took. `floor`: every ticket of the tenure
 * up to this revision is answered, and none is taken any more (38). Never throws.
 */
export async function renewLease(
  ports: LeasePorts,
  held: HeldLease,
  suspects: readonly BookieId[],
  floor?: number,
): Promise<Renewal> {
  const keptAtMs = ports.clock.nowMs();
  return await overwrite(ports, held, (lease) => ({
    ...lease,
    expiresAtMs: expiry(ports.clock),
    suspects,
    owed: lease.owed.map((owed) => (owed.tenure === lease.tenure ? { ...owed, keptAtMs } : owed)),
    ...(floor === undefined ? {} : { floor }),
  }));
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

/** Lists a ledger of one's own tenure: tickets may be sent to it once this is "kept" (37a). Never throws. */
export async function listOwed(ports: LeasePorts, held: HeldLease, ledgerId: LedgerId): Promise<Renewal> {
  const owed = { tenure: held.lease.tenure, ledgerId, keptAtMs: ports.clock.nowMs() };
  return await overwrite(ports, held, (lease) => {
    const others = lease.owed.filter(({ tenure }) => tenure !== owed.tenure);
    return { ...lease, owed: [...others, owed] };
  });
}

/** Takes a decided ledger off the list, whatever tenure the item names (40). Never throws. */
export async function dropOwed(ports: LeasePorts, log: LogIncarnation, owed: OwedLedger): Promise<Renewal> {
  const found = await readLease(ports, log).catch(() => "silent" as const);
  if (found === "silent") return { kind: "unknown" };
  if (found === undefined) return { kind: "lost" };
  const isIt = ({ tenure, ledgerId }: OwedLedger) => tenure === owed.tenure && ledgerId === owed.ledgerId;
  return await rewrite(ports, log, found, (lease) =>
    lease.owed.some(isIt) ? { ...lease, owed: lease.owed.filter((one) => !isIt(one)) } : undefined,
  );
}

/**
 * Gives the lease up. With `tail`: clean, every add of this tenure was acknowledged (18). The caller adds
 * nothing more in this tenure once it has called this, whatever the answer (17). Never throws.
 */
export async function releaseLease(
  ports: LeasePorts,
  held: HeldLease,
  left: {
    readonly tail?: LedgerTail;
    readonly suspects: readonly BookieId[];
    /** Each ticket that was sent or refused in this tenure is answered (38). */
    readonly isAnswered?: boolean;
  },
): Promise<"released" | "lost" | "unknown"> {
  const { tail, suspects, isAnswered = false } = left;
  const answer = await overwrite(ports, held, (lease) => ({
    ...lease,
    expiresAtMs: 0,
    clean: tail !== undefined,
    wanted: false,
    ...(tail === undefined ? {} : { tail }),
    suspects,
    owed: isAnswered ? lease.owed.filter(({ tenure }) => tenure !== lease.tenure) : lease.owed,
  }));
  return answer.kind === "kept" ? "released" : answer.kind;
}

/** Resolves if the lease store answers, which owning a log takes; rejects if it does not. */
export async function checkLeases(ports: LeasePorts, log: LogIncarnation): Promise<void> {
  await readLease(ports, log);
}

/** WL4 */
export class LeaseWatch {
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
export async function takeLease(
  ports: LeasePorts,
  log: LogIncarnation,
  holder: string,
  found: VersionedLease | undefined,
  sent: Set<WriteToken> = new Set(),
): Promise<AcquiredLease | undefined> {
  const before = found?.lease;
  const lease: Lease = born(ports, {
    ...(before?.birth === undefined ? {} : { birth: before.birth }),
    tenure: newTenure(ports.random), // WL3
    holder,
    expiresAtMs: expiry(ports.clock),
    clean: false,
    wanted: false,
    ...(before?.tail === undefined ? {} : { tail: before.tail }),
    suspects: before?.suspects ?? [],
    ...(before?.contest === undefined ? {} : { contest: before.contest }),
    owed: before?.owed ?? [],
  });
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
  await write(ports, log, version, born(ports, { ...lease, wanted: true }), newWriteToken(ports.random));
}

/** Every write of the item gives it a birth if it has none, and copies the one that it has. */
function born({ random }: LeasePorts, lease: Lease): Lease {
  return lease.birth === undefined ? { ...lease, birth: newLeaseBirth(random) } : lease;
}

/** Writes over one's own tenure; a version changed by another process's `wanted` is read again (WL1). */
async function overwrite(
  ports: LeasePorts,
  held: HeldLease,
  change: (lease: Lease) => Lease,
): Promise<Renewal> {
  const { tenure } = held.lease;
  return await rewrite(ports, held.log, held, (lease) =>
    lease.tenure === tenure ? change(lease) : undefined,
  );
}

/** Writes over the item as long as `change` says with what; "lost" once it does not, or there is no item. */
async function rewrite(
  ports: LeasePorts,
  log: LogIncarnation,
  known: VersionedLease,
  change: (lease: Lease) => Lease | undefined,
): Promise<Renewal> {
  const sent = new Set<WriteToken>();
  let current: VersionedLease | undefined = known;
  for (let round = 0; round < limits.leaseRoundsMax; round++) {
    const changed = current && change(current.lease);
    if (current === undefined || changed === undefined) return { kind: "lost" };
    const lease = born(ports, changed);
    const token = newWriteToken(ports.random);
    sent.add(token);
    const answer = await write(ports, log, current.version, lease, token);
    if (answer?.kind === "written") return { kind: "kept", held: { log, lease, version: answer.version } };
    const found = await readLease(ports, log).catch(() => "silent" as const);
    if (found === "silent") return { kind: "unknown" };
    if (found !== undefined && sent.has(found.version.token))
      return { kind: "kept", held: { log, ...found } };
    current = found;
  }
  return { kind: "unknown" };
}

const expiry = (clock: Clock): number => clock.nowMs() + limits.leaseTtlMs;

/** Consistent, and tried twice. Throws what the store throws. */
export async function readLease(ports: LeasePorts, log: LogIncarnation): Promise<VersionedLease | undefined> {
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
