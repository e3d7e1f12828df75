/** The profiles: what kind of trouble a seed is drawn from. */
import type { Fault } from "../faults.ts";
import type { ActorPlan, Plan } from "../plan.ts";
import { SeededRandom } from "../seeded-random.ts";
import { collectors, ledgerActors, logActors, type Stage } from "./draw-actors.ts";
import {
  bookieOutages,
  cuts,
  damage,
  failedRecoveries,
  laggingReplicas,
  longStops,
  messageFaults,
  metadataBrownouts,
  metadataOutage,
  regionOutages,
  rollingOutages,
  type Scene,
  slowActors,
  stops,
  wrongClocks,
} from "./draw-faults.ts";
import { drawSharing } from "./draw-sharing.ts";
import { drawTogether, repeatedMetadata } from "./draw-together.ts";
import { topologyChanges } from "./draw-topology.ts";
import { drawWorld } from "./draw-world.ts";
import { drawFunctionPlan, functionProfileNames } from "./function-profiles.ts";
import type { Variant } from "./variant.ts";

export interface Profile {
  readonly name: string;
  /** How often a message takes much longer than usual, and up to how long. */
  readonly tails: readonly [probability: number, ms: number];
  /** Whether ledgers are deleted and swept while others use them. */
  readonly collects?: boolean;
  /** Range of the time in which actors work. */
  readonly lastsMs?: readonly [least: number, most: number];
  /** Whether bookies and regions come and go. */
  readonly changes?: boolean;
  /** Whether metadata requests may be served twice, or answered late. */
  readonly repeats?: boolean;
  /** What some of the plans are made of instead, drawn from a stream of its own: the others stay as they are. */
  readonly variant?: Variant;
  faults(scene: Scene): Fault[];
}

const LASTS_MS: readonly [number, number] = [12_000, 170_000];

const light = (scene: Scene) => messageFaults(scene, 0.3, 0.05);
const some = (scene: Scene, probability: number, make: (scene: Scene) => Fault[]) =>
  scene.random.chance(probability) ? make(scene) : [];

export const profiles: readonly Profile[] = [
  { name: "calm", tails: [0.01, 50], faults: () => [] },
  {
    name: "lossy",
    tails: [0.03, 500],
    repeats: true,
    faults: (scene) => [
      ...some(scene, 0.4, (one) => slowActors(one, one.random.integer(1, 3))),
      ...some(scene, 0.4, laggingReplicas),
      ...some(scene, 0.4, (one) => metadataBrownouts(one, one.random.integer(2, 8))),
      ...messageFaults(scene, 0.5, 0.3),
      ...cuts(scene, scene.random.integer(0, 3)),
      ...some(scene, 0.3, (one) => bookieOutages(one, one.random.integer(1, 3))),
      ...some(scene, 0.7, (one) => rollingOutages(one, one.random.integer(8, 40))),
      ...some(scene, 0.6, damage),
    ],
  },
  {
    name: "region-loss",
    tails: [0.02, 300],
    faults: (scene) => [
      ...some(scene, 0.5, (one) => rollingOutages(one, one.random.integer(8, 30))),
      ...some(scene, 0.4, laggingReplicas),
      ...some(scene, 0.4, (one) => metadataBrownouts(one, one.random.integer(2, 8))),
      ...regionOutages(scene, scene.random.integer(1, 3)),
      ...some(scene, 0.3, metadataOutage),
      ...some(scene, 0.6, damage),
      ...some(scene, 0.5, (one) => wrongClocks(one, 5)),
      ...light(scene),
    ],
  },
  {
    name: "freeze",
    tails: [0.03, 2_000],
    faults: (scene) => [
      ...some(scene, 0.4, failedRecoveries),
      ...some(scene, 0.4, (one) => slowActors(one, one.random.integer(1, 3))),
      ...some(scene, 0.4, laggingReplicas),
      ...stops(scene, scene.random.integer(3, 12), 0.25),
      ...some(scene, 0.6, damage),
      ...some(scene, 0.5, (one) => wrongClocks(one, 5)),
      ...some(scene, 0.7, (one) => rollingOutages(one, one.random.integer(8, 40))),
      ...light(scene),
    ],
  },
  {
    name: "storm",
    tails: [0.04, 5_000],
    repeats: true,
    faults: (scene) => [
      ...some(scene, 0.4, failedRecoveries),
      ...some(scene, 0.4, (one) => slowActors(one, one.random.integer(1, 3))),
      ...some(scene, 0.4, laggingReplicas),
      ...some(scene, 0.4, (one) => metadataBrownouts(one, one.random.integer(2, 8))),
      ...messageFaults(scene, 0.5, 0.25),
      ...cuts(scene, scene.random.integer(0, 6)),
      ...some(scene, 0.3, (one) => bookieOutages(one, one.random.integer(1, 4))),
      ...some(scene, 0.8, (one) => rollingOutages(one, one.random.integer(10, 40))),
      ...stops(scene, scene.random.integer(0, 6), 0.3),
      ...some(scene, 0.6, damage),
    ],
  },
  {
    name: "clock",
    tails: [0.03, 500],
    faults: (scene) => [
      ...wrongClocks(scene, scene.random.integer(4, 12)),
      ...some(scene, 0.6, damage),
      ...light(scene),
    ],
  },
  {
    name: "collection",
    tails: [0.03, 2_000],
    collects: true,
    variant: drawSharing,
    faults: (scene) => [
      ...messageFaults(scene, 0.4, 0.1),
      ...stops(scene, scene.random.integer(0, 4), 0.3),
      ...longStops(scene, scene.random.integer(1, 5)),
      ...some(scene, 0.7, (one) => rollingOutages(one, one.random.integer(8, 30))),
    ],
  },
  {
    name: "combined",
    tails: [0.05, 3_000],
    repeats: true,
    variant: drawTogether,
    faults: (scene) => [
      ...some(scene, 0.4, failedRecoveries),
      ...some(scene, 0.4, (one) => slowActors(one, one.random.integer(1, 3))),
      ...some(scene, 0.4, laggingReplicas),
      ...some(scene, 0.4, (one) => metadataBrownouts(one, one.random.integer(2, 8))),
      ...messageFaults(scene, 0.4, 0.2),
      ...some(scene, 0.5, (one) => cuts(one, 2)),
      ...some(scene, 0.2, (one) => bookieOutages(one, one.random.integer(1, 3))),
      ...some(scene, 0.7, (one) => rollingOutages(one, one.random.integer(8, 40))),
      ...some(scene, 0.3, (one) => regionOutages(one, 1)),
      ...some(scene, 0.1, metadataOutage),
      ...some(scene, 0.6, (one) => stops(one, 4, 0.3)),
      ...some(scene, 0.4, (one) => wrongClocks(one, 3)),
      ...some(scene, 0.6, damage),
    ],
  },
  {
    // Storage is away for more than a minute before it comes back; ledgers have to be left open for longer.
    name: "damage",
    tails: [0.05, 2_000],
    lastsMs: [90_000, 170_000],
    faults: (scene) => [
      ...damage(scene),
      ...messageFaults(scene, 0.5, 0.3),
      ...cuts(scene, scene.random.integer(0, 4)),
      ...some(scene, 0.3, (one) => bookieOutages(one, one.random.integer(1, 2))),
      ...some(scene, 0.3, (one) => stops(one, 3, 0.5)),
    ],
  },
  {
    name: "topology",
    tails: [0.03, 1_000],
    changes: true,
    faults: (scene) => [
      ...topologyChanges(scene, scene.random.integer(5, 14)),
      ...some(scene, 0.8, (one) => rollingOutages(one, one.random.integer(10, 40))),
      ...some(scene, 0.3, (one) => regionOutages(one, 1)),
      ...some(scene, 0.3, laggingReplicas),
      ...some(scene, 0.3, (one) => stops(one, 3, 0.3)),
      ...light(scene),
    ],
  },
];

