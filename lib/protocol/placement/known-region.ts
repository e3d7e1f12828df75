/** Which regions there are, and bookies whose region is not known. */
import { FencelineError } from "../errors.ts";
import { type Region, region } from "../ids.ts";
import type { Topology } from "../ports.ts";

/**
 * The region of a bookie that could not be resolved. All such bookies together count as one place that may
 * be any region, so they never help an ack quorum to span regions; they may hold copies all the same.
 */
export const UNKNOWN_REGION: Region = region("unknown");

export function isKnownRegion(candidate: Region): boolean {
  return candidate !== UNKNOWN_REGION && candidate !== "";
}

/** Regions that have bookies, in order of name. */
export function knownRegions(topology: Topology): readonly Region[] {
  return [...new Set(topology.bookies().map(({ place }) => place.region))].sort();
}

/** Throws `region_not_found`. */
export function checkRegion(topology: Topology, region: Region): void {
  const known = knownRegions(topology);
  if (!known.includes(region)) throw regionNotFound(region, known);
}

export function regionNotFound(region: Region, known: readonly Region[]): FencelineError {
  const names = known.join(", ") || "none";
  return new FencelineError("region_not_found", {
    message: `there is no region ${JSON.stringify(region)}; known regions: ${names}`,
    details: { regions: known },
  });
}
