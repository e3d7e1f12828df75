/**
 * One region's calls to the owners of logs, and what it learns from them. An answer is a sign of life, a late
 * one and a refusal too. A call that ran out of its caller's time says nothing, for the owner may be slow;
 * neither does a call that this region may not make.
 *
 * OC1 Questions to a region that are asked at the same time are one question, and fail once.
 * OC2 What was asked before a freeze is answered when the asker thaws: that says nothing of now.
 */
import { Age, type Deadline } from "../../deadline.ts";
import { CallDenied, unavailable } from "../../errors.ts";
import type { LogIncarnation, Region } from "../../ids.ts";
import { limits } from "../../limits.ts";
import { CallAbort, type CallSignal, pause, withTimeout } from "../../waiting.ts";
import type { ForwardAnswer, LogPorts, OwnerAnswer, OwnerRequest, RegionAppends } from "../log-ports.ts";
import type { LogRef } from "../log-ref.ts";
import type { AppendRequest } from "../operations.ts";
import type { OwnerFailureDetector } from "./owner-failure-detector.ts";
import { ownerLimits } from "./owner-limits.ts";

/** A question to a region, whether it can own logs: shared by all that would ask at the same time (OC1). */
interface LivenessProbe {
  readonly answer: Promise<boolean>;
  readonly sent: Age;
  /** Answers of the region that came before it was sent. */
  readonly answersBefore: number;
  /** Set once it was given up: resolves when its failure is counted. */
  counted?: Promise<void>;
}

export class OwnerCalls {
  readonly #probes = new Map<Region, LivenessProbe>();

  constructor(
    private readonly ports: LogPorts,
    private readonly regions: RegionAppends,
    readonly detector: OwnerFailureDetector,
  ) {}

  /** Operators say that it is draining or lost, and that `by` is not. */
  isGivenUp(owner: Region, by: Region = this.ports.region): boolean {
    return !isAccepting(this.ports, owner) && isAccepting(this.ports, by);
  }

  /**
   * Whether the owner's silence allows a takeover, as far as this region's processes know together. Bookies
   * of a silent region are in doubt from then on, each until it answers.
   */
  async isSilent(log: LogIncarnation, owner: Region): Promise<boolean> {
    const isSilent = await this.detector.isSilent(log, owner);
    if (isSilent) {
      const there = this.ports.topology.bookies().filter(({ place }) => place.region === owner);
      for (const { id } of there) this.ports.health.of(id).keptWaiting();
    }
    return isSilent;
  }

  /** Whether the region can own logs now. Undefined: it did not answer. Throws `CallDenied`. */
  async canOwn(log: LogIncarnation, owner: Region): Promise<boolean | undefined> {
    this.detector.checkDenied(owner);
    const before = this.#probes.get(owner);
    const probe = before === undefined || isStale(before) ? this.#probe(log, owner) : before;
    this.#probes.set(owner, probe);
    try {
      const { ownerAskTimeoutMs } = limits;
      const canOwn = await withTimeout(
        this.ports.clock,
        ownerAskTimeoutMs,
        `asking ${owner}`,
        () => probe.answer,
      );
      return isStale(probe) ? undefined : canOwn;
    } catch (error) {
      if (error instanceof CallDenied) throw error;
      await this.#countFailed(probe, owner);
      return undefined;
    } finally {
      if (this.#probes.get(owner) === probe) this.#probes.delete(owner);
    }
  }

  #probe(log: LogIncarnation, owner: Region): LivenessProbe {
    const { detector } = this;
    const answersBefore = detector.answersOf(owner);
    const sent = new Age(this.ports.clock);
    const answer = this.regions.canOwn(owner, log);
    const probe: LivenessProbe = { answer, sent, answersBefore };
    answer.then(
      () => isStale(probe) || detector.noteAnswer(owner),
      (error) => {
        const isLate = probe.counted !== undefined;
        if (isLate && error instanceof CallDenied && !isStale(probe)) detector.noteDenied(owner, error);
      },
    );
    return probe;
  }

  /** A late answer, and a failure that was counted for another asker, count no more. */
  async #countFailed(probe: LivenessProbe, owner: Region): Promise<void> {
    if (isStale(probe) || this.detector.answersOf(owner) !== probe.answersBefore) return;
    probe.counted ??= this.detector.countFailure(owner);
    await probe.counted;
  }

  /**
   * Sends the append to the owner, with time for its answer to come back. While there is none the owner is
   * asked whether it lives; once it counts as silent, this rejects.
   */
  async forward(
    log: LogRef,
    owner: Region,
    request: AppendRequest,
    deadline: Pick<Deadline, "isOver" | "leftMs">,
  ): Promise<ForwardAnswer> {
    const { leftMs } = deadline;
    const timeoutMs = Math.max(1, leftMs - limits.forwardMarginMs);
    const send = () => this.regions.append(owner, { ...request, route: "refuse", timeoutMs });
    const what = `an append to ${log.name} in ${owner}`;
    const isSettled = new CallAbort();
    try {
      return await Promise.race([
        this.#answerOf(owner, leftMs, what, send),
        this.#fallsSilent(log.incarnation, owner, deadline, isSettled),
      ]);
    } catch (error) {
      if (!(error instanceof CallDenied)) this.detector.noteDoubt(owner);
      throw error;
    } finally {
      isSettled.abort();
    }
  }

  /** Rejects if it got no answer in time. */
  async request(log: LogRef, region: Region, request: OwnerRequest, timeoutMs: number): Promise<OwnerAnswer> {
    const what = `${request.kind} of ${log.name} in ${region}`;
    return await this.#answerOf(region, timeoutMs, what, () => this.regions.ask(region, request));
  }

  /** Of a call to the region; an answer that comes after the time-out is a sign of life, if not too late. */
  #answerOf<T>(region: Region, timeoutMs: number, what: string, call: () => Promise<T>): Promise<T> {
    const { clock } = this.ports;
    const sent = new Age(clock);
    return withTimeout(clock, timeoutMs, what, async () => {
      const answer = await call();
      if (sent.isWithin(limits.appendDeadlineMs)) this.detector.noteAnswer(region);
      return answer;
    });
  }

  /** Rejects once the owner counts as silent, or the call is cancelled. */
  async #fallsSilent(
    log: LogIncarnation,
    owner: Region,
    deadline: Pick<Deadline, "isOver">,
    signal: CallSignal,
  ): Promise<never> {
    const { clock } = this.ports;
    let delayMs: number = limits.ownerWatchMs;
    while (true) {
      await pause(clock, delayMs, signal);
      if (deadline.isOver) throw unavailable(`${owner} did not answer in time`);
      const canOwn = await this.canOwn(log, owner).catch(() => false); // a denial is no failure
      if (canOwn === undefined && !signal.aborted && (await this.isSilent(log, owner))) {
        throw unavailable(`${owner} has fallen silent`);
      }
      delayMs = canOwn === undefined ? limits.ownerRetryPauseMs : limits.ownerAskTimeoutMs;
    }
  }
}

/**
 * Whether a region takes logs, as far as operators said. What a process read before it was frozen moves no
 * log when it thaws: it counts as never said.
 */
export function isAccepting({ topology }: Pick<LogPorts, "topology">, region: Region): boolean {
  const { regions, readAt } = topology.states?.() ?? {};
  if (readAt?.isOlder(ownerLimits.regionStatesAgeMaxMs) === true) return true;
  return (regions?.get(region) ?? "accepting") === "accepting";
}

/** OC2 */
const isStale = ({ sent }: LivenessProbe): boolean => sent.isOlder(limits.ownerFailureGapMaxMs);
