/**
 * Where an append is written: by this region's writer if the region owns the log, by the owner's otherwise.
 *
 *     owner? ──here, or nobody──> local writer ──not_owner──> owner?
 *       │ another region
 *       ├─ draining, lost, cannot own, silent ──> takeover by the local writer
 *       └─ forward once ──> acknowledged, or the owner's own error
 *                └─ not_owner ──> one consistent read, then as above
 *
 * F1 A forwarded append is served or refused where it arrives, never forwarded again: so is one that prefers
 *    no forwarding.
 * F2 A plain append that may have been delivered is not sent anywhere else: it is answered with
 *    unknown_outcome. One with a sender is tried again, since at most one copy of it counts; what
 *    is not an acknowledgement then is answered with unknown_outcome all the same, unless the log is sealed
 *    and rules the batch out. A region that was not heard of lately is asked before an append goes there,
 *    which changes nothing. If it falls silent meanwhile the answer comes then, not when time is up.
 * F3 A takeover names the owner that it takes the log from; the opening reads the last segment consistently
 *    and refuses if that is another's.
 * F4 A region that is draining, or whose lease table is down, hands its logs over as they are appended to.
 * F5 A call that this region may not make ends the append with that error. It is no evidence: a fault of the
 *    asker's takes no log away from anybody.
 */
import { CallDenied, type FencelineError, hasCode, sideEffectsOf } from "../../errors.ts";
import type { Region } from "../../ids.ts";
import { limits } from "../../limits.ts";
import { randomBelow } from "../../random.ts";
import { pause } from "../../waiting.ts";
import { forwardedUnknown, ownerSilent } from "../appending/append-errors.ts";
import type { LogWriter } from "../appending/log-writer.ts";
import type { Patience } from "../appending/patience.ts";
import { lastItem } from "../chain/segments.ts";
import type { LogIdentity } from "../log-identity.ts";
import type { ForwardAnswer, LogPorts } from "../log-ports.ts";
import { notOwnedHere } from "../opening/not-the-writer.ts";
import type { AppendAck, AppendRequest } from "../operations.ts";
import { OwnerCalls } from "./owner-calls.ts";
import { OwnerFailureDetector } from "./owner-failure-detector.ts";
import { OwnerTransfer } from "./transfer-owner.ts";

/** One append on its way. */
interface Routed {
  readonly log: LogIdentity;
  readonly request: AppendRequest;
  readonly writer: LogWriter;
  readonly patience: Patience;
  /** Set once it may have been delivered: what the caller is told unless it is acknowledged (F2). */
  doubt?: FencelineError;
}

/** What it takes to reach other regions. */
interface Elsewhere {
  readonly calls: OwnerCalls;
  readonly transfer: OwnerTransfer;
}

type Step = { readonly kind: "done"; readonly ack: AppendAck } | { readonly kind: "again" };

const AGAIN: Step = { kind: "again" };

export class AppendRouter {
  readonly #detector: OwnerFailureDetector;
  /** Absent: nothing is forwarded, and nothing handed over. */
  readonly elsewhere: Elsewhere | undefined;

  constructor(private readonly ports: LogPorts) {
    const { regions } = ports;
    this.#detector = new OwnerFailureDetector(ports);
    if (regions === undefined) return;
    const calls = new OwnerCalls(ports, regions, this.#detector);
    this.elsewhere = { calls, transfer: new OwnerTransfer(ports, calls) };
  }

  /** Throws what `LogWriter.append` may, `not_owner` (F1), and `unknown_outcome` (F2). */
  async append(
    log: LogIdentity,
    request: AppendRequest,
    writer: LogWriter,
    patience: Patience,
  ): Promise<AppendAck> {
    const { elsewhere } = this;
    if (elsewhere === undefined) {
      patience.check();
      return await writer.append({ ...request, timeoutMs: patience.leftMs });
    }
    const routed: Routed = { log, request, writer, patience };
    try {
      return await this.#untilAnswered(routed, elsewhere);
    } catch (error) {
      throw saysNotRecorded(error) ? error : (routed.doubt ?? error);
    }
  }

  async #untilAnswered(routed: Routed, elsewhere: Elsewhere): Promise<AppendAck> {
    const { log, request, writer, patience } = routed;
    const { region } = this.ports;
    const lookUp = () => patience.ask(() => this.lookUp(log));
    let owner = writer.isWarm ? region : (this.#detector.ownerOf(log.log) ?? (await lookUp()));
    while (!patience.isOver) {
      const isHere = owner === undefined || owner === region;
      const step = isHere
        ? await this.#own(routed, elsewhere)
        : await this.#there(routed, elsewhere, owner as Region);
      if (step.kind === "done") return step.ack;
      owner = await lookUp();
      if (request.route === "refuse" && owner !== undefined && owner !== region) {
        throw notOwnedHere(log.name, owner);
      }
    }
    throw ownerSilent(log.name, owner ?? region);
  }

  /** Read consistently, and remembered. */
  async lookUp(log: LogIdentity): Promise<Region | undefined> {
    const last = await lastItem(this.ports.metadata, log.log, "consistent");
    const owner = last?.kind === "segment" ? last.item.ownerRegion : undefined;
    this.#detector.noteOwner(log.log, owner);
    return owner;
  }

  /** By this region's writer, unless the region should not own the log, or cannot (F4). */
  async #own(routed: Routed, { calls, transfer }: Elsewhere): Promise<Step> {
    const { log, writer, patience } = routed;
    const leave = () => patience.ask(() => transfer.leave(log, writer));
    if (!calls.isAccepting(this.ports.region) && (await leave())) return AGAIN;
    if (transfer.isLeaving(log)) {
      await patience.ask(() => transfer.settled(log));
      return AGAIN;
    }
    try {
      return await this.#here(routed);
    } catch (error) {
      const cannotOwn = saysCannotOwn(error) && routed.request.route !== "refuse";
      if (cannotOwn && (await leave())) return AGAIN;
      throw error;
    }
  }

