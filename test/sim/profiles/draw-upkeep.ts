/** Draws operators who move logs, and regions' auditors on their schedule, beside those who write the logs. */
import type { Fault } from "../faults.ts";
import type { ActorPlan } from "../plan.ts";
import type { Stage } from "./draw-actors.ts";
import { type Scene, windowIn } from "./draw-faults.ts";
import { callerActors } from "./draw-functions.ts";
import { lifeActors } from "./draw-lives.ts";

/** One in each region, as deployed; a pass every half minute or so. */
export function auditorActors({ random, world, workMs }: Stage): ActorPlan[] {
  const everyMs = random.pick([5_000, 20_000, 60_000]);
  return world.regions.map(
    (region): ActorPlan => ({
      kind: "region-auditor",
      name: `auditor-${region}`,
      region,
      operations: Math.ceil(workMs / everyMs) + 1,
      pauseMs: 2 * everyMs,
      startMs: random.between(0, everyMs),
    }),
  );
}

/** A log under load that operators move, and that comes back to where it should be. */
export function moverActors(stage: Stage, log: string): ActorPlan[] {
  const { random, world, workMs } = stage;
  const movers = Array.from({ length: random.integer(1, 2) }, (_, index): ActorPlan => {
    const operations = random.integer(4, 20);
    return {
      kind: "log-mover",
      name: `mover-${index}`,
      region: random.pick(world.regions),
      operations,
      pauseMs: (workMs / operations) * random.logBetween(0.3, 1.5),
      startMs: random.between(0, 2_000),
      log,
      prefers: random.pick([0, 0.3, 0.8]),
    };
  });
  return [...callerActors(stage, log), ...movers, ...auditorActors(stage)];
}

/** A log with whole lives, and others that are written now and then, and mostly idle. */
export function auditedActors(stage: Stage): ActorPlan[] {
  const { random } = stage;
  const idle = Array.from({ length: random.integer(1, 2) }, (_, index): ActorPlan[] =>
    callerActors(stage, `log-${index + 1}`).map((actor) => ({
      ...actor,
      name: `${actor.name}-of-${index + 1}`,
      operations: Math.ceil(actor.operations / 8),
      pauseMs: actor.pauseMs * random.pick([0.3, 8]),
    })),
  ).flat();
  return [...lifeActors(stage, "log-0"), ...idle, ...auditorActors(stage)];
}

/** Regions that operators drain, or give up, and take back. */
export function drains({ random, world, calmMs }: Scene, count: number): Fault[] {
  return Array.from({ length: count }, (): Fault => {
    const [fromMs, toMs] = windowIn(random, calmMs);
    const kind = random.pick(["region-draining", "region-draining", "region-lost"] as const);
    return { kind, target: random.pick(world.regions), fromMs, toMs };
  });
}
