/** Profiles in which a log is written as it is deployed: through the `append` functions of regions. */
import type { Fault } from "../faults.ts";
import type { ActorPlan, FunctionsPlan, Plan } from "../plan.ts";
import { SeededRandom } from "../seeded-random.ts";
import type { Stage } from "./draw-actors.ts";
import {
  bookieOutages,
  messageFaults,
  metadataBrownouts,
  regionOutages,
  rollingOutages,
  type Scene,
  stops,
  wrongClocks,
} from "./draw-faults.ts";
import {
  busyRegions,
  callerActors,
  functionMessageFaults,
  functionsOf,
  INBOX_KINDS,
  inboxActors,
  leaseOutages,
  leasesInDoubt,
  oneWayCuts,
  residentsOf,
  stricken,
  unheardCalls,
  withLeases,
  wrongFunctionClocks,
} from "./draw-functions.ts";
import { lateMetadata, lifeActors } from "./draw-lives.ts";
import { auditedActors, drains, moverActors } from "./draw-upkeep.ts";
import { drawWorld } from "./draw-world.ts";

interface FunctionProfile {
  readonly name: string;
  readonly tails: readonly [probability: number, ms: number];
  /** Range of the time in which actors work. */
  readonly lastsMs?: readonly [least: number, most: number];
  readonly isCalm?: true;
  /** The clients beside the functions. */
  actors?(stage: Stage): ActorPlan[];
  /** Residents serve the log's inbox, and many callers in few regions make it worth while. */
  readonly hasInbox?: true;
  faults(scene: Scene, functions: readonly FunctionsPlan[]): Fault[];
}

const LASTS_MS: readonly [number, number] = [10_000, 60_000];

const some = (scene: Scene, probability: number, make: () => Fault[]) =>
  scene.random.chance(probability) ? make() : [];