  async #here(routed: Routed, takeFrom?: Region): Promise<Step> {
    const { log, request, writer, patience } = routed;
    patience.check();
    try {
      const ack = await writer.append({ ...request, timeoutMs: patience.leftMs }, takeFrom);
      this.#detector.noteOwner(log.log, ack.ownerRegion);
      return { kind: "done", ack };
    } catch (error) {
      if (!hasCode(error, "not_owner")) throw error;
      const { owner, owner_lives } = error.details;
      if (takeFrom !== undefined && owner === takeFrom && owner_lives === true) {
        await patience.ask(async () => await this.elsewhere?.calls.contested(log.log, takeFrom));
      }
      return AGAIN;
    }
  }

  async #there(routed: Routed, { calls }: Elsewhere, owner: Region): Promise<Step> {
    const { log, request, patience } = routed;
    if (request.route === "refuse") return AGAIN;
    if (calls.isGivenUp(owner)) return await this.#here(routed, owner);
    if (!this.#detector.wasHeard(owner)) {
      if (await patience.ask(() => calls.isSilent(log.log, owner))) {
        return await this.#takeOver(routed, calls, owner);
      }
      const canOwn = await patience.ask(() => calls.canOwn(log.log, owner));
      if (canOwn === false) return await this.#here(routed, owner);
      if (canOwn === undefined) return await this.#later(patience);
    }
    patience.check();
    let answer: ForwardAnswer;
    try {
      answer = await calls.forward(log, owner, request, patience);
    } catch (error) {
      if (error instanceof CallDenied) throw error; // F5
      if (sideEffectsOf(error) === "none") return await this.#later(patience);
      routed.doubt = forwardedUnknown(log.name, owner, request, error); // F2
      if (request.sender === undefined) throw routed.doubt;
      return await this.#later(patience);
    }
    if (answer.kind === "refused") return await this.#refused(routed, owner, answer.error);
    this.#detector.noteOwner(log.log, answer.ack.ownerRegion);
    return { kind: "done", ack: answer.ack };
  }

  async #takeOver(routed: Routed, calls: OwnerCalls, owner: Region): Promise<Step> {
    const step = await this.#here(routed, owner);
    if (step.kind === "done") {
      await routed.patience.ask(() => calls.recordContest(routed.log.log, owner)).catch(() => {});
    }
    return step;
  }

  /** The owner's own error is the caller's, unless it says that the owner does not or cannot own the log. */
  async #refused(routed: Routed, owner: Region, error: FencelineError): Promise<Step> {
    if (error.sideEffects !== "none") throw error;
    if (error.code === "not_owner") return AGAIN;
    if (saysCannotOwn(error)) return await this.#here(routed, owner);
    throw error;
  }

  async #later(patience: Patience): Promise<Step> {
    const { clock, random } = this.ports;
    const delayMs = limits.ownerRetryPauseMs + randomBelow(random, limits.ownerRetryPauseMs);
    await patience.ask(() => pause(clock, delayMs));
    return AGAIN;
  }
}

/** Nothing comes into a sealed log any more: what its producers' table rules out was not recorded either. */
const saysNotRecorded = (error: unknown): boolean =>
  hasCode(error, "log_sealed") && error.details.earlier_attempts === "not_recorded";

function saysCannotOwn(error: unknown): boolean {
  return (
    hasCode(error, "region_unavailable") && error.sideEffects === "none" && error.details.cannot_own === true
  );
}
