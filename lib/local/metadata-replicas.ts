/**
 * The metadata table as one region's functions see it, in mode `strong`: a replica in each of up to three
 * regions, or in two and a witness that is never down here. The nearest replica that is up takes the call.
 *
 * MR1 Writes and consistent reads need a majority of replicas. A stale read needs the one it asks.
 * MR2 Without a majority nothing is written, and the error names the regions that are there.
 */
import type { Clock } from "../protocol/deadline.ts";
import { FencelineError } from "../protocol/errors.ts";
import type { Region } from "../protocol/ids.ts";
import type { MetadataConsistency, MetadataStore } from "../protocol/ports.ts";
import { pause } from "../protocol/waiting.ts";
import type { Distances } from "./distances.ts";
import type { RegionSwitch } from "./region-switch.ts";
import { roundTrip } from "./round-trip.ts";

/** Replicas of a table in mode `strong`. */
export const REPLICAS_MAX = 3;

/** Silence of a missing majority that hangs, before the replica gives up. Below the caller's own wait. */
const MAJORITY_WAIT_MS = 2_000;

interface MetadataReplicasFields {
  /** What all replicas hold: they never diverge in this mode. */
  readonly store: MetadataStore;
  /** Regions with a replica. */
  readonly replicas: readonly RegionSwitch[];
  /** Where the asking functions run. */
  readonly region: Region;
  readonly clock: Clock;
  readonly distances: Distances;
}

export function metadataReplicas(fields: MetadataReplicasFields): MetadataStore {
  const { store } = fields;
  const ask = <T>(what: string, consistency: MetadataConsistency, call: () => Promise<T>): Promise<T> => {
    const replica = nearest(fields);
    if (replica === undefined) return withoutMajority(fields, what);
    const thereMs = fields.distances(fields.region, replica.region);
    return replica.call(what, async () => {
      if (consistency === "stale") return await roundTrip(fields.clock, thereMs, call);
      if (!hasMajority(fields.replicas)) return await withoutMajority(fields, what);
      return await roundTrip(fields.clock, thereMs + majorityMs(fields, replica), call);
    });
  };
  return {
    get: (key, consistency) => ask("metadata get", consistency, () => store.get(key, consistency)),
    query: (query, consistency) => ask("metadata query", consistency, () => store.query(query, consistency)),
    write: (key, expected, item, token) =>
      ask("metadata write", "consistent", () => store.write(key, expected, item, token)),
    remove: (key, expected) => ask("metadata remove", "consistent", () => store.remove(key, expected)),
  };
}

/** Round trip from a replica to the nearest other one that is up: together they are a majority. */
function majorityMs({ replicas, distances }: MetadataReplicasFields, from: RegionSwitch): number {
  const others = replicas.filter((replica) => replica !== from && replica.isUp);
  if (others.length === 0) return 0;
  return Math.min(...others.map((replica) => distances(from.region, replica.region)));
}

/** Whether writes and consistent reads are possible (MR1). */
export function hasMajority(replicas: readonly RegionSwitch[]): boolean {
  return votesToSpare(replicas) >= 0;
}

/** How many more replicas may be lost; below zero if there is no majority. */
export function votesToSpare(replicas: readonly RegionSwitch[]): number {
  const witnesses = replicas.length === 2 ? 1 : 0;
  const votes = replicas.filter((replica) => replica.isUp).length + witnesses;
  return votes - majorityOf(replicas.length + witnesses);
}

function majorityOf(votes: number): number {
  return Math.floor(votes / 2) + 1;
}

function nearest({ replicas, region }: MetadataReplicasFields): RegionSwitch | undefined {
  const up = replicas.filter((replica) => replica.isUp);
  return up.find((replica) => replica.region === region) ?? up[0];
}

async function withoutMajority({ replicas, clock }: MetadataReplicasFields, what: string): Promise<never> {
  const hangs = replicas.some((replica) => replica.manner === "hanging");
  if (hangs) await pause(clock, MAJORITY_WAIT_MS);
  const names = (up: boolean) => replicas.filter((one) => one.isUp === up).map((one) => one.region);
  throw new FencelineError("insufficient_regions", {
    message:
      `${what}: a majority of ${replicas.length} metadata replicas is needed; ` +
      `up: ${names(true).join(", ") || "none"}; down: ${names(false).join(", ") || "none"}`,
    sideEffects: "none",
    details: {
      answered_regions: names(true),
      silent_regions: names(false),
      // A cloud may have more regions than these.
      counted: "metadata_replicas",
      needed_regions: replicas.length === 2 ? 1 : majorityOf(replicas.length),
    },
  });
}
