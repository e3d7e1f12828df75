/**
 * What this process knows of the regions that own logs: who owns which, since when it has seen that, and
 * which region is silent.
 *
 * O1 A region counts as silent after several failures over a stretch of time without one answer between them.
 *    Any answer is a sign of life, a refusal or `over_capacity` too: also for calls that were sent before it
 *    and fail after it. Silence is what it is now: failures of an outage that is over prove nothing.
 * O2 Times are this process's own, and an owner is left alone for a while after it was first seen as owner,
 *    so that two regions that cannot reach each other do not fence each other in turn. One that a takeover
 *    found alive, since it opened a segment meanwhile, begins anew.
 * O3 Other processes of the region may have seen more, or an answer: owner-silence.ts counts with them. All
 *    of this decides who tries. What is recorded is decided by fences and elections.
 */
import type { Clock } from "../../clock.ts";
import type { LogIncarnation, Region } from "../../ids.ts";
import { limits } from "../../limits.ts";
import { isWithin, type Moment, momentNow } from "../../moment.ts";

interface KnownOwner {
  readonly region: Region;
  readonly sinceMs: number;
  /** When an answer of it was last told to the region's other processes. */
  toldAtMs: number;
}

interface Failures {
  count: number;
  readonly firstAtMs: number;
  last: Moment;
}

export class OwnerEvidence {
  readonly #owners = new Map<LogIncarnation, KnownOwner>();
  readonly #answeredAtMs = new Map<Region, number>();
  /** As above, until something makes it doubtful. */
  readonly #heardAtMs = new Map<Region, number>();
  readonly #failures = new Map<Region, Failures>();

  constructor(private readonly clock: Clock) {}

  ownerOf(log: LogIncarnation): Region | undefined {
    return this.#owners.get(log)?.region;
  }

  noteOwner(log: LogIncarnation, region: Region | undefined): void {
    const known = this.#owners.get(log);
    if (region === undefined) return void this.#owners.delete(log);
    // Least recently used first.
    this.#owners.delete(log);
    const isNew = known?.region !== region;
    this.#owners.set(log, isNew ? this.#seenNow(region) : known);
    const oldest = this.#owners.keys().next().value;
    if (this.#owners.size > limits.knownLogsMax && oldest !== undefined) this.#owners.delete(oldest);
  }

  noteAnswer(region: Region): void {
    const nowMs = this.clock.monotonicMs();
    this.#answeredAtMs.set(region, nowMs);
    this.#heardAtMs.set(region, nowMs);
    this.#failures.delete(region);
  }

  /** `askedAtMs`: when the call that failed was sent, on one's own clock. False: it proves nothing (O1). */
  noteFailure(region: Region, askedAtMs: number = this.clock.monotonicMs()): boolean {
    const nowMs = this.clock.monotonicMs();
    if (this.hasAnsweredSince(region, askedAtMs)) return false;
    const before = this.#failures.get(region);
    this.#heardAtMs.delete(region);
    const last = momentNow(this.clock);
    if (before === undefined || !isWithin(this.clock, before.last, limits.ownerFailureGapMaxMs)) {
      this.#failures.set(region, { count: 1, firstAtMs: nowMs, last });
    } else {
      before.count += 1;
      before.last = last;
    }
    return true;
  }

  /** What failed was the asker's own fault. */
  noteDenied(region: Region): void {
    this.#failures.delete(region);
  }

  /** Whether an answer came after what was asked at `askedAtMs`: then a failure of that proves nothing. */
  hasAnsweredSince(region: Region, askedAtMs: number): boolean {
    return (this.#answeredAtMs.get(region) ?? Number.NEGATIVE_INFINITY) > askedAtMs;
  }

  /** The region's other processes are told of a failure: so they are of the next answer, at once. */
  noteCounted(log: LogIncarnation): void {
    const owner = this.#owners.get(log);
    if (owner !== undefined) owner.toldAtMs = Number.NEGATIVE_INFINITY;
  }

  /** The owner that a takeover was to take the log from has opened a segment meanwhile. */
  noteLived(log: LogIncarnation, region: Region): void {
    this.#failures.delete(region);
    this.#owners.set(log, this.#seenNow(region));
  }

  #seenNow(region: Region): KnownOwner {
    return { region, sinceMs: this.clock.monotonicMs(), toldAtMs: Number.NEGATIVE_INFINITY };
  }

  /** It may be slow, which is no failure (O1); it is asked before an append goes there. */
  noteSlow(region: Region): void {
    this.#heardAtMs.delete(region);
  }

  /** Whether an answer of the log's owner is to be told to the region's other processes; not each one is. */
  isWorthTelling(log: LogIncarnation, region: Region): boolean {
    const owner = this.#owners.get(log);
    const nowMs = this.clock.monotonicMs();
    if (owner?.region !== region || nowMs - owner.toldAtMs < limits.ownerSilenceMs) return false;
    owner.toldAtMs = nowMs;
    return true;
  }

  /** O2. */
  isLeftAlone(log: LogIncarnation, region: Region): boolean {
    const owner = this.#owners.get(log);
    return owner?.region !== region || this.clock.monotonicMs() - owner.sinceMs < limits.ownerGuardMs;
  }

  /** Whether it answered so lately that it need not be asked before an append goes there. */
  wasHeard(region: Region): boolean {
    const heardAtMs = this.#heardAtMs.get(region);
    return heardAtMs !== undefined && this.clock.monotonicMs() - heardAtMs < limits.ownerHeardMs;
  }

  /** Whether its silence allows a takeover of the log (O1, O2). */
  isSilent(log: LogIncarnation, region: Region): boolean {
    const failures = this.#failures.get(region);
    if (failures === undefined || this.isLeftAlone(log, region)) return false;
    if (!isWithin(this.clock, failures.last, limits.ownerFailureGapMaxMs)) return false;
    const forMs = this.clock.monotonicMs() - failures.firstAtMs;
    return failures.count >= limits.ownerFailuresMin && forMs >= limits.ownerSilenceMs;
  }
}
