/**
 * The `Server-Timing` header of a read (W3C Server Timing): the time it took as a duration, the counts as
 * descriptions, so that browsers and proxies show them as they are.
 */
import * as z from "zod/mini";
import type { ReadCost } from "../protocol/reads/read-counters.ts";
import type { ApiContext } from "./api-env.ts";
import { prefers } from "./routing.ts";
import { noted, once } from "./schema.ts";

/** Of a read; preferences that are not known are left alone (RFC 7240). */
export const timingHeader = once(() =>
  z.object({
    prefer: z.optional(
      noted(z.string(), {
        description:
          "server-timing: the answer tells in Server-Timing what it took: the time in ms, requests to " +
          "bookies (attempts), those that raced a slow one (hedges), of them those out of the region " +
          "(cross-region-hedges), those sent on after a failure or silence (failovers), and from how far " +
          "away the answers came (winner).",
      }),
    ),
  }),
);

/** Says what an answer cost, if the caller prefers to know. */
export function timeAnswer(c: ApiContext, prefer: string | undefined, cost: ReadCost | undefined): void {
  if (cost === undefined || !prefers(prefer, "server-timing")) return;
  c.header("Server-Timing", serverTiming(cost));
  c.header("Preference-Applied", "server-timing");
}

function serverTiming({ elapsedMs, counters }: ReadCost): string {
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
