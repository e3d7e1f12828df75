/** A fixed handful of seeds of each profile, in every run of the tests; `npm run sim` runs as many as one likes. */
import { describe, expect, test } from "vitest";
import { drawPlan, profiles } from "./profiles/all-profiles.ts";
import { runPlan } from "./run-plan.ts";

const SEEDS = 6;

describe.each(profiles.map(({ name }) => name))("profile %s", (profile) => {
  test(`${SEEDS} seeds break no promise and end`, { timeout: 120_000 }, async () => {
    let acknowledged = 0;
    for (let seed = 1; seed <= SEEDS; seed++) {
      const { violation, counts } = await runPlan(drawPlan(profile, seed));
      const replay = `npm run sim -- --profile ${profile} --seed ${seed}`;
      expect(violation, replay).toBeUndefined();
      acknowledged += counts.acknowledged;
    }
    expect(acknowledged).toBeGreaterThan(SEEDS);
  });
});
