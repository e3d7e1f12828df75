/**
 * One region's calls to the owners of logs, and what it learns from them. An answer is a sign of life, a late
 * one and a refusal too; a call that ran out of the caller's patience says nothing, for it may be slow, and
 * nor does one that this region may not make. Only questions that cost the owner nothing, and calls that
 * failed, are evidence.
 */
import type { Timer } from "../../clock.ts";
import { CallDenied, unavailable } from "../../errors.ts";
import type { LogIncarnation, Region } from "../../ids.ts";
import { limits } from "../../limits.ts";
import { momentNow } from "../../moment.ts";
import { within } from "../../waiting.ts";
import type { LeasePorts } from "../lease/writer-lease.ts";
import type { LogIdentity } from "../log-identity.ts";
import type { ForwardAnswer, LogPorts, OwnerAnswer, OwnerRequest, RegionAppends } from "../log-ports.ts";
import type { AppendRequest } from "../operations.ts";
import { type Asking, isStale } from "./asking.ts";
import { LateDenials } from "./late-denials.ts";
import { isOld } from "./old-states.ts";
import type { OwnerEvidence } from "./owner-evidence.ts";
import { countAnswer, countDenied, countFailure, countLived, judgeSilence } from "./owner-silence.ts";

export class OwnerCalls {
  readonly #asking = new Map<Region, Asking>();
  readonly #leases: LeasePorts | undefined;
  readonly #lateDenials: LateDenials;
  /** Answers on their way to the region's other processes. */
  readonly #telling = new Set<Promise<void>>();

  constructor(
    private readonly ports: LogPorts,
    private readonly regions: RegionAppends,
    private readonly evidence: OwnerEvidence,
  ) {
    const { leases, clock, random } = ports;
    this.#lateDenials = new LateDenials(clock);
    this.#leases = leases === undefined ? undefined : { leases: leases.store, clock, random };
  }

  noteOwner(log: LogIncarnation, owner: Region | undefined): void {
    this.evidence.noteOwner(log, owner);
  }

  /** A takeover from it found that it has opened a segment meanwhile: it is left alone, longer each time. */
  async lived(log: LogIncarnation, owner: Region): Promise<void> {
    this.evidence.noteLived(log, owner);
    await this.tookOver(log, owner);
  }

  /** The log was taken from it, as silent: if it takes the log back, it was alive (Q4). Never throws. */
  async tookOver(log: LogIncarnation, owner: Region): Promise<void> {
    if (this.#leases !== undefined) await countLived(this.#leases, log, owner);
  }

  /** What operators say: it is draining or lost, and `by` is not. */
  isGivenUp(owner: Region, by: Region = this.ports.region): boolean {
    return !this.isAccepting(owner) && this.isAccepting(by);
  }

  /** What a process learnt before it was frozen moves no log when it thaws: it counts as never said. */
  isAccepting(region: Region): boolean {
    const states = this.ports.topology.states?.();
    if (states === undefined || isOld(states)) return true;
    return (states.regions.get(region) ?? "accepting") === "accepting";
  }

  /**
   * Whether the owner's silence allows a takeover, as far as this region's processes know together. Bookies
   * of a silent region are in doubt from then on, each until it answers.
   */
  async isSilent(log: LogIncarnation, owner: Region): Promise<boolean> {
    const isSilent = await this.#judge(log, owner);
    if (isSilent) {
      const there = this.ports.topology.bookies().filter(({ place }) => place.region === owner);
      for (const { id } of there) this.ports.health.of(id).keptWaiting();
    }
    return isSilent;
  }

  async #judge(log: LogIncarnation, owner: Region): Promise<boolean> {
    if (this.evidence.isLeftAlone(log, owner)) return false;
    if (this.#leases === undefined) return this.evidence.isSilent(log, owner);
    try {
      const verdict = await judgeSilence(this.#leases, log, owner);
      return verdict === "silent" || (verdict === "unsure" && this.evidence.isSilent(log, owner));
    } catch {
      return false; // A region without its lease table takes nothing over.
    }
  }

  /** Undefined: it did not answer. Those who ask at the same time ask once. Throws `CallDenied`. */
  async canOwn(log: LogIncarnation, owner: Region): Promise<boolean | undefined> {
    this.#lateDenials.check(owner);
    const { clock } = this.ports;
    const before = this.#asking.get(owner);
    const asking = before === undefined || isStale(clock, before) ? this.#ask(log, owner) : before;
    this.#asking.set(owner, asking);
    try {
      const answer = () => asking.answer;
      const canOwn = await within(clock, limits.ownerAskTimeoutMs, `asking ${owner}`, answer);
      this.#answered(log, owner);
      return isStale(clock, asking) ? undefined : canOwn;
    } catch (error) {
      if (error instanceof CallDenied) throw error;
      await this.#askFailed(asking, log, owner);
      return undefined;
    } finally {
      if (this.#asking.get(owner) === asking) this.#asking.delete(owner);
    }
  }

  #ask(log: LogIncarnation, owner: Region): Asking {
    const sentAt = momentNow(this.ports.clock);
    const answer = this.regions.canOwn(owner, log).then((canOwn) => {
      this.#answered(log, owner);
      return canOwn;
    });
    const failedFor = new Set<LogIncarnation>();
    answer.catch((error) => {
      if (error instanceof CallDenied && failedFor.size > 0) this.#deniedLate(owner, error, failedFor);
    });
    return { answer, sentAt, failedFor };
  }

  /** It was taken for a failure of the owner. */
  #deniedLate(owner: Region, denied: CallDenied, failedFor: ReadonlySet<LogIncarnation>): void {
    this.#lateDenials.note(owner, denied);
    this.evidence.noteDenied(owner);
    const leases = this.#leases;
    if (leases === undefined) return;
    for (const log of failedFor) this.#tell(countDenied(leases, log, owner));
  }

  async #askFailed({ sentAt, failedFor }: Asking, log: LogIncarnation, owner: Region): Promise<void> {
    if (failedFor.has(log)) return;
    const sentAtMs = sentAt.monotonicMs;
    const isFirst = failedFor.add(log).size === 1;
    if (isFirst) await this.#failed(log, owner, sentAtMs);
    else if (!this.evidence.hasAnsweredSince(owner, sentAtMs)) await this.#count(log, owner);
  }

