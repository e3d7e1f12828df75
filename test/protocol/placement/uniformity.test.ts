/** Over many ledgers each region's, each rack's and each bookie's share is even. */
import { expect, test, vi } from "vitest";
import { region } from "../../../lib/protocol/ids.ts";
import { placeEnsemble } from "../../../lib/protocol/placement/region-aware.ts";
import { CPU_BOUND, EXHAUSTIVE } from "../../cpu-bound.ts";
import { deviations, quickCases } from "./shares.ts";
import { ledgers, placed, regionRing, regionsOf, request, tally } from "./topologies.ts";

vi.setConfig({ testTimeout: CPU_BOUND.timeout });

test.each(quickCases.map((shares) => [shares.name, shares] as const))(
  "30,000 ledgers, regions and racks within 2 %%: %s",
  EXHAUSTIVE,
  (_, shares) => {
    const farthest = deviations(shares, 30_000);
    expect(farthest.region).toBeLessThan(0.02);
    expect(farthest.rack).toBeLessThan(0.02);
    expect(farthest.bookie).toBeLessThan(0.05);
  },
);

test("one writer's region gets the odd copy each time, and the others take turns", () => {
  const home = region("r2");
  const members = ledgers(2_000).flatMap((ledgerId) =>
    regionRing(placed(placeEnsemble(request(regionsOf([2, 2, 2], 2), "5/5/4 m2", { ledgerId, home })))),
  );
  const counts = tally(members);
  expect(counts.r2).toBe(4_000);
  for (const other of ["r1", "r3"]) expect(Math.abs((counts[other] ?? 0) - 3_000)).toBeLessThan(120);
});
