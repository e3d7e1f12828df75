/** Draws what operators do to regions and bookies while a run goes on, and the bookies that join it. */
import type { Fault } from "../faults.ts";
import type { BookiePlan } from "../plan.ts";
import type { SeededRandom } from "../seeded-random.ts";
import { type Scene, windowIn } from "./draw-faults.ts";

/** Bookies that nobody knows at first, in a region of the world or in one of their own. */
export function drawJoiners(
  random: SeededRandom,
  regions: readonly string[],
  spareRegion: string | undefined,
  known: number,
): BookiePlan[] {
  const isNewRegion = spareRegion !== undefined && random.chance(0.6);
  const region = isNewRegion ? spareRegion : random.pick(regions);
  return Array.from({ length: random.integer(1, 3) }, (_, index) => ({
    name: `b${known + index}`,
    region,
    rack: `rack-${index % 2}`,
    instances: 2,
    joins: true,
  }));
}

/** Regions drained or said to be lost, bookies read-only or lost, and taken back; each new bookie added once. */
export function topologyChanges(scene: Scene, count: number): Fault[] {
  const { random, world, calmMs } = scene;
  const added = world.bookies
    .filter(({ joins }) => joins === true)
    .map(({ name }): Fault => {
      const fromMs = random.between(0, calmMs * 0.6);
      return { kind: "bookie-added", target: name, fromMs, toMs: fromMs };
    });
  const said = Array.from({ length: count }, (): Fault => {
    const [fromMs, toMs] = windowIn(random, calmMs);
    if (random.chance(0.5)) {
      const kind = random.pick(["region-draining", "region-lost"] as const);
      return { kind, target: random.pick(world.regions), fromMs, toMs };
    }
    const kind = random.pick(["bookie-read-only", "bookie-lost"] as const);
    return { kind, target: random.pick(world.bookies).name, fromMs, toMs };
  });
  return [...added, ...said];
}
