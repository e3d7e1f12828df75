/**
 * Where an append is written: by this region's writer if the region owns the log, by the owner's otherwise.
 *
 *     owner? ──here, or nobody──> local writer ──not-owner──> owner?
 *       │ another region
 *       ├─ draining, lost, cannot own, silent ──> takeover by the local writer
 *       └─ forward once ──> acknowledged, or the owner's own error
 *                └─ not-owner ──> one consistent read, then as above
 *
 * APR1 A forwarded append is served or refused where it arrives, never forwarded again: so is one that
 *      prefers no forwarding.
 * APR2 A plain append that may have been delivered is not sent anywhere else: it is answered with
 *      unknown_outcome. One with a sender is tried again, since at most one copy of it counts; what is not
 *      an acknowledgement then is answered with unknown_outcome all the same, unless the log is sealed and
 *      rules the batch out. A region that was not heard of lately is asked before an append goes there,
 *      which changes nothing. If it falls silent meanwhile the answer comes then, not when time is up.
 * APR3 A takeover names the owner that it takes the log from; the opening reads the last segment
 *      consistently and refuses if that is another's.
 * APR4 A region that is draining, or whose lease table is down, hands its logs over as they are appended to.
 * APR5 A call that this region may not make ends the append with that error. It is no evidence: a fault of
 *      the asker's takes no log away from anybody.
 */
import { unreachable } from "../../assert.ts";
import { Age, type Deadline } from "../../deadline.ts";
import { CallDenied, type FencelineError, notReady, sideEffectsOf } from "../../errors.ts";
import type { LogIncarnation, Region } from "../../ids.ts";
import { limits } from "../../limits.ts";
import { randomBelow } from "../../random.ts";
import { pause } from "../../waiting.ts";
import { forwardedUnknown, ownerSilent } from "../appending/append-errors.ts";
import { LogWriter } from "../appending/log-writer.ts";
import { lastItem } from "../chain/segments.ts";
import { type AppendAnswer, answerOf, failed, type LogPorts } from "../log-ports.ts";
import type { LogRef } from "../log-ref.ts";
import type { TakeoverPermit } from "../opening/open-segment.ts";
import type { AppendRequest, Ownership } from "../operations.ts";
import { isAccepting, OwnerCalls } from "./owner-calls.ts";
import { OwnerFailureDetector } from "./owner-failure-detector.ts";
import { ownerLimits } from "./owner-limits.ts";
import { OwnerTransfer } from "./transfer-owner.ts";

/** One append on its way. */
interface Routed {
  readonly log: LogRef;
  readonly request: AppendRequest;
  readonly writer: LogWriter;
  readonly deadline: Deadline;
  /** Set once it may have been delivered: what the caller gets unless it is acknowledged (APR2). */
  doubt?: FencelineError;
}

/** What it takes to reach other regions. */
interface Elsewhere {
  readonly calls: OwnerCalls;
  readonly transfer: OwnerTransfer;
}

/** Undefined: look again who the owner is. */
type Step = AppendAnswer | undefined;

export class AppendRouter {
  readonly #detector: OwnerFailureDetector;
  /** Kept warm, by incarnation: a name that is created again never meets its former life's (rule 35). */
  readonly #writers = new Map<LogIncarnation, LogWriter>();
  /** When each was asked for last. */
  readonly #used = new Map<LogIncarnation, Age>();
  /** Undefined: nothing is forwarded, and nothing handed over. */
  readonly #elsewhere: Elsewhere | undefined;

