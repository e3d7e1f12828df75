/**
 * What only some plans have beside what their profile draws: clients that delete and sweep ledgers, next to every
 * other trouble, and metadata requests that are served twice or answered late. Each from a random stream of its
 * own, so that the other plans stay as they are.
 */
import type { Fault, MessageFault } from "../faults.ts";
import type { ActorPlan } from "../plan.ts";
import { SeededRandom } from "../seeded-random.ts";
import { collectors, type Stage } from "./draw-actors.ts";
import { longStops, type Scene, windowIn } from "./draw-faults.ts";
import { drawHandOffs } from "./draw-hand-offs.ts";
import type { Variant, Varied } from "./variant.ts";

/** Functions beside ledgers and whole-log clients, or collectors beside ledgers, or neither. */
export const drawTogether: Variant = (seed, stage, actors) =>
  drawHandOffs(seed, stage, actors) ?? drawCollected(seed, stage, actors);

function drawCollected(seed: number, stage: Stage, actors: readonly ActorPlan[]): Varied | undefined {
  const random = new SeededRandom(seed, "collected combined");
  if (!actors.some(({ kind }) => kind === "ledger-writer") || !random.chance(0.4)) return undefined;
  return {
    actors: [...actors, ...collectors({ ...stage, random })],
    faults: (scene, faults) =>
      random.chance(0.5)
        ? [...faults, ...longStops({ ...scene, random }, random.integer(1, 3))]
        : [...faults],
  };
}

/**
 * A client of the metadata store that hears nothing sends its request again, and the first one may be served all
 * the same, at any time after the second. And what was served in time may be answered when its caller has gone.
 */
export function repeatedMetadata(seed: number, profile: string, { calmMs }: Scene): Fault[] {
  const random = new SeededRandom(seed, `repeated ${profile}`);
  if (!random.chance(0.25)) return [];
  return (["request-duplicated", "reply-late"] as const).map((kind): MessageFault => {
    const [fromMs, toMs] = random.chance(0.5) ? [0, calmMs] : windowIn(random, calmMs);
    const probability = random.logBetween(0.02, 0.3);
    const delayMs: readonly [number, number] = [20, random.pick([500, 3_000, 20_000])];
    return { kind, wire: "metadata", from: "*", to: "*", probability, fromMs, toMs, delayMs };
  });
}