  /**
   * Sends the append to the owner, with time for its answer to come back. While there is none the owner is
   * asked whether it lives; once it counts as silent, this rejects.
   */
  async forward(
    log: LogIdentity,
    owner: Region,
    request: AppendRequest,
    leftMs: number,
  ): Promise<ForwardAnswer> {
    const { clock } = this.ports;
    const sentAtMs = clock.monotonicMs();
    const giveUpAtMs = sentAtMs + leftMs;
    const timeoutMs = Math.max(1, leftMs - limits.forwardMarginMs);
    const send = () =>
      this.regions.append(owner, { ...request, route: "refuse", timeoutMs }).then((answer) => {
        this.#answered(log.log, owner);
        return answer;
      });
    try {
      return await within(clock, leftMs, `an append to ${log.name} in ${owner}`, () =>
        this.#watched(log.log, owner, giveUpAtMs, send),
      );
    } catch (error) {
      const nowMs = clock.monotonicMs();
      if (nowMs >= giveUpAtMs) this.evidence.noteSlow(owner);
      else if (!(error instanceof CallDenied)) {
        const counted = () => this.#failed(log.log, owner, sentAtMs);
        await within(clock, giveUpAtMs - nowMs, "counting a failure", counted).catch(() => {});
      }
      throw error;
    }
  }

  /** Rejects if it got no answer in time. */
  async request(
    log: LogIdentity,
    region: Region,
    request: OwnerRequest,
    timeoutMs: number,
  ): Promise<OwnerAnswer> {
    const { clock } = this.ports;
    const what = `${request.kind} of ${log.name} in ${region}`;
    const answer = await within(clock, timeoutMs, what, () => this.regions.ask(region, request));
    this.#answered(log.log, region);
    return answer;
  }

  #watched<T>(log: LogIncarnation, owner: Region, giveUpAtMs: number, send: () => Promise<T>): Promise<T> {
    const { clock } = this.ports;
    return new Promise<T>((resolve, reject) => {
      let isOver = false;
      let timer: Timer | undefined;
      const over = (answer: () => void) => {
        isOver = true;
        timer?.cancel();
        answer();
      };
      const look = async () => {
        if (clock.monotonicMs() >= giveUpAtMs) return; // nobody waits any more
        const canOwn = await this.canOwn(log, owner).catch(() => false); // a denial is no failure
        const isSilent = canOwn === undefined && (await this.isSilent(log, owner));
        if (isOver) return;
        if (isSilent) return over(() => reject(unavailable(`${owner} has fallen silent`)));
        wait(canOwn === undefined ? limits.ownerRetryPauseMs : limits.ownerAskTimeoutMs);
      };
      const wait = (delayMs: number) => {
        timer = clock.startTimer(delayMs, () => void look());
      };
      wait(limits.ownerWatchMs);
      send().then(
        (answer) => over(() => resolve(answer)),
        (error) => over(() => reject(error)),
      );
    });
  }

  #answered(log: LogIncarnation, owner: Region): void {
    this.evidence.noteAnswer(owner);
    if (this.#leases === undefined || !this.evidence.isWorthTelling(log, owner)) return;
    // No append waits for it; late, it delays a takeover.
    this.#tell(countAnswer(this.#leases, log, owner));
  }

  #tell(counting: Promise<void>): void {
    const telling = counting.finally(() => this.#telling.delete(telling));
    this.#telling.add(telling);
  }

  /**
   * Resolves once the answers so far are known to the region's other processes: a function that stands still
   * after its request tells nobody else (Q2).
   */
  async told(): Promise<void> {
    await Promise.all(this.#telling);
  }

  async #failed(log: LogIncarnation, owner: Region, sentAtMs: number): Promise<void> {
    if (this.evidence.noteFailure(owner, sentAtMs)) await this.#count(log, owner);
  }

  async #count(log: LogIncarnation, owner: Region): Promise<void> {
    this.evidence.noteCounted(log);
    if (this.#leases !== undefined) await countFailure(this.#leases, log, owner);
  }
}
