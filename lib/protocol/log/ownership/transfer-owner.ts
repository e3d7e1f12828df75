/**
 * Moves the ownership of logs between regions: on request, and away from a region that is draining or cannot
 * own.
 *
 *     owner?  ──it is the target──> done
 *        │ here ──> appends wait, the lease is released, the target elects itself
 *        │ elsewhere ──> the owner is asked to hand over
 *        └─ nobody, silent, given up, cannot own ──> the target takes over
 *
 * OT1 What ends a transfer is what the last segment says, read consistently; everything else may be
 *     repeated.
 * OT2 While this process hands a log over, its own appends to it wait; then they follow the log. So it
 *     begins only when the target has just said that it can own: nothing waits for a region that is silent.
 * OT3 A process that froze on the way releases nothing and has no region elected when it thaws: what it was
 *     asked to do, or had found out, may be long over.
 *
 * Of a hand-over, which may run twice, and in several processes at once:
 *
 * OT4 The lease stays with the leaver until the election is over, so that no other process of its region
 *     opens a segment meanwhile. If one does all the same, or the election fails, the log stays where it is.
 *     Before, the ledger is closed cleanly (rule 9).
 * OT5 The next owner releases its lease cleanly: its first append goes on in the fresh ledger.
 */
import { BoundedMap } from "../../bounded-map.ts";
import { Age, type Clock, Deadline } from "../../deadline.ts";
import { FencelineError, notReady } from "../../errors.ts";
import type { LogIncarnation, Region } from "../../ids.ts";
import { LedgerWriter } from "../../ledger/ledger-writer.ts";
import { limits } from "../../limits.ts";
import { checkRegion, knownRegions } from "../../placement/registry.ts";
import { backoff, pause, withTimeout } from "../../waiting.ts";
import { ownerSilent } from "../appending/append-errors.ts";
import type { LogWriter } from "../appending/log-writer.ts";
import { ownershipOf } from "../chain/segments.ts";
import { WriterLease } from "../lease/writer-lease.ts";
import type { LogPorts, OwnerAnswer, OwnerRequest, TakeOverRequest } from "../log-ports.ts";
import type { LogRef } from "../log-ref.ts";
import { notOwnedHere } from "../opening/not-the-writer.ts";
import {
  boundedOpening,
  logSealed,
  type Opening,
  type OpenRequest,
  openSegment,
  type TakeoverPermit,
} from "../opening/open-segment.ts";
import { leftUntouched, type OpenedSegment } from "../opening/start-segment.ts";
import type { Ownership } from "../operations.ts";
import { isAccepting, type OwnerCalls } from "./owner-calls.ts";
import { ownerLimits } from "./owner-limits.ts";

/** How long a log may take to change its owner, from the arrival of the request on. */
export function transferDeadline(clock: Clock, logName: string): Deadline {
  const message = `log ${logName}: handing it over took too long; the log stays with its owner; try again`;
  return new Deadline(clock, ownerLimits.transferTimeoutMs, () => notReady(message, "transferring"));
}

/** Where a log goes, and until when. */
interface Move {
  readonly to: Region;
  readonly deadline: Deadline;
}

export class OwnerTransfer {
  /** When it last tried to be rid of a log; least recent first. */
  readonly #tried = new BoundedMap<LogIncarnation, Age>(limits.knownLogsMax);

  constructor(
    private readonly ports: LogPorts,
    private readonly calls: OwnerCalls,
  ) {}