const functionProfiles: readonly FunctionProfile[] = [
  { name: "hand-off-calm", tails: [0.01, 50], isCalm: true, faults: () => [] },
  {
    name: "hand-off",
    tails: [0.03, 1_000],
    faults: (scene, functions) => [
      ...some(scene, 0.8, () => stricken(scene, functions)),
      ...some(scene, 0.7, () => functionMessageFaults(scene, 0.3, 0.2)),
      ...some(scene, 0.3, () => leaseOutages(scene, scene.random.integer(1, 3))),
      ...some(scene, 0.3, () => wrongFunctionClocks(scene, functions)),
      ...some(scene, 0.5, () => messageFaults(scene, 0.3, 0.1)),
      ...some(scene, 0.5, () => rollingOutages(scene, scene.random.integer(4, 20))),
      ...some(scene, 0.2, () => bookieOutages(scene, scene.random.integer(1, 2))),
      ...some(scene, 0.4, () => leasesInDoubt(scene, scene.random.integer(1, 4))),
    ],
  },
  {
    name: "owners",
    tails: [0.02, 300],
    faults: (scene, functions) => [
      ...some(scene, 0.6, () => oneWayCuts(scene, scene.random.integer(1, 4))),
      ...some(scene, 0.6, () => withLeases(regionOutages(scene, scene.random.integer(1, 2)))),
      ...some(scene, 0.4, () => leaseOutages(scene, scene.random.integer(1, 3))),
      ...some(scene, 0.5, () => functionMessageFaults(scene, 0.3, 0.3)),
      ...some(scene, 0.4, () => stricken(scene, functions)),
      ...some(scene, 0.3, () => metadataBrownouts(scene, scene.random.integer(1, 4))),
      ...some(scene, 0.3, () => messageFaults(scene, 0.2, 0.05)),
      ...some(scene, 0.3, () => busyRegions(scene, scene.random.integer(1, 3))),
    ],
  },
  {
    name: "lives",
    tails: [0.03, 1_000],
    actors: (stage) => lifeActors(stage, "log-0"),
    faults: (scene, functions) => [
      ...some(scene, 0.9, () => stricken(scene, functions)),
      ...some(scene, 0.6, () => lateMetadata(scene, functions)),
      ...some(scene, 0.4, () => functionMessageFaults(scene, 0.2, 0.1)),
      ...some(scene, 0.4, () => messageFaults(scene, 0.2, 0.05)),
      ...some(scene, 0.2, () => metadataBrownouts(scene, scene.random.integer(1, 4))),
    ],
  },
  {
    name: "transfers",
    tails: [0.02, 500],
    lastsMs: [20_000, 240_000],
    actors: (stage) => moverActors(stage, "log-0"),
    faults: (scene, functions) => [
      ...some(scene, 0.5, () => drains(scene, scene.random.integer(1, 3))),
      ...some(scene, 0.4, () => oneWayCuts(scene, scene.random.integer(1, 3))),
      ...some(scene, 0.3, () => withLeases(regionOutages(scene, 1))),
      ...some(scene, 0.4, () => leaseOutages(scene, scene.random.integer(1, 3))),
      ...some(scene, 0.4, () => functionMessageFaults(scene, 0.3, 0.2)),
      ...some(scene, 0.5, () => stricken(scene, functions)),
      ...some(scene, 0.4, () => stops(scene, scene.random.integer(1, 4), 0.3)),
      ...some(scene, 0.3, () => metadataBrownouts(scene, scene.random.integer(1, 4))),
      ...some(scene, 0.3, () => messageFaults(scene, 0.2, 0.05)),
    ],
  },
  {
    name: "audits",
    tails: [0.02, 500],
    lastsMs: [60_000, 900_000],
    actors: (stage) => auditedActors(stage),
    faults: (scene, functions) => [
      ...some(scene, 0.8, () => stricken(scene, functions)),
      ...some(scene, 0.6, () => stops(scene, scene.random.integer(2, 8), 0.3)),
      ...some(scene, 0.4, () => lateMetadata(scene, functions)),
      ...some(scene, 0.4, () => leasesInDoubt(scene, scene.random.integer(1, 4))),
      ...some(scene, 0.3, () => leaseOutages(scene, scene.random.integer(1, 3))),
      ...some(scene, 0.4, () => functionMessageFaults(scene, 0.2, 0.1)),
      ...some(scene, 0.4, () => messageFaults(scene, 0.2, 0.05)),
      ...some(scene, 0.3, () => metadataBrownouts(scene, scene.random.integer(1, 4))),
      ...some(scene, 0.3, () => wrongFunctionClocks(scene, functions)),
      ...some(scene, 0.2, () => wrongClocks(scene, 2)),
    ],
  },
  {
    name: "inbox",
    tails: [0.02, 500],
    hasInbox: true,
    actors: (stage) => inboxActors(stage, "log-0"),
    faults: (scene, functions) => [
      ...some(scene, 0.8, () => stricken(scene, functions)),
      ...some(scene, 0.7, () => functionMessageFaults(scene, 0.4, 0.2, INBOX_KINDS)),
      ...some(scene, 0.5, () => functionMessageFaults(scene, 0.2, 0.1)),
      ...some(scene, 0.3, () => leaseOutages(scene, scene.random.integer(1, 3))),
      ...some(scene, 0.3, () => leasesInDoubt(scene, scene.random.integer(1, 4))),
      ...some(scene, 0.3, () => oneWayCuts(scene, scene.random.integer(1, 2))),
      ...some(scene, 0.2, () => withLeases(regionOutages(scene, 1))),
      ...some(scene, 0.3, () => messageFaults(scene, 0.2, 0.05)),
      ...some(scene, 0.2, () => bookieOutages(scene, scene.random.integer(1, 2))),
      ...some(scene, 0.2, () => metadataBrownouts(scene, scene.random.integer(1, 3))),
    ],
  },
];

/** In turn where many are run; the inbox is asked for by its name, since no region is given one yet. */
export const functionProfileNames: readonly string[] = functionProfiles
  .filter(({ hasInbox }) => hasInbox !== true)
  .map(({ name }) => name);

/** Undefined: the profile is not one of these. */
export function drawFunctionPlan(profileName: string, seed: number): Plan | undefined {
  const profile = functionProfiles.find(({ name }) => name === profileName);
  if (profile === undefined) return undefined;
  const random = new SeededRandom(seed, `plan ${profile.name}`);
  const world = drawWorld(random, ...profile.tails);
  const workMs = random.logBetween(...(profile.lastsMs ?? LASTS_MS));
  const functions = profile.hasInbox ? residentsOf(random, world) : functionsOf(random, world);
  const stage = { random, world, workMs };
  const actors = profile.actors?.(stage) ?? callerActors(stage, "log-0");
  const calmMs = workMs * 1.2;
  const scene = { random, world, actors, calmMs };
  const drawn = profile.faults(scene, functions);
  const unheard = profile.isCalm
    ? []
    : unheardCalls(scene, new SeededRandom(seed, `unheard ${profile.name}`));
  const faults = [...drawn, ...unheard];
  const name = profile.name;
  return { seed, profile: name, world, functions, actors, faults, workMs, calmMs, recoverWithinMs: 60_000 };
}
