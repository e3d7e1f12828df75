/** Which bookies hold a ledger: the question, apart from the policy that answers it. */
import type { BookieId, LedgerId, Region } from "../ids.ts";
import type { BookieAddress, BookieState, Fragment, RegionState, Replication } from "../replication.ts";

export interface EnsembleRequest {
  readonly ledgerId: LedgerId;
  readonly replication: Replication;
  readonly candidates: readonly BookieAddress[];
  /** Never chosen: bookies that just failed, among others. */
  readonly excluded: ReadonlySet<BookieId>;
  /** The writer's region, which comes first among equals. */
  readonly home: Region;
  /** What the registry says of bookies; one that it does not name is writable. */
  readonly bookieStates?: ReadonlyMap<BookieId, BookieState>;
  /** What the registry says of regions; one that it does not name is accepting. */
  readonly regionStates?: ReadonlyMap<Region, RegionState>;
  /** Chosen only where there is no ensemble without them. */
  readonly quarantined?: ReadonlySet<BookieId>;
}

export interface ReplacementRequest extends EnsembleRequest {
  readonly fragment: Fragment;
  /** Positions of the ensemble to be filled by other bookies, all together. */
  readonly positions: readonly number[];
  /** Bookies that left an ensemble of this ledger; a writer never uses one again (rule 7). */
  readonly retired?: ReadonlySet<BookieId>;
  /**
   * Whether bookies at other positions may be replaced too if nothing else is legal. The caller then copies
   * to every position at which the answer differs from the fragment, not only to `positions` (rule 6b).
   */
  readonly othersMayLeave?: boolean;
}

/** Usable bookies of a region. */
export interface RegionCount {
  readonly region: Region;
  readonly bookies: number;
}

/** An ensemble in ring order, or why there is none. A refusal changes nothing. */
export type PlacementAnswer =
  | { readonly kind: "ensemble"; readonly ensemble: readonly BookieAddress[] }
  | PlacementRefusal;

export interface PlacementRefusal {
  readonly kind: "refused";
  readonly reason: string;
  /** The bookies that could have been chosen, counted by region. */
  readonly usable?: readonly RegionCount[];
}

export interface Placement {
  chooseEnsemble(request: EnsembleRequest): PlacementAnswer;
  /**
   * The fragment's ensemble with other bookies at `positions`; the other positions stay as they are unless
   * `othersMayLeave`.
   */
  replaceBookies(request: ReplacementRequest): PlacementAnswer;
}
