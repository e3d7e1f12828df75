/**
 * A point in time by both clocks of one process. Either may stand still in one that is frozen, the monotonic
 * one where its whole host is suspended; and the wall clock may jump. So what is old by either is old: what
 * was found out, or asked for, before a freeze or a jump is found out, or asked for, again.
 */
import type { Clock } from "./ports.ts";

export interface Moment {
  readonly wallMs: number;
  readonly monotonicMs: number;
}

type Clocks = Pick<Clock, "nowMs" | "monotonicMs">;

export function momentNow(clock: Clocks): Moment {
  return { wallMs: clock.nowMs(), monotonicMs: clock.monotonicMs() };
}

/** Whether less than `ageMs` passed since then, by both clocks. */
export function isWithin(clock: Clocks, { wallMs, monotonicMs }: Moment, ageMs: number): boolean {
  const agesMs = [clock.nowMs() - wallMs, clock.monotonicMs() - monotonicMs];
  return agesMs.every((sinceMs) => sinceMs >= 0 && sinceMs < ageMs);
}
