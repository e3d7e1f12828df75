/** Which bookies hold a ledger: the question, apart from the policy that answers it. */
import type { BookieId, LedgerId, Region } from "../ids.ts";
import type { Fragment, Replication } from "../ledger/ledger-metadata.ts";
import type { BookieAddress } from "../place.ts";

export interface EnsembleRequest {
  readonly ledgerId: LedgerId;
  readonly replication: Replication;
  readonly candidates: readonly BookieAddress[];
  /** Never chosen: bookies that just failed, among others. */
  readonly excluded: ReadonlySet<BookieId>;
  /** The writer's region, which comes first among equals. */
  readonly home: Region;
}

export interface ReplacementRequest extends EnsembleRequest {
  readonly fragment: Fragment;
  /** Positions of the ensemble to be filled by other bookies, all together. */
  readonly positions: readonly number[];
}

/** An ensemble in ring order, or why there is none. A refusal changes nothing. */
export type PlacementAnswer =
  | { readonly kind: "ensemble"; readonly ensemble: readonly BookieAddress[] }
  | { readonly kind: "refused"; readonly reason: string };

export interface Placement {
  chooseEnsemble(request: EnsembleRequest): PlacementAnswer;
  /** The fragment's ensemble with other bookies at `positions`; the other positions stay as they are. */
  replaceBookies(request: ReplacementRequest): PlacementAnswer;
}