  constructor(private readonly ports: LogPorts) {
    const { regions } = ports;
    this.#detector = new OwnerFailureDetector(ports);
    if (regions === undefined) return;
    const calls = new OwnerCalls(ports, regions, this.#detector);
    this.#elsewhere = { calls, transfer: new OwnerTransfer(ports, calls) };
  }

  /** The log's writer; a new one if there is none. */
  writerOf(log: LogRef): LogWriter {
    const writer = this.#writers.get(log.incarnation) ?? new LogWriter(this.ports, log);
    // Least recently used first.
    this.#writers.delete(log.incarnation);
    this.#writers.set(log.incarnation, writer);
    this.#used.set(log.incarnation, new Age(this.ports.clock));
    this.#dropIdle();
    return writer;
  }

  /** The log's writer if this process has one. */
  findWriter(log: LogRef): LogWriter | undefined {
    return this.#writers.get(log.incarnation);
  }

  /**
   * Every writer releases its lease; the writers stay, and acquire it again on use. Other processes of the
   * region can then know what owners answered.
   */
  async release(): Promise<void> {
    const released = [...this.#writers.values()].map((writer) => writer.release());
    await Promise.all([...released, this.#detector.flush()]);
  }

  /** The same for writers that were not asked for in so long a time. */
  async releaseIdle(idleMs: number): Promise<void> {
    const idle = [...this.#writers].filter(
      ([log, writer]) => writer.isIdle && this.#used.get(log)?.isOlder(idleMs) === true,
    );
    await Promise.all(idle.map(([, writer]) => writer.release()));
  }

  /** A dropped writer releases its lease. Without leases its ledger stays open: the next one recovers it. */
  #dropIdle(): void {
    for (const [log, writer] of this.#writers) {
      if (this.#writers.size <= limits.warmWritersMax) return;
      if (!writer.isIdle || writer.isLeaving) continue;
      this.#writers.delete(log);
      this.#used.delete(log);
      void writer.release();
    }
  }

  /** Nothing is sent, fenced or moved once `deadline` is over. Never rejects. */
  async append(log: LogRef, request: AppendRequest, deadline: Deadline): Promise<AppendAnswer> {
    const elsewhere = this.#elsewhere;
    const writer = this.writerOf(log);
    const routed: Routed = { log, request, writer, deadline };
    const answer = elsewhere === undefined ? this.#write(routed) : this.#untilAnswered(routed, elsewhere);
    const given = await answer.catch(failed);
    if (routed.doubt === undefined || given.kind === "acknowledged") return given;
    return given.kind === "failed" && given.ruledOut ? given : failed(routed.doubt);
  }

  async #untilAnswered(routed: Routed, elsewhere: Elsewhere): Promise<AppendAnswer> {
    const { log, request, writer, deadline } = routed;
    const { region } = this.ports;
    const lookUp = () => deadline.ask(() => this.#lookUp(log));
    let owner = writer.isWarm ? region : (this.#detector.ownerOf(log.incarnation) ?? (await lookUp()));
    while (!deadline.isOver) {
      const isHere = owner === undefined || owner === region;
      const step = isHere
        ? await this.#own(routed, elsewhere)
        : await this.#there(routed, elsewhere, owner as Region);
      if (step !== undefined) return step;
      owner = await lookUp();
      if (request.route === "refuse" && owner !== undefined && owner !== region) {
        return { kind: "not-owner", owner, alive: false };
      }
    }
    return failed(ownerSilent(log.name, owner ?? region));
  }

  /** Throws as `AppendOperations.transferOwner` does. */
  async transfer(log: LogRef, to: Region): Promise<Ownership> {
    return await this.#transferOf(log).transfer(log, this.writerOf(log), to);
  }

  /** The owner's part of a transfer. Throws as `OwnerTransfer.handOver` does. */
  async handOver(log: LogRef, to: Region, deadline: Deadline): Promise<Ownership> {
    return await this.#transferOf(log).handOver(log, this.writerOf(log), to, deadline);
  }

  #transferOf({ name }: LogRef): OwnerTransfer {
    if (this.#elsewhere !== undefined) return this.#elsewhere.transfer;
    throw notReady(`log ${name}: this region reaches no other one, so no log can change its owner`);
  }

  /** Rule 14, by the owner in another region. False: there is none, it is silent, or it failed. */
  async isSettledByOwner(log: LogRef): Promise<boolean> {
    if (this.#elsewhere === undefined) return false;
    const owner = await this.#lookUp(log);
    if (owner === undefined || owner === this.ports.region) return false;
    const { calls } = this.#elsewhere;
    if (calls.isGivenUp(owner) || (await calls.isSilent(log.incarnation, owner))) return false;
    try {
      const request = { kind: "settle", log: log.name } as const;
      return (await calls.request(log, owner, request, ownerLimits.settleWaitMs)).kind === "done";
    } catch (error) {
      if (error instanceof CallDenied) throw error; // The owner may be well: its ledger is left alone.
      return false;
    }
  }

  /** Read consistently, and remembered. */
  async #lookUp(log: LogRef): Promise<Region | undefined> {
    const last = await lastItem(this.ports.metadata, log.incarnation, "consistent");
    const owner = last?.kind === "segment" ? last.item.ownerRegion : undefined;
    this.#detector.noteOwner(log.incarnation, owner);
    return owner;
  }

  /** By this region's writer, unless the region should not own the log, or cannot (APR4). */
  async #own(routed: Routed, { transfer }: Elsewhere): Promise<Step> {
    const { log, request, writer, deadline } = routed;
    const leave = () => deadline.ask(() => transfer.leave(log, writer));
    if (!isAccepting(this.ports, this.ports.region) && (await leave())) return undefined;
    if (writer.isLeaving) {
      await deadline.ask(() => writer.stays());
      return undefined;
    }
    const answer = await this.#write(routed);
    switch (answer.kind) {
      case "not-owner":
        return undefined;
      case "cannot-own":
        return request.route !== "refuse" && (await leave()) ? undefined : answer;
      case "acknowledged":
      case "failed":
        return answer;
      default:
        return unreachable(answer);
    }
  }

  /** By this region's writer. `permit`: the owner that it may take the log over from (APR3). */
  async #write({ log, request, writer, deadline }: Routed, permit?: TakeoverPermit): Promise<AppendAnswer> {
    deadline.check();
    const { isWarm } = writer;
    const answer = await writer.append(request, deadline, permit);
    if (answer.kind === "acknowledged" && !isWarm)
      this.#detector.noteOwner(log.incarnation, answer.ack.ownerRegion);
    return answer;
  }

  /** By this region's writer, which takes the log over from `owner`. */
  async #take(routed: Routed, owner: Region, isOnSilence = false): Promise<Step> {
    const { deadline } = routed;
    const answer = await this.#write(routed, { from: owner, deadline, isOnSilence });
    if (answer.kind !== "not-owner") return answer;
    if (answer.alive) await deadline.ask(() => this.#detector.contested(routed.log.incarnation, owner));
    return undefined;
  }

  async #there(routed: Routed, { calls }: Elsewhere, owner: Region): Promise<Step> {
    const { log, request, deadline } = routed;
    if (request.route === "refuse") return undefined;
    if (calls.isGivenUp(owner)) return await this.#take(routed, owner);
    if (!this.#detector.wasHeard(owner)) {
      if (await deadline.ask(() => calls.isSilent(log.incarnation, owner))) {
        return await this.#take(routed, owner, true);
      }
      const canOwn = await deadline.ask(() => calls.canOwn(log.incarnation, owner));
      if (canOwn === false) return await this.#take(routed, owner);
      if (canOwn === undefined) return await this.#later(deadline);
    }
    deadline.check();
    let answer: AppendAnswer;
    try {
      answer = answerOf(await calls.forward(log, owner, request, deadline));
    } catch (error) {
      if (error instanceof CallDenied) return failed(error); // APR5
      if (sideEffectsOf(error) === "none") return await this.#later(deadline);
      routed.doubt = forwardedUnknown(log.name, owner, request, error); // APR2
      return request.sender !== undefined ? await this.#later(deadline) : failed(routed.doubt);
    }
    switch (answer.kind) {
      case "acknowledged":
        this.#detector.noteOwner(log.incarnation, answer.ack.ownerRegion);
        return answer;
      case "not-owner":
        return undefined;
      case "cannot-own":
        return await this.#take(routed, owner);
      case "failed":
        return answer; // the owner's own error is the caller's
      default:
        return unreachable(answer);
    }
  }

  async #later(deadline: Deadline): Promise<undefined> {
    const { clock, random } = this.ports;
    const delayMs = limits.ownerRetryPauseMs + randomBelow(random, limits.ownerRetryPauseMs);
    await deadline.ask(() => pause(clock, delayMs));
    return undefined;
  }
}