  /** Throws as `AppendOperations.transferOwner` does. */
  async transfer(log: LogRef, writer: LogWriter, to: Region): Promise<Ownership> {
    this.#checkTarget(to);
    const deadline = transferDeadline(this.ports.clock, log.name);
    let reason: unknown;
    for (let attempt = 1; !deadline.isOver; attempt++) {
      const now = await ownershipOf(this.ports, log);
      if (now.owner === to) return now; // OT1
      this.calls.detector.noteOwner(log.incarnation, now.owner);
      try {
        await this.#step(log, writer, now, { to, deadline });
        continue;
      } catch (error) {
        if (!(error instanceof FencelineError) || !(error.retryable || error.code === "fenced")) throw error;
        reason = error;
      }
      await backoff(this.ports, Math.min(attempt, 4));
    }
    const story = `region ${to} did not become its owner in time; ask who owns it, try again`;
    throw notReady(`log ${log.name}: ${story}`, "transferring", { sideEffects: "possible", cause: reason });
  }

  /**
   * A region that should not own, or cannot, looks for another one that can. False: there is none, or it was
   * tried a moment ago; the log stays here.
   */
  async leave(log: LogRef, writer: LogWriter): Promise<boolean> {
    const { clock, topology, region } = this.ports;
    if (this.#tried.get(log.incarnation)?.isWithin(ownerLimits.handOverPauseMs) === true) return false;
    this.#tried.set(log.incarnation, new Age(this.ports.clock));
    const deadline = transferDeadline(clock, log.name);
    for (const other of knownRegions(topology)) {
      if (other === region || !isAccepting(this.ports, other)) continue;
      if ((await this.calls.canOwn(log.incarnation, other).catch(() => undefined)) !== true) continue;
      const left = await this.#leaveTo(log, writer, { to: other, deadline }).catch(() => undefined);
      if (left !== undefined) return true;
    }
    return false;
  }

  /** The owner's part, here. Throws `not_ready` before anything is released if `to` cannot own now (OT2). */
  async handOver(log: LogRef, writer: LogWriter, to: Region, deadline: Deadline): Promise<Ownership> {
    const canOwn = to === this.ports.region || (await this.calls.canOwn(log.incarnation, to)) === true;
    if (canOwn) return await this.#leaveTo(log, writer, { to, deadline });
    const story = `region ${to} does not say that it can own now; the log stays; try again`;
    throw notReady(`log ${log.name}: ${story}`, "transferring");
  }

  async #leaveTo(log: LogRef, writer: LogWriter, move: Move): Promise<Ownership> {
    await writer.stays(); // one at a time
    return await writer.leave(() => this.#handOver(log, writer, move));
  }

  async #handOver(log: LogRef, writer: LogWriter, { to, deadline }: Move): Promise<Ownership> {
    const { ports } = this;
    const elect = async () => {
      const now = await ownershipOf(ports, log);
      deadline.check(); // OT3
      return now.owner === ports.region ? await this.#elect(log, now, { to, deadline }) : now; // OT1
    };
    deadline.check();
    await this.#releaseLease(log, writer);
    return await handOver(ports, log, elect);
  }

