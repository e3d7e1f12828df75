/** How old what operators said of regions may be in a process that moves logs by it. */
import type { TopologyStates } from "../placement/placement.ts";
import type { Clock } from "../ports.ts";
import { ownerLimits } from "./owner-limits.ts";

/** By both clocks, since either may stand still in a process that is frozen. */
export function isOld(clock: Clock, { readAt }: TopologyStates): boolean {
  if (readAt === undefined) return false;
  const agesMs = [clock.nowMs() - readAt.wallMs, clock.monotonicMs() - readAt.monotonicMs];
  return !agesMs.every((ageMs) => ageMs >= 0 && ageMs < ownerLimits.regionStatesAgeMaxMs);
}
