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
 *    unknown_outcome. One with a producer or a key is tried again, since at most one copy of it counts; what
 *    is not an acknowledgement then is answered with unknown_outcome all the same. A region that was not
 *    heard of lately is asked before an append goes there, which changes nothing.
 * F3 A takeover names the owner that it takes the log from; the opening reads the last segment consistently
 *    and refuses if that is another's.
 */
import { type FencelineError, hasCode, sideEffectsOf } from "../errors.ts";
import type { Region } from "../ids.ts";
import { limits } from "../limits.ts";
import { randomBelow } from "../random.ts";
import { pause, within } from "../waiting.ts";
import { forwardedUnknown, notOwnedHere, ownerSilent } from "./append-errors.ts";
import type { ForwardAnswer, LogPorts, RegionAppends } from "./log-ports.ts";
import type { LogWriter } from "./log-writer.ts";
import type { AppendAck, AppendRequest } from "./operations.ts";
import { OwnerEvidence } from "./owner-evidence.ts";
import { lastItem } from "./segments.ts";
import type { LogIdentity } from "./start-segment.ts";

/** One append on its way. */
interface Routed {
  readonly log: LogIdentity;
  readonly request: AppendRequest;
  readonly writer: LogWriter;
  readonly giveUpAtMs: number;
  /** Set once it may have been delivered: what the caller is told unless it is acknowledged (F2). */
  doubt?: FencelineError;
}

type Step = { readonly kind: "done"; readonly ack: AppendAck } | { readonly kind: "again" };

export class AppendRouter {
  readonly #evidence: OwnerEvidence;
  readonly #asking = new Map<Region, Promise<boolean>>();

  constructor(private readonly ports: LogPorts) {
    this.#evidence = new OwnerEvidence(ports.clock);
  }

  /** Throws what `LogWriter.append` may, `not_owner` (F1), and `unknown_outcome` (F2). */
  async append(log: LogIdentity, request: AppendRequest, writer: LogWriter): Promise<AppendAck> {
    const { clock, regions } = this.ports;
    if (regions === undefined) return await writer.append(request);
    const giveUpAtMs = clock.monotonicMs() + (request.timeoutMs ?? limits.appendDeadlineMs);
    const routed: Routed = { log, request, writer, giveUpAtMs };
    try {
      return await this.#untilAnswered(routed, regions);
    } catch (error) {
      throw routed.doubt ?? error;
    }
  }

  async #untilAnswered(routed: Routed, regions: RegionAppends): Promise<AppendAck> {
    const { log, request, writer, giveUpAtMs } = routed;
    const { clock, region } = this.ports;
    let owner = writer.isWarm ? region : (this.#evidence.ownerOf(log.log) ?? (await this.#lookUp(log)));
    while (clock.monotonicMs() < giveUpAtMs) {
      const isHere = owner === undefined || owner === region;
      const step = isHere ? await this.#here(routed) : await this.#there(routed, regions, owner as Region);
      if (step.kind === "done") return step.ack;
      owner = await this.#lookUp(log);
      if (request.route === "refuse" && owner !== undefined && owner !== region) {
        throw notOwnedHere(log.name, owner);
      }
    }
    throw ownerSilent(log.name, owner ?? region);
  }

  async #here(routed: Routed, takeFrom?: Region): Promise<Step> {
    const { log, request, writer } = routed;
    try {
      const ack = await writer.append({ ...request, timeoutMs: this.#leftMs(routed) }, takeFrom);
      this.#evidence.noteOwner(log.log, ack.ownerRegion);
      return { kind: "done", ack };
    } catch (error) {
      if (hasCode(error, "not_owner")) return { kind: "again" };
      throw error;
    }
  }

  async #there(routed: Routed, regions: RegionAppends, owner: Region): Promise<Step> {
    const { log, request } = routed;
    if (request.route === "refuse") return { kind: "again" };
    if (this.#isGivenUp(owner) || this.#evidence.isSilent(log.log, owner)) {
      return await this.#here(routed, owner);
    }
    if (!this.#evidence.wasHeard(owner)) {
      const canOwn = await this.#ask(routed, regions, owner);
      if (canOwn === false) return await this.#here(routed, owner);
      if (canOwn === undefined) return await this.#later();
    }
    let answer: ForwardAnswer;
    try {
      answer = await this.#forward(routed, regions, owner);
    } catch (error) {
      this.#evidence.noteFailure(owner);
      if (sideEffectsOf(error) === "none") return await this.#later();
      routed.doubt = forwardedUnknown(log.name, owner, error); // F2
      if (!isIdempotent(request)) throw routed.doubt;
      return await this.#later();
    }
    this.#evidence.noteAnswer(owner);
    if (answer.kind === "refused") return await this.#refused(routed, owner, answer.error);
    this.#evidence.noteOwner(log.log, answer.ack.ownerRegion);
    return { kind: "done", ack: answer.ack };
  }

  /** The owner's own error is the caller's, unless it says that the owner does not or cannot own the log. */
  async #refused(routed: Routed, owner: Region, error: FencelineError): Promise<Step> {
    if (error.sideEffects !== "none") throw error;
    if (error.code === "not_owner") return { kind: "again" };
    if (error.details.cannot_own === true) return await this.#here(routed, owner);
    throw error;
  }

  /** Leaves the owner time to answer before this region has to. */
  #forward(routed: Routed, regions: RegionAppends, owner: Region): Promise<ForwardAnswer> {
    const { log, request } = routed;
    const leftMs = this.#leftMs(routed);
    const timeoutMs = Math.max(1, leftMs - limits.forwardMarginMs);
    return within(this.ports.clock, leftMs, `an append to ${log.name} in ${owner}`, () =>
      regions.append(owner, { ...request, route: "refuse", timeoutMs }),
    );
  }

  /** Undefined: it did not answer. Those who ask at the same time ask once. */
  async #ask({ log }: Routed, regions: RegionAppends, owner: Region): Promise<boolean | undefined> {
    const asking =
      this.#asking.get(owner) ??
      within(this.ports.clock, limits.ownerAskTimeoutMs, `asking ${owner}`, () =>
        regions.canOwn(owner, log.log),
      ).finally(() => this.#asking.delete(owner));
    this.#asking.set(owner, asking);
    try {
      const canOwn = await asking;
      this.#evidence.noteAnswer(owner);
      return canOwn;
    } catch {
      this.#evidence.noteFailure(owner);
      return undefined;
    }
  }

  /** What operators say: it is draining or lost, and this region is not. */
  #isGivenUp(owner: Region): boolean {
    const states = this.ports.topology.states?.().regions;
    const isAccepting = (region: Region) => (states?.get(region) ?? "accepting") === "accepting";
    return !isAccepting(owner) && isAccepting(this.ports.region);
  }

  async #later(): Promise<Step> {
    const { clock, random } = this.ports;
    await pause(clock, limits.ownerRetryPauseMs + randomBelow(random, limits.ownerRetryPauseMs));
    return { kind: "again" };
  }

  async #lookUp(log: LogIdentity): Promise<Region | undefined> {
    const last = await lastItem(this.ports.metadata, log.log, "consistent");
    const owner = last?.kind === "segment" ? last.item.ownerRegion : undefined;
    this.#evidence.noteOwner(log.log, owner);
    return owner;
  }

  #leftMs({ giveUpAtMs }: Routed): number {
    return Math.max(1, giveUpAtMs - this.ports.clock.monotonicMs());
  }
}

const isIdempotent = ({ producer, idempotencyKey }: AppendRequest): boolean =>
  producer !== undefined || idempotencyKey !== undefined;
