/**
 * A point in time by both clocks of one process. Either may stand still in one that is frozen, the monotonic
 * one where its whole host is suspended; and the wall clock may jump. So what is old by either is old: what
 * was found out, or asked for, before a freeze or a jump is found out, or asked for, again.
 */
import type { Clock } from "./clock.ts";

export interface Moment {
  readonly wallMs: number;
  readonly monotonicMs: number;
}

type Clocks = Pick<Clock, "nowMs" | "monotonicMs">;

export function momentNow(clock: Clocks): Moment {
  return { wallMs: clock.nowMs(), monotonicMs: clock.monotonicMs() };
}

/** What passed since then by the wall clock and by the monotonic one; below 0 if that jumped back. */
export function agesMs(clock: Clocks, { wallMs, monotonicMs }: Moment): readonly [number, number] {
  return [clock.nowMs() - wallMs, clock.monotonicMs() - monotonicMs];
}
