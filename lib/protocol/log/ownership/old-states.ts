/** How old what operators said of regions may be in a process that moves logs by it. */
import type { TopologyStates } from "../../placement/placement.ts";
import { ownerLimits } from "./owner-limits.ts";

export function isOld({ readAt }: TopologyStates): boolean {
  return readAt?.isOlder(ownerLimits.regionStatesAgeMaxMs) === true;
}
