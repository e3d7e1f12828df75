/**
 * The `Server-Timing` header of a read (W3C Server Timing): the time it took as a duration, the counts as
 * descriptions, so that browsers and proxies show them as they are.
 */
import type { ReadCost } from "../protocol/log/operations.ts";

export function serverTiming({ elapsedMs, counters }: ReadCost): string {
  const { attempts, hedges, crossRegionHedges, failovers, wins } = counters;
  const counts = {
    attempts,
    hedges,
    "cross-region-hedges": crossRegionHedges,
    failovers,
  };
  const described = Object.entries(counts).map(([name, count]) => `${name};desc="${count}"`);
  const winners = [...wins].map(([distance, count]) => `${distance}=${count}`).join(" ");
  return [`read;dur=${elapsedMs.toFixed(1)}`, ...described, `winner;desc="${winners}"`].join(", ");
}
