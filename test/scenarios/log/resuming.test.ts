/** How long appends stand still when the owner of a log is lost: never longer than owner-limits.ts says. */
import { describe, expect, test } from "vitest";
import { ownerLimits } from "../../../lib/protocol/log/ownership/owner-limits.ts";
import { CPU_BOUND, EXHAUSTIVE } from "../../cpu-bound.ts";
import { type Loss, Outage, type OutageFields } from "./outage.ts";

const presets: readonly (readonly [string, Omit<OutageFields, "seed">])[] = [
  ["standard", { quorums: [4, 4, 3], bookiesPerRegion: 2 }],
  ["economy", { quorums: [2, 2, 2], bookiesPerRegion: 2 }],
  ["resilient", { quorums: [6, 6, 4], bookiesPerRegion: 3 }],
];

const losses: readonly Loss[] = ["killed", "refusing", "hanging"];

describe.each(presets)("%s: appends resume in less than the stated sum", (_, fields) => {
  const resume = (seed: number) => async (loss: Loss) => {
    const outage = await Outage.make({ ...fields, seed });
    const { ms, story } = await outage.standstill(loss);
    expect(ms, story).toBeLessThan(ownerLimits.resumeMs);
  };
  test.each(losses)("once the owner is %s", CPU_BOUND, resume(0));
  test.each(losses)("once the owner is %s, by another seed", EXHAUSTIVE, resume(1));
});
