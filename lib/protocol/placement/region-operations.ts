/** What operators say of regions and bookies, and what they see. */
import type { BookieId, Region } from "../ids.ts";
import type { BookieAddress, BookieState, RegionState } from "../place.ts";

export interface RegionDescription {
  readonly region: Region;
  readonly state: RegionState;
  readonly bookies: readonly BookieDescription[];
}

export interface BookieDescription extends BookieAddress {
  readonly state: BookieState;
}

/**
 * What operators say of regions and bookies. It moves new copies only; what is stored stays where it is.
 * Functions at work know within ten seconds, one that was idle asks with its first request. Each change may
 * be made twice.
 */
export interface RegionOperations {
  /** Every known region in order of name, read consistently. */
  regions(): Promise<readonly RegionDescription[]>;
  /** Throws `region_not_found`. */
  setRegionState(region: Region, state: RegionState): Promise<RegionDescription>;
  /** Throws `region_not_found`, or `bookie_not_found` if the region has no such bookie. */
  setBookieState(region: Region, bookie: BookieId, state: BookieState): Promise<BookieDescription>;
}
