/** How a writer's tenure of an open ledger begins: with a fresh ledger, or where another holder left it. */
import { type BookieId, type EntryId, NO_ENTRY, newTenure, type Tenure } from "../ids.ts";
import type { Random } from "../random.ts";
import type { Fragment } from "../replication.ts";

export interface WriterStart {
  /** Never given to two writers of one ledger (rule 20). */
  readonly tenure: Tenure;
  /** The writer goes on behind it (rule 19). NO_ENTRY: nobody has added to the ledger. */
  readonly lastAddConfirmed: EntryId;
  /** Payload bytes of the entries up to there. */
  readonly length: number;
  /** Bookies that failed the holder before: the ensemble changes before anything is sent. */
  readonly suspects: readonly BookieId[];
}

export function freshStart(random: Random, tenure: Tenure = newTenure(random)): WriterStart {
  return { tenure, lastAddConfirmed: NO_ENTRY, length: 0, suspects: [] };
}

/** The places of the suspects in the ensemble. */
export function suspectPositions(fragment: Fragment, suspects: readonly BookieId[]): number[] {
  return fragment.ensemble.flatMap((member, position) => (suspects.includes(member.id) ? [position] : []));
}
