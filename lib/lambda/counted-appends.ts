/**
 * What a region's functions ask of other regions', counted where it leaves. Forwards carry records, and each
 * is a caller's append to a log that another region owns. Owner requests carry none: a tail to settle for a
 * strong read, or a log that changes hands.
 */
import type { RegionAppends } from "../protocol/log/log-ports.ts";
import type { RegionWorld } from "./region-world.ts";

export function countedAppends({ appends, trace }: Pick<RegionWorld, "appends" | "trace">): RegionAppends {
  return {
    append: (region, request) => {
      trace.count("forwards");
      return appends.append(region, request);
    },
    // A look at the other side's health, which is taken on the way to a takeover: nothing is done there.
    canOwn: (region, log) => appends.canOwn(region, log),
    ask: (region, request) => {
      trace.count("ownerRequests");
      return appends.ask(region, request);
    },
  };
}
