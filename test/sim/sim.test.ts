/** A fixed handful of seeds of each profile. `npm run sim` runs any number of others. */
import { describe, expect, test } from "vitest";
import { CPU_BOUND, EXHAUSTIVE } from "../cpu-bound.ts";
import { drawPlan, profileNames } from "./profiles/all-profiles.ts";
import { WHOLE } from "./reduction.ts";
import { runPlan } from "./run-plan.ts";
import { story } from "./story.ts";

const SEEDS = [1, 2];
const MORE_SEEDS = [3, 4, 5];

describe.each(profileNames)("the shipped protocol under %s", CPU_BOUND, (profile) => {
  const breaksNoRule = async (seed: number) => {
    const plan = drawPlan(profile, seed);
    const { violation, counts } = await runPlan(plan);
    if (violation !== undefined) expect.fail(await story(plan, WHOLE));
    expect(counts.steps).toBeGreaterThan(100);
  };
  test.each(SEEDS)("seed %i breaks no rule and goes on when the trouble is over", breaksNoRule);
  test.each(MORE_SEEDS)(
    "seed %i breaks no rule and goes on when the trouble is over",
    EXHAUSTIVE,
    breaksNoRule,
  );
});

/** Seeds that showed a fault once: profile, seed, and what was wrong. */
const FOUND = [
  ["transfers", 15, "a function that was frozen between requests did not hear that its region drains"],
] as const;

test.each(FOUND)("%s, seed %i: not again that %s", CPU_BOUND, async (profile, seed) => {
  const plan = drawPlan(profile, seed);
  const { violation } = await runPlan(plan);
  if (violation !== undefined) expect.fail(await story(plan, WHOLE));
});

test("clients get work done and faults strike in these seeds", CPU_BOUND, async () => {
  let acknowledged = 0;
  let faults = 0;
  for (const seed of [...SEEDS, ...MORE_SEEDS]) {
    const { counts } = await runPlan(drawPlan("combined", seed));
    acknowledged += counts.acknowledged;
    for (const count of counts.faults.values()) faults += count;
  }
  expect(acknowledged).toBeGreaterThan(50);
  expect(faults).toBeGreaterThan(200);
});
