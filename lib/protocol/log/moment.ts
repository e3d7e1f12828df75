/**
 * A moment in the life of a process, by both of its clocks: the monotonic one may stand still while the
 * process is frozen, and the wall clock may jump.
 */
import type { Clock } from "../ports.ts";

export interface Moment {
  readonly wallMs: number;
  readonly monotonicMs: number;
}

export function momentOf(clock: Pick<Clock, "nowMs" | "monotonicMs">): Moment {
  return { wallMs: clock.nowMs(), monotonicMs: clock.monotonicMs() };
}

/** Whether at most `ageMs` have passed since then, as far as both clocks can tell. */
export function isWithin(
  clock: Pick<Clock, "nowMs" | "monotonicMs">,
  { wallMs, monotonicMs }: Moment,
  ageMs: number,
): boolean {
  const passedMs = [clock.nowMs() - wallMs, clock.monotonicMs() - monotonicMs];
  return passedMs.every((ms) => ms >= 0 && ms <= ageMs);
}
