/** The simulator about itself: one seed is one story, and another seed is another. */
import { describe, expect, test } from "vitest";
import { drawPlan, profiles } from "./profiles/all-profiles.ts";
import { runPlan } from "./run-plan.ts";

const story = async (profile: string, seed: number) =>
  (await runPlan(drawPlan(profile, seed), { trace: true })).lines.join("\n");

describe("determinism", () => {
  test.each(profiles.map(({ name }) => name))(
    "%s: two runs of a seed are the same, byte for byte",
    { timeout: 60_000 },
    async (profile) => {
      const first = await story(profile, 11);
      expect(first.length).toBeGreaterThan(1_000);
      expect(await story(profile, 11)).toBe(first);
      expect(await story(profile, 12)).not.toBe(first);
    },
  );
});
