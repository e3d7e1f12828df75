/** The append functions of the other regions, as one region's append function calls them. */
import type { Clock } from "../protocol/deadline.ts";
import { FencelineError, unavailable } from "../protocol/errors.ts";
import type { Region } from "../protocol/ids.ts";
import type { LogAppends } from "../protocol/log/log-appends.ts";
import type { ForwardAnswer, RegionAppends } from "../protocol/log/log-ports.ts";
import type { AppendRequest } from "../protocol/log/operations.ts";
import type { Distances } from "./distances.ts";
import type { Gate, RegionSwitch } from "./region-switch.ts";
import { roundTrip } from "./round-trip.ts";

/** Another region, with its function of the moment. */
export interface Peer {
  readonly region: RegionSwitch;
  readonly append: LogAppends;
}

interface CloudAppendsFields {
  readonly peer: (region: Region) => Peer | undefined;
  /** Where the calling function runs. */
  readonly from: Region;
  /** What the calling function's own calls pass. */
  readonly outgoing: Gate;
  readonly clock: Clock;
  readonly distances: Distances;
}

export function cloudAppends(fields: CloudAppendsFields): RegionAppends {
  const { peer, from, outgoing, clock, distances } = fields;
  const call = async <T>(
    region: Region,
    what: string,
    ask: (append: LogAppends) => Promise<T>,
  ): Promise<T> => {
    const there = peer(region);
    if (there === undefined) throw unavailable(`this cloud has no region ${region}`, "none");
    return await outgoing(what, () =>
      roundTrip(clock, distances(from, region), () => there.region.call(what, () => ask(there.append))),
    );
  };
  return {
    append: (region, request) => call(region, "forwarded append", (append) => served(append, request)),
    canOwn: (region, log) => call(region, "canOwn", (append) => append.canOwn(log)),
    ask: (region, request) => call(region, request.kind, (append) => append.serve(request)),
  };
}

async function served(append: LogAppends, request: AppendRequest): Promise<ForwardAnswer> {
  try {
    return { kind: "acknowledged", ack: await append.append(request) };
  } catch (error) {
    if (error instanceof FencelineError) return { kind: "refused", error };
    throw error;
  }
}
