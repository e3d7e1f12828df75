/** Every wrong version of the protocol that a checker must catch. */
import { bookieMutants } from "./bookie-mutants.ts";
import { collectionMutants } from "./collection-mutants.ts";
import { leaseMutants } from "./lease-mutants.ts";
import { lifeMutants } from "./life-mutants.ts";
import { logMutants } from "./log-mutants.ts";
import { metadataMutants } from "./metadata-mutants.ts";
import type { Mutant } from "./mutant.ts";
import { ownerMutants } from "./owner-mutants.ts";
import { placementMutants } from "./placement-mutants.ts";
import { readerMutants } from "./reader-mutants.ts";
import { recoveryMutants } from "./recovery-mutants.ts";
import { upkeepMutants } from "./upkeep-mutants.ts";
import { writerMutants } from "./writer-mutants.ts";

export const allMutants: readonly Mutant[] = [
  ...bookieMutants,
  ...writerMutants,
  ...recoveryMutants,
  ...readerMutants,
  ...metadataMutants,
  ...collectionMutants,
  ...logMutants,
  ...leaseMutants,
  ...ownerMutants,
  ...lifeMutants,
  ...upkeepMutants,
  ...placementMutants,
];