  /**
   * What came before is answered under the lease, and then that is released: new appends wait (OT2), so this
   * ends. If it does not end in time the lease stays, and no attempt to release it goes on.
   */
  async #releaseLease({ name }: LogRef, writer: LogWriter): Promise<void> {
    const { clock } = this.ports;
    const deadline = new Deadline(clock, limits.leaseWaitMs, () => stillWriting(name));
    do {
      for (; !writer.isIdle; await pause(clock, limits.leasePollMs)) deadline.check();
      await withTimeout(clock, limits.leaseWaitMs, `releasing the lease of log ${name}`, () =>
        writer.release(),
      );
    } while (!writer.isIdle);
  }

  async #step(log: LogRef, writer: LogWriter, now: Ownership, move: Move): Promise<void> {
    const { owner } = now;
    const { to, deadline } = move;
    if (owner === undefined) return void (await this.#elect(log, now, move));
    if (owner === this.ports.region) return void (await this.handOver(log, writer, to, deadline));
    const isGone = this.calls.isGivenUp(owner, to) || (await this.calls.isSilent(log.incarnation, owner));
    const canOwn = isGone ? false : await this.calls.canOwn(log.incarnation, owner);
    if (canOwn === false) return void (await this.#elect(log, now, move));
    if (canOwn === undefined) throw ownerSilent(log.name, owner); // After a few of these it is.
    const request = { kind: "hand-over", log: log.name, to } as const;
    checkDone(await this.#ask(log, owner, request));
  }

  /** The next owner's part, here or there. */
  async #elect(log: LogRef, { owner: from, epoch }: Ownership, { to, deadline }: Move): Promise<Ownership> {
    const permit = from === undefined ? undefined : { from, deadline };
    if (to === this.ports.region) return await takeOver(this.ports, log, permit);
    const request: TakeOverRequest = {
      kind: "take-over",
      log: log.name,
      ...(from === undefined ? {} : { from }),
      ...(epoch === undefined ? {} : { epoch }),
    };
    return checkDone(await this.#ask(log, to, request)) ?? {};
  }

  #ask(log: LogRef, region: Region, request: OwnerRequest): Promise<OwnerAnswer> {
    return this.calls.request(log, region, request, ownerLimits.transferTimeoutMs / 2);
  }

  #checkTarget(to: Region): void {
    checkRegion(this.ports.topology, to);
    if (isAccepting(this.ports, to)) return;
    throw new FencelineError("region_not_accepting", {
      message: `region ${to} is not accepting, so it takes no logs; accept it first, or name another one`,
    });
  }
}

function stillWriting(logName: string): FencelineError {
  const story = "appends under way take too long; the log stays with its owner";
  return notReady(`log ${logName}: ${story}; try again`, "transferring");
}

function checkDone(answer: OwnerAnswer): Ownership | undefined {
  if (answer.kind === "refused") throw answer.error;
  return answer.ownership;
}

/**
 * The owner's part of a hand-over. This process has released the lease before. Throws what the lease, and
 * `elect`, throw. A ledger that could not be closed here is recovered by the next owner, and so is one whose
 * region is without its lease table.
 */
async function handOver(ports: LogPorts, log: LogRef, elect: () => Promise<Ownership>): Promise<Ownership> {
  const lease = new WriterLease(ports, log);
  const barred = await lease.enter();
  if (barred?.kind === "held") throw barred.error;
  if (barred !== undefined) return await elect();
  try {
    const left = await lease.resume();
    if (left !== undefined) await closeCleanly(ports, left, lease);
    return await elect(); // OT4
  } finally {
    await lease.release();
  }
}

async function closeCleanly(ports: LogPorts, left: OpenedSegment, lease: WriterLease): Promise<void> {
  try {
    await new LedgerWriter(ports, left.ledger, lease.startOf(left)).close();
  } catch (error) {
    if (!(error instanceof FencelineError)) throw error;
  }
}

/**
 * The next owner's part. A process that was frozen past the permit's deadline takes nothing from an owner
 * that goes on. Throws what the lease and openings throw, `not_owner` and `log_sealed`.
 */
export async function takeOver(
  ports: LogPorts,
  log: LogRef,
  permit: TakeoverPermit | undefined,
): Promise<Ownership> {
  const lease = new WriterLease(ports, log);
  const barred = await lease.enter();
  if (barred !== undefined) throw barred.error;
  let left: OpenedSegment | undefined;
  try {
    const open = async (request: OpenRequest): Promise<Opening> => {
      const segment = await lease.resume();
      return segment === undefined ? await openSegment(ports, log, request) : { kind: "opened", segment };
    };
    const allowed = { avoid: new Set(lease.suspects), permit };
    const opening = await boundedOpening(ports, `taking over log ${log.name}`, allowed, open);
    if (opening.kind === "sealed") throw logSealed(log, opening.tail);
    if (opening.kind === "not-owner") throw notOwnedHere(log.name, opening.owner);
    left = opening.segment;
    return { owner: ports.region, epoch: left.item.number };
  } finally {
    await lease.release(left === undefined ? undefined : leftUntouched(left)); // OT5
  }
}
