/**
 * Moves the ownership of logs between regions: on request, and away from a region that is draining or cannot
 * own.
 *
 *     owner?  ──it is the target──> done
 *        │ here ──> appends wait, the pen is laid down, the target elects itself
 *        │ elsewhere ──> the owner is asked to hand over
 *        └─ nobody, silent, given up, cannot own ──> the target takes over
 *
 * K1 What ends a transfer is what the last segment says, read consistently; everything else may be repeated.
 * K2 While this process hands a log over, its own appends to it wait; then they follow the log. So it begins
 *    only when the target has just said that it can own: nothing waits for a region that is silent.
 * K3 A process that froze on the way lays nothing down and has nobody elected when it thaws: what it was told
 *    to do, or had found out, may be long over.
 */
import { FencelineError } from "../../errors.ts";
import type { LogIncarnation, Region } from "../../ids.ts";
import { limits } from "../../limits.ts";
import { isWithin, type Moment, momentNow } from "../../moment.ts";
import { checkRegion, knownRegions } from "../../placement/known-region.ts";
import { backoff, pause, within } from "../../waiting.ts";
import { ownerSilent } from "../appending/append-errors.ts";
import type { LogWriter } from "../appending/log-writer.ts";
import { ownershipOf } from "../chain/ownership-of.ts";
import type { LogIdentity } from "../log-identity.ts";
import type { LogPorts, OwnerAnswer, OwnerRequest, TakeOverRequest } from "../log-ports.ts";
import { TakeoverPermit } from "../opening/takeover-permit.ts";
import type { Ownership } from "../operations.ts";
import { handOver, takeOver } from "./hand-over.ts";
import type { OwnerCalls } from "./owner-calls.ts";
import { ownerLimits } from "./owner-limits.ts";

export class OwnerTransfer {
  /** Logs that this process is handing over (K2). */
  readonly #leaving = new Map<LogIncarnation, Promise<unknown>>();
  /** When it last tried to be rid of a log; least recent first. */
  readonly #triedAtMs = new Map<LogIncarnation, number>();

  constructor(
    private readonly ports: LogPorts,
    private readonly calls: OwnerCalls,
  ) {}

  /** Resolves once this process is not handing the log over; whoever looks again then may write to it. */
  async settled({ log }: LogIdentity): Promise<void> {
    for (let under = this.#leaving.get(log); under !== undefined; under = this.#leaving.get(log)) {
      await under.catch(() => {});
    }
  }

  isLeaving({ log }: LogIdentity): boolean {
    return this.#leaving.has(log);
  }

  /** Throws as `AppendOperations.transferOwner` does. */
  async transfer(log: LogIdentity, writer: LogWriter, to: Region): Promise<Ownership> {
    this.#checkTarget(to);
    const begun = momentNow(this.ports.clock);
    let reason: unknown;
    for (let attempt = 1; this.#isInTime(begun); attempt++) {
      const now = await ownershipOf(this.ports, log);
      if (now.owner === to) return now; // K1
      this.calls.noteOwner(log.log, now.owner);
      try {
        await this.#step(log, writer, now, to);
        continue;
      } catch (error) {
        if (!(error instanceof FencelineError) || !(error.retryable || error.code === "fenced")) throw error;
        reason = error;
      }
      await backoff(this.ports, Math.min(attempt, 4));
    }
    throw new FencelineError("not_ready", {
      message: `log ${log.name}: region ${to} did not become its owner in time; ask who owns it, try again`,
      sideEffects: "possible",
      details: { phase: "transferring" },
      cause: reason,
    });
  }

