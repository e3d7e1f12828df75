/** How some plans of a profile differ from the others. */
import type { Fault } from "../faults.ts";
import type { ActorPlan, FunctionsPlan } from "../plan.ts";
import type { Stage } from "./draw-actors.ts";
import type { Scene } from "./draw-faults.ts";

export interface Varied {
  readonly functions?: readonly FunctionsPlan[];
  readonly actors: readonly ActorPlan[];
  /** `faults` are those that were drawn; the answer is what strikes. */
  faults(scene: Scene, faults: readonly Fault[]): Fault[];
}

/**
 * Draws from a random stream of its own, so that the plans that do not differ stay as they are: for those it
 * answers undefined.
 */
export type Variant = (seed: number, stage: Stage, actors: readonly ActorPlan[]) => Varied | undefined;
