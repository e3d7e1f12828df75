/**
 * Bookies whose region nobody knows. All of them together count as one place that may be any region, so they
 * never help an ack quorum to span regions; they may hold copies all the same.
 */
import { type Region, region } from "../ids.ts";

/** The region of a bookie that could not be resolved. */
export const UNKNOWN_REGION: Region = region("unknown");

export function isKnownRegion(candidate: Region): boolean {
  return candidate !== UNKNOWN_REGION && candidate !== "";
}
