/** Every wrong version of the protocol: those that a checker must catch, and the others. */
import { bookieMutants } from "./bookie-mutants.ts";
import { collectionMutants } from "./collection-mutants.ts";
import { leaseMutants } from "./lease-mutants.ts";
import { lifeMutants } from "./life-mutants.ts";
import { logMutants } from "./log-mutants.ts";
import { metadataMutants } from "./metadata-mutants.ts";
import type { Mutant, WrongVersion } from "./mutant.ts";
import { ownerMutants } from "./owner-mutants.ts";
import { placementMutants } from "./placement-mutants.ts";
import { readerMutants } from "./reader-mutants.ts";
import { recoveryMutants } from "./recovery-mutants.ts";
import { senderMutants } from "./sender-mutants.ts";
import { testedMutants, uncaughtMutants } from "./tested-mutants.ts";
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
  ...senderMutants,
  ...lifeMutants,
  ...upkeepMutants,
  ...placementMutants,
];

/** Those that a test catches, and those that nothing catches, as well. */
export const everyVersion: readonly WrongVersion[] = [...allMutants, ...testedMutants, ...uncaughtMutants];