export const profileNames: readonly string[] = [
  ...profiles.map(({ name }) => name),
  ...functionProfileNames,
  "inbox",
];

export function drawPlan(profileName: string, seed: number): Plan {
  const name = profileName === "functions" ? turnOf(functionProfileNames, seed) : profileName;
  const withFunctions = drawFunctionPlan(name, seed);
  if (withFunctions !== undefined) return withFunctions;
  const profile = profiles.find(({ name }) => name === profileName);
  if (profile === undefined) {
    throw new RangeError(`no profile ${profileName}; there are ${profileNames.join(", ")}`);
  }
  const random = new SeededRandom(seed, `plan ${profile.name}`);
  const world = drawWorld(random, ...profile.tails, profile.changes);
  const workMs = random.logBetween(...(profile.lastsMs ?? LASTS_MS));
  const stage = { random, world, workMs };
  const drawn =
    profile.collects === true ? [...ledgerActors(stage), ...collectors(stage)] : drawActors(stage);
  const variant = profile.variant?.(seed, stage, drawn);
  const actors = variant?.actors ?? drawn;
  const calmMs = workMs * 1.2;
  const scene = { random, world, actors, calmMs };
  const plain = profile.faults(scene);
  const varied = variant?.faults(scene, plain) ?? plain;
  const faults =
    profile.repeats === true ? [...varied, ...repeatedMetadata(seed, profile.name, scene)] : varied;
  const functions = variant?.functions === undefined ? {} : { functions: variant.functions };
  const times = { workMs, calmMs, recoverWithinMs: 60_000 };
  return { seed, profile: profile.name, world, ...functions, actors, faults, ...times };
}

/** The profile of a seed when none is asked for: those without functions take turns; `functions` is the others. */
export function profileOf(seed: number): string {
  return turnOf(
    profiles.map(({ name }) => name),
    seed,
  );
}

const turnOf = (names: readonly string[], seed: number): string => names[seed % names.length] ?? "combined";

/** Ledgers alone, a log alone, or both in one world. */
function drawActors(stage: Stage): ActorPlan[] {
  const what = stage.random.unit();
  if (what < 0.45) return ledgerActors(stage);
  if (what < 0.9) return logActors(stage);
  return [...ledgerActors(stage), ...logActors(stage)];
}
