/**
 * Bookies that failed this process again and again. New copies go elsewhere for a while; placement falls
 * back on them where it must, so quarantine can cost balance but never an ensemble. A matter of speed: it
 * is local to a process, is not shared, and nothing about safety rests on it.
 *
 * H1 A bookie comes in after `failuresInRow` failures with no answer between them, whatever kind of failure:
 *    one that cannot be reached at all counts like one that answers with errors.
 * H2 It stays for a random time around `quarantineMs`, so that processes which saw it fail together do not
 *    all come back together. Each further time is twice as long, up to `quarantineMsMax`.
 * H3 An answer ends it. After its time it is tried again, and one more failure brings it back.
 * H4 Everything is forgotten in time: a streak after `forgetAfterMs` without a failure, and with it how long
 *    the last stay was.
 * H5 One that kept others waiting, or whose region is silent, is doubtful for a while unless it answers. That
 *    is no failure: it may be slow, and how often it happened counts for nothing.
 */
import { assert } from "../assert.ts";
import type { Clock } from "../clock.ts";
import type { BookieId } from "../ids.ts";
import { limits } from "../limits.ts";
import type { Random } from "../random.ts";

export interface QuarantineRules {
  readonly failuresInRow: number;
  readonly quarantineMs: number;
  readonly quarantineMsMax: number;
  readonly forgetAfterMs: number;
}

export const quarantineRules: QuarantineRules = {
  /** One or two lost calls are the network's; three in a row are the bookie's. */
  failuresInRow: 3,
  /** A restart or a failover takes seconds. */
  quarantineMs: 15_000,
  /** Long enough to spare a dead bookie's callers, short enough to notice its return. */
  quarantineMsMax: 4 * 60_000,
  forgetAfterMs: 10 * 60_000,
};

interface Streak {
  readonly failures: number;
  readonly lastFailureMs: number;
  /** Times that it came in, since it was last forgotten or answered outside. */
  readonly stays: number;
  /** When its present or last stay ends; 0 before the first. */
  readonly untilMs: number;
}

export class Quarantine {
  readonly #streaks = new Map<BookieId, Streak>();
  readonly #silentAtMs = new Map<BookieId, number>();

  constructor(
    private readonly ports: { readonly clock: Clock; readonly random: Random },
    private readonly rules: QuarantineRules = quarantineRules,
  ) {
    assert(rules.failuresInRow >= 1 && rules.quarantineMs >= 1, "a quarantine has a beginning and an end");
    assert(rules.quarantineMsMax >= rules.quarantineMs, "the longest stay is no shorter than the first");
    // H4 must not forget a bookie that is still in.
    assert(rules.forgetAfterMs >= 1.5 * rules.quarantineMsMax, "stays are forgotten after they end");
  }

  /** A call to the bookie failed or got no answer. */
  failed(bookie: BookieId): void {
    const nowMs = this.ports.clock.monotonicMs();
    this.#forget(nowMs);
    const before = this.#streaks.get(bookie) ?? { failures: 0, lastFailureMs: nowMs, stays: 0, untilMs: 0 };
    const streak = { ...before, failures: before.failures + 1, lastFailureMs: nowMs };
    const comesIn = streak.failures >= this.rules.failuresInRow && nowMs >= streak.untilMs;
    this.#streaks.set(bookie, comesIn ? this.#admitted(streak, nowMs) : streak);
  }

  /** The bookie answered, whatever it said (H3). */
  answered(bookie: BookieId): void {
    this.#streaks.delete(bookie);
    this.#silentAtMs.delete(bookie);
  }

  /** H5 */
  silent(bookie: BookieId): void {
    this.#silentAtMs.set(bookie, this.ports.clock.monotonicMs());
  }

  /** Whether it was silent a moment ago, and has not answered since (H5). */
  isSilent(bookie: BookieId): boolean {
    const silentAtMs = this.#silentAtMs.get(bookie);
    if (silentAtMs === undefined) return false;
    if (this.ports.clock.monotonicMs() - silentAtMs < limits.suspectMs) return true;
    this.#silentAtMs.delete(bookie);
    return false;
  }

  has(bookie: BookieId): boolean {
    return this.ports.clock.monotonicMs() < (this.#streaks.get(bookie)?.untilMs ?? 0);
  }

  /** Those of `bookies` that are in quarantine now. */
  among(bookies: readonly BookieId[]): Set<BookieId> {
    return new Set(bookies.filter((bookie) => this.has(bookie)));
  }

  /** Those that are in quarantine, or that failed or were silent a moment ago: no better for now. */
  doubtful(bookies: readonly BookieId[]): Set<BookieId> {
    const sinceMs = this.ports.clock.monotonicMs() - limits.suspectMs;
    const failedLately = (bookie: BookieId) => {
      const streak = this.#streaks.get(bookie);
      return streak !== undefined && streak.lastFailureMs > sinceMs;
    };
    const isDoubtful = (bookie: BookieId) =>
      this.has(bookie) || failedLately(bookie) || this.isSilent(bookie);
    return new Set(bookies.filter(isDoubtful));
  }

  /** H2 */
  #admitted(streak: Streak, nowMs: number): Streak {
    const { quarantineMs, quarantineMsMax } = this.rules;
    const meanMs = Math.min(quarantineMsMax, quarantineMs * 2 ** streak.stays);
    const stayMs = meanMs * (0.5 + this.ports.random.uint32() / 2 ** 32);
    return { ...streak, stays: streak.stays + 1, untilMs: nowMs + stayMs };
  }

  /** H4 */
  #forget(nowMs: number): void {
    for (const [bookie, { lastFailureMs }] of this.#streaks) {
      if (nowMs - lastFailureMs >= this.rules.forgetAfterMs) this.#streaks.delete(bookie);
    }
  }
}
