/** Where a bookie stands: `/region/rack`. */
import type { BookieId, Region } from "./ids.ts";

export interface Place {
  readonly region: Region;
  readonly rack: string;
}

/**
 * A bookie as placement and metadata know it. A member's place comes from the ledger's metadata, never from
 * the live topology.
 */
export interface BookieAddress {
  readonly id: BookieId;
  readonly place: Place;
}
