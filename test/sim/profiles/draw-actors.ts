/**
 * Draws which client does what. One that has many things to do pauses less between them, so that all last about as
 * long.
 */
import type { ActorPlan, WorldPlan } from "../plan.ts";
import type { SeededRandom } from "../seeded-random.ts";

export interface Stage {
  readonly random: SeededRandom;
  readonly world: WorldPlan;
  readonly workMs: number;
}

interface Common {
  readonly name: string;
  readonly region: string;
  readonly operations: number;
  readonly pauseMs: number;
  readonly startMs: number;
}

/** `hurry`: 1 fills the time, more is done earlier. */
function common({ random, world, workMs }: Stage, name: string, operations: number, hurry: number): Common {
  const region = random.pick(world.regions);
  const pauseMs = (workMs / operations / hurry) * random.logBetween(0.2, 2);
  return { name, region, operations, pauseMs, startMs: random.between(0, 200) };
}

const times = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index));

export function ledgerActors(stage: Stage): ActorPlan[] {
  const { random } = stage;
  return [
    ...times(
      random.integer(1, 3),
      (index): ActorPlan => ({
        kind: "ledger-writer",
        ...common(stage, `writer-${index}`, random.integer(100, 450), 0.7),
        window: random.pick([1, 2, 4, 10]),
        ledgerEntries: random.pick([3, 8, 20, 60, 200]),
        closes: random.unit(),
      }),
    ),
    ...times(
      random.integer(1, 3),
      (index): ActorPlan => ({
        kind: "ledger-reader",
        ...common(stage, `reader-${index}`, random.integer(20, 80), 1),
        strong: random.chance(0.85),
        keeps: random.between(0.3, 1),
      }),
    ),
    ...times(
      random.integer(1, 2),
      (index): ActorPlan => ({
        kind: "ledger-recoverer",
        ...common(stage, `recoverer-${index}`, random.integer(2, 10), 1),
      }),
    ),
  ];
}

/** Clients that delete and sweep what the others may still be using. */
export function collectors(stage: Stage): ActorPlan[] {
  const { random } = stage;
  return times(
    random.integer(1, 2),
    (index): ActorPlan => ({
      kind: "ledger-collector",
      ...common(stage, `collector-${index}`, random.integer(5, 30), 1),
    }),
  );
}

/**
 * Whole-log clients; appenders of different regions take the log over from one another. In a contest each
 * region has one, and they hardly pause: segments change hands before anything is in them.
 */
export function logActors(stage: Stage): ActorPlan[] {
  const { random, world } = stage;
  const log = "log-0";
  const segmentBytes = random.pick([400, 2_000, 10_000, 100_000]);
  const isContest = random.chance(0.3);
  const appenders = isContest ? world.regions.length : random.integer(1, 3);
  const hurry = isContest ? 3 : 1;
  return [
    ...times(
      appenders,
      (index): ActorPlan => ({
        kind: "log-appender",
        ...common(stage, `appender-${index}`, random.integer(40, 200), 0.8 * hurry),
        ...(isContest ? { region: world.regions[index] ?? "" } : {}),
        log,
        window: random.pick([1, 1, 2, 6]),
        matches: random.pick([0, 0.3, 1]),
        segmentBytes,
      }),
    ),
    ...times(
      random.integer(1, 3),
      (index): ActorPlan => ({
        kind: "log-reader",
        ...common(stage, `log-reader-${index}`, random.integer(30, 120), hurry),
        log,
        strong: random.pick([1, 0.8, 0.3]),
      }),
    ),
    ...times(
      random.chance(0.3) ? 1 : 0,
      (index): ActorPlan => ({
        kind: "log-recoverer",
        ...common(stage, `log-recoverer-${index}`, random.integer(3, 15), 1),
        log,
      }),
    ),
  ];
}