  /**
   * A region that should not own, or cannot, looks for another one that can. False: there is none, or it was
   * tried a moment ago; the log stays here.
   */
  async leave(log: LogIdentity, writer: LogWriter): Promise<boolean> {
    const { clock, topology, region } = this.ports;
    const nowMs = clock.monotonicMs();
    if (nowMs - (this.#triedAtMs.get(log.log) ?? Number.NEGATIVE_INFINITY) < ownerLimits.handOverPauseMs)
      return false;
    this.#noteTry(log.log, nowMs);
    const begun = momentNow(clock);
    for (const other of knownRegions(topology)) {
      if (other === region || !this.calls.isAccepting(other)) continue;
      if ((await this.calls.canOwn(log.log, other).catch(() => undefined)) !== true) continue;
      const left = this.#leaveTo(log, writer, other, begun);
      const moved = await left.then(
        () => true,
        () => false,
      );
      if (moved) return true;
    }
    return false;
  }

  /** The owner's part, here. Throws `not_ready` before anything is laid down if `to` cannot own now (K2). */
  async handOver(log: LogIdentity, writer: LogWriter, to: Region): Promise<Ownership> {
    const begun = momentNow(this.ports.clock);
    const canOwn = to === this.ports.region || (await this.calls.canOwn(log.log, to)) === true;
    if (canOwn) return await this.#leaveTo(log, writer, to, begun);
    throw new FencelineError("not_ready", {
      message: `log ${log.name}: region ${to} does not say that it can own now; the log stays; try again`,
      details: { phase: "transferring" },
    });
  }

  #isInTime(begun: Moment): boolean {
    return isWithin(this.ports.clock, begun, ownerLimits.transferTimeoutMs);
  }

  async #leaveTo(log: LogIdentity, writer: LogWriter, to: Region, begun: Moment): Promise<Ownership> {
    while (this.isLeaving(log)) await this.settled(log); // one at a time
    const leaving = this.#handOver(log, writer, to, begun).finally(() => {
      if (this.#leaving.get(log.log) === leaving) this.#leaving.delete(log.log);
    });
    this.#leaving.set(log.log, leaving);
    return await leaving;
  }

  async #handOver(log: LogIdentity, writer: LogWriter, to: Region, begun: Moment): Promise<Ownership> {
    const { ports } = this;
    const checkTime = () => {
      if (!this.#isInTime(begun)) throw tookTooLong(log.name); // K3
    };
    const elect = async () => {
      const now = await ownershipOf(ports, log);
      checkTime();
      return now.owner === ports.region ? await this.#elect(log, to, now) : now; // K1
    };
    checkTime();
    await this.#layDown(log, writer);
    try {
      return await handOver(ports, log, elect);
    } catch (error) {
      // Without its lease table it cannot lay the pen down: the next owner recovers.
      if (error instanceof FencelineError && error.details.cannot_own === true) return await elect();
      throw error;
    }
  }

  /**
   * What came before is answered, with the pen in hand, and then that is laid down: new appends wait (K2), so
   * this ends. Not in time: the pen stays, and nobody goes on trying to lay it down.
   */
  async #layDown(log: LogIdentity, writer: LogWriter): Promise<void> {
    const { clock } = this.ports;
    const giveUpAtMs = clock.monotonicMs() + limits.leaseWaitMs;
    do {
      while (!writer.isIdle) {
        if (clock.monotonicMs() >= giveUpAtMs) throw stillWriting(log.name);
        await pause(clock, limits.leasePollMs);
      }
      await within(clock, limits.leaseWaitMs, `laying down the pen of log ${log.name}`, () =>
        writer.release(),
      );
    } while (!writer.isIdle);
  }

  async #step(log: LogIdentity, writer: LogWriter, now: Ownership, to: Region): Promise<void> {
    const { owner } = now;
    if (owner === undefined) return void (await this.#elect(log, to, now));
    if (owner === this.ports.region) return void (await this.handOver(log, writer, to));
    const isGone = this.calls.isGivenUp(owner, to) || (await this.calls.isSilent(log.log, owner));
    const canOwn = isGone ? false : await this.calls.canOwn(log.log, owner);
    if (canOwn === false) return void (await this.#elect(log, to, now));
    if (canOwn === undefined) throw ownerSilent(log.name, owner); // After a few of these it is.
    const request = { kind: "hand-over", log: log.name, to } as const;
    checkDone(await this.#ask(log, owner, request));
  }

  /** The next owner's part, here or there. */
  async #elect(log: LogIdentity, to: Region, { owner: from, epoch }: Ownership): Promise<Ownership> {
    if (to === this.ports.region)
      return await takeOver(this.ports, log, new TakeoverPermit(this.ports.clock, from));
    const request: TakeOverRequest = {
      kind: "take-over",
      log: log.name,
      ...(from === undefined ? {} : { from }),
      ...(epoch === undefined ? {} : { epoch }),
    };
    return checkDone(await this.#ask(log, to, request)) ?? {};
  }

  #ask(log: LogIdentity, region: Region, request: OwnerRequest): Promise<OwnerAnswer> {
    return this.calls.request(log, region, request, ownerLimits.transferTimeoutMs / 2);
  }

  #checkTarget(to: Region): void {
    checkRegion(this.ports.topology, to);
    if (this.calls.isAccepting(to)) return;
    throw new FencelineError("invalid_request", {
      message: `region ${to} is not accepting, so it takes no logs; accept it first, or name another one`,
    });
  }

  #noteTry(log: LogIncarnation, nowMs: number): void {
    this.#triedAtMs.delete(log);
    this.#triedAtMs.set(log, nowMs);
    const oldest = this.#triedAtMs.keys().next().value;
    if (this.#triedAtMs.size > limits.knownLogsMax && oldest !== undefined) this.#triedAtMs.delete(oldest);
  }
}

function stillWriting(logName: string): FencelineError {
  return new FencelineError("not_ready", {
    message: `log ${logName}: appends under way take too long; the log stays with its owner; try again`,
    details: { phase: "transferring" },
  });
}

function tookTooLong(logName: string): FencelineError {
  return new FencelineError("not_ready", {
    message: `log ${logName}: handing it over took too long; the log stays with its owner; try again`,
    details: { phase: "transferring" },
  });
}

function checkDone(answer: OwnerAnswer): Ownership | undefined {
  if (answer.kind === "refused") throw answer.error;
  return answer.ownership;
}
