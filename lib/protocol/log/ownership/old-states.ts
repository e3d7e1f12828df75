/** How old what operators said of regions may be in a process that moves logs by it. */
import type { Clock } from "../../clock.ts";
import { isWithin } from "../../moment.ts";
import type { TopologyStates } from "../../placement/placement.ts";
import { ownerLimits } from "./owner-limits.ts";

export function isOld(clock: Clock, { readAt }: TopologyStates): boolean {
  return readAt !== undefined && !isWithin(clock, readAt, ownerLimits.regionStatesAgeMaxMs);
}
