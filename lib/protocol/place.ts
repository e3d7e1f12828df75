/** Where a bookie stands: `/region/rack`. */
import type { Age } from "./deadline.ts";
import { type BookieId, type Region, region } from "./ids.ts";

export interface Place {
  readonly region: Region;
  readonly rack: string;
}

/**
 * The region of a bookie that could not be resolved. All such bookies together count as one place that may
 * be any region, so they never help an ack quorum to span regions; they may hold copies all the same.
 */
export const UNKNOWN_REGION: Region = region("unknown");

export function isKnownRegion(candidate: Region): boolean {
  return candidate !== UNKNOWN_REGION && candidate !== "";
}

/**
 * A bookie as placement and metadata know it. A member's place comes from the ledger's metadata, never from
 * the live topology.
 */
export interface BookieAddress {
  readonly id: BookieId;
  readonly place: Place;
}

/** Only an accepting region takes new copies; `draining` and `lost` differ for whoever repairs. */
export type RegionState = "accepting" | "draining" | "lost";

/** Only a writable bookie takes new copies; a read-only one still serves what it holds. */
export type BookieState = "writable" | "read-only" | "lost";

/** Every other region is a class of its own: 15 ms and 150 ms do not belong in one pool. */
export type DistanceClass = "same-rack" | "same-region" | `region ${string}`;

/** What operators say, as far as a process knows. */
export interface TopologyStates {
  readonly bookies: ReadonlyMap<BookieId, BookieState>;
  readonly regions: ReadonlyMap<Region, RegionState>;
  /** Counted from when the reading of it began. Absent: it is never old. */
  readonly readAt?: Age;
}
