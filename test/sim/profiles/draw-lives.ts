/** Draws logs that are trimmed, audited, collected, sealed, deleted and created again while they are written. */
import type { Fault, MessageFault } from "../faults.ts";
import type { ActorPlan, FunctionsPlan } from "../plan.ts";
import type { Stage } from "./draw-actors.ts";
import { type Scene, windowIn } from "./draw-faults.ts";

/** Segments are short, so that there is something to take away all the time. */
export function lifeActors(stage: Stage, log: string): ActorPlan[] {
  const { random, world, workMs } = stage;
  const segmentBytes = random.pick([60, 200, 400]);
  const base = (name: string, operations: number) => ({
    name,
    region: random.pick(world.regions),
    operations,
    pauseMs: (workMs / operations) * random.logBetween(0.3, 1.5),
    startMs: random.between(0, 500),
    log,
  });
  const callers = Array.from(
    { length: random.integer(2, 4) },
    (_, index): ActorPlan => ({
      kind: "log-caller",
      ...base(`caller-${index}`, random.integer(15, 60)),
      window: random.pick([1, 1, 3]),
      matches: random.pick([0, 0, 0.3]),
      segmentBytes,
      roams: random.pick([0, 0.5]),
      patienceMs: random.pick([3_000, 25_000]),
      // No producers: each life of the name would begin with a gap.
      ...(index % 2 === 1 ? { idempotent: "key" } : {}),
    }),
  );
  const keeper: ActorPlan = { kind: "log-keeper", ...base("keeper-0", random.integer(20, 80)) };
  const seals = random.pick([0, 0.5, 1]);
  const deletes = random.chance(0.5);
  const ends = deletes ? random.integer(2, 8) : 1;
  const ender: ActorPlan = { kind: "log-ender", ...base("ender-0", ends), segmentBytes, seals, deletes };
  const reader: ActorPlan = {
    kind: "log-reader",
    ...base("log-reader-0", random.integer(20, 60)),
    strong: random.pick([1, 0.8]),
  };
  return [...callers, keeper, ...(seals > 0 || deletes ? [ender] : []), reader];
}

/**
 * Metadata requests of functions that come late, nearly as late as a function waits for them or just later: the
 * log moves on while a write that was decided on an older state of it is still on its way.
 */
export function lateMetadata(scene: Scene, functions: readonly FunctionsPlan[]): Fault[] {
  const { random, calmMs } = scene;
  return functions.flatMap(({ name, instancesMax }) =>
    Array.from({ length: instancesMax }, (_, index): MessageFault => {
      const [fromMs, toMs] = random.chance(0.5) ? [0, calmMs] : windowIn(random, calmMs);
      const probability = random.logBetween(0.01, 0.3);
      const from = { name: `${name}/${index}` };
      const delayMs: readonly [number, number] = [500, random.pick([2_900, 10_000])];
      return { kind: "request-late", wire: "metadata", from, to: "*", probability, fromMs, toMs, delayMs };
    }),
  );
}
