/**
 * Draws logs that are written through regions' `append` functions into a plan that otherwise knows none: callers
 * beside or instead of whole-log clients, or logs with whole lives, and what goes wrong with functions and leases.
 */
import type { Fault } from "../faults.ts";
import type { ActorPlan, FunctionsPlan } from "../plan.ts";
import { SeededRandom } from "../seeded-random.ts";
import type { Stage } from "./draw-actors.ts";
import type { Scene } from "./draw-faults.ts";
import {
  callerActors,
  functionMessageFaults,
  functionsOf,
  leaseOutages,
  leasesInDoubt,
  oneWayCuts,
  stricken,
  withLeases,
  wrongFunctionClocks,
} from "./draw-functions.ts";
import { lateMetadata, lifeActors } from "./draw-lives.ts";
import type { Variant } from "./variant.ts";

/** How many plans know functions. */
const SHARE = 0.5;

export const drawHandOffs: Variant = (seed, stage, actors) => {
  const random = new SeededRandom(seed, "hand-offs combined");
  if (!random.chance(SHARE)) return undefined;
  const functions = functionsOf(random, stage.world);
  return {
    functions,
    actors: together(random, actors, { ...stage, random }),
    faults: (scene, faults) => [...withLeases(faults), ...functionFaults({ ...scene, random }, functions)],
  };
};

/**
 * Callers come instead of whole-log clients, or share the log with them; its readers and recoverers stay. A log
 * with whole lives is left to those who expect that of it.
 */
function together(random: SeededRandom, actors: readonly ActorPlan[], stage: Stage): ActorPlan[] {
  const log = "log-0";
  const isOfLog = (one: ActorPlan) => "log" in one;
  if (random.chance(0.3)) return [...actors.filter((one) => !isOfLog(one)), ...lifeActors(stage, log)];
  const callers = callerActors(stage, log);
  const beside = random.chance(0.5);
  const stay = actors.filter((one) => one.kind !== "log-appender" || beside);
  return [...stay.map((one) => likeOne(one, callers)), ...callers];
}

/** A log is created again only with the configuration that it has. */
function likeOne(actor: ActorPlan, callers: readonly ActorPlan[]): ActorPlan {
  const caller = callers.find(({ kind }) => kind === "log-caller");
  if (actor.kind !== "log-appender" || caller?.kind !== "log-caller") return actor;
  return { ...actor, segmentBytes: caller.segmentBytes };
}

function functionFaults(scene: Scene, functions: readonly FunctionsPlan[]): Fault[] {
  const { random } = scene;
  const some = (probability: number, make: () => Fault[]) => (random.chance(probability) ? make() : []);
  return [
    ...some(0.6, () => stricken(scene, functions)),
    ...some(0.5, () => functionMessageFaults(scene, 0.3, 0.2)),
    ...some(0.3, () => oneWayCuts(scene, random.integer(1, 3))),
    ...some(0.3, () => leaseOutages(scene, random.integer(1, 3))),
    ...some(0.4, () => leasesInDoubt(scene, random.integer(1, 4))),
    ...some(0.3, () => wrongFunctionClocks(scene, functions)),
    ...some(0.3, () => lateMetadata(scene, functions)),
  ];
}
