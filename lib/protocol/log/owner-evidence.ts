/**
 * What this process knows of the regions that own logs: who owns which, since when it has seen that, and
 * which region is silent.
 *
 * O1 A region counts as silent after several failures over a stretch of time without one answer between them.
 *    Any answer is a sign of life, a refusal, slowness or `over_capacity` too: also for calls that were sent
 *    before it and fail after it. Silence is what it is now: failures of an outage that is over prove nothing.
 * O2 Times are this process's own, and an owner is left alone for a while after it was first seen as owner,
 *    so that two regions that cannot reach each other do not fence each other in turn.
 * O3 All of this decides who tries. What is recorded is decided by fences and elections.
 */
import type { LogIncarnation, Region } from "../ids.ts";
import { limits } from "../limits.ts";
import type { Clock } from "../ports.ts";

interface KnownOwner {
  readonly region: Region;
  readonly sinceMs: number;
}

interface Failures {
  count: number;
  readonly firstAtMs: number;
  lastAtMs: number;
}

export class OwnerEvidence {
  readonly #owners = new Map<LogIncarnation, KnownOwner>();
  readonly #answeredAtMs = new Map<Region, number>();
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
    const sinceMs = known?.region === region ? known.sinceMs : this.clock.monotonicMs();
    this.#owners.set(log, { region, sinceMs });
    const oldest = this.#owners.keys().next().value;
    if (this.#owners.size > limits.knownLogsMax && oldest !== undefined) this.#owners.delete(oldest);
  }

  noteAnswer(region: Region): void {
    this.#answeredAtMs.set(region, this.clock.monotonicMs());
    this.#failures.delete(region);
  }

  /** `askedAtMs`: when the call that failed was sent, on this process's clock. */
  noteFailure(region: Region, askedAtMs: number = this.clock.monotonicMs()): void {
    const nowMs = this.clock.monotonicMs();
    if ((this.#answeredAtMs.get(region) ?? Number.NEGATIVE_INFINITY) > askedAtMs) return;
    const before = this.#failures.get(region);
    if (before === undefined || nowMs - before.lastAtMs > limits.ownerFailureGapMaxMs) {
      this.#failures.set(region, { count: 1, firstAtMs: nowMs, lastAtMs: nowMs });
    } else {
      before.count += 1;
      before.lastAtMs = nowMs;
    }
  }

  /** Whether it answered so lately that it need not be asked before an append goes there. */
  wasHeard(region: Region): boolean {
    const answeredAtMs = this.#answeredAtMs.get(region);
    if (answeredAtMs === undefined || this.#failures.has(region)) return false;
    return this.clock.monotonicMs() - answeredAtMs < limits.ownerHeardMs;
  }

  /** Whether its silence allows a takeover of the log (O1, O2). */
  isSilent(log: LogIncarnation, region: Region): boolean {
    const failures = this.#failures.get(region);
    const owner = this.#owners.get(log);
    if (failures === undefined || owner?.region !== region) return false;
    const nowMs = this.clock.monotonicMs();
    return (
      failures.count >= limits.ownerFailuresMin &&
      nowMs - failures.firstAtMs >= limits.ownerSilenceMs &&
      nowMs - failures.lastAtMs <= limits.ownerFailureGapMaxMs &&
      nowMs - owner.sinceMs >= limits.ownerGuardMs
    );
  }
}
