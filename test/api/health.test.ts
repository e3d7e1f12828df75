/** How many regions may be lost: what metadata outlives, and after which a new ledger still has a place. */
import { expect, it } from "vitest";
import { placeableNow, servingNow } from "../../lib/api/health.ts";
import { presets } from "../../lib/api/log-config.ts";
import { type BookieId, bookieId, region } from "../../lib/protocol/ids.ts";
import type { Topology } from "../../lib/protocol/ports.ts";

type States = ReturnType<NonNullable<Topology["states"]>>;

/** `bookies`: of each region, `down` being the last ones of the first. */
function healthOf(
  bookies: Readonly<Record<string, number>>,
  more: {
    readonly metadataSpare?: number;
    readonly metadataRegions?: readonly string[];
    readonly down?: readonly BookieId[];
    readonly draining?: readonly string[];
    readonly replication?: (typeof presets)[keyof typeof presets];
  } = {},
) {
  const { metadataSpare = 1, metadataRegions = ["a", "b", "c"], down = [], draining = [] } = more;
  const addresses = Object.entries(bookies).flatMap(([name, count]) =>
    Array.from({ length: count }, (_, n) => ({
      id: bookieId(`${name}.b${n}~s`),
      place: { region: region(name), rack: `r${n}` },
    })),
  );
  const states = {
    bookies: new Map(),
    regions: new Map(draining.map((name) => [region(name), "draining"])),
  } as unknown as States;
  const placeable = placeableNow({
    home: region("a"),
    replication: more.replication ?? presets.standard,
    bookies: addresses,
    silent: new Set(down),
    topology: { states: () => states },
  });
  const troubles = down.length === 0 ? "" : "Some are down. ";
  return servingNow({ placeable, troubles, cannot: placeable.reason, metadataSpare, metadataRegions });
}

const [three, five] = [
  { a: 2, b: 2, c: 2 },
  { a: 2, b: 2, c: 2, d: 2, e: 2 },
];

it("is what is left beyond the regions that an append needs, as far as metadata outlives it", () => {
  const losses = (bookies: Record<string, number>, metadataSpare: number) =>
    healthOf(bookies, { metadataSpare }).survivableRegionLosses;
  expect([losses(three, 1), losses(five, 1), losses(five, 2), losses(five, 0)]).toEqual([1, 1, 2, 0]);
  expect([losses({ a: 3, b: 3 }, 0), losses({ a: 3, b: 3 }, 1), losses(five, -1)]).toEqual([0, 0, 0]);
});

it("counts no region that is drained", () => {
  expect(healthOf(three, { draining: ["c"] }).survivableRegionLosses).toBe(0);
  expect(healthOf(five, { draining: ["c", "d"] }).survivableRegionLosses).toBe(1);
});

it("counts bookies, too: regions that are up may have too few for what a ledger needs", () => {
  const lacking = healthOf(three, { down: [bookieId("c.b1~s")] });
  expect(lacking).toMatchObject({ status: "degraded", survivableRegionLosses: 0 });
  expect(lacking.detail).toBe("Some are down. No further region may be lost.");
  // Six copies have a place, and none where a region of three bookies is lost.
  const { resilient: replication } = presets;
  const sizes = { a: 3, b: 3, c: 2 };
  expect(healthOf(sizes, { replication }).survivableRegionLosses).toBe(0);
  expect(healthOf(sizes, { replication }).status).toBe("ok");
});

it("is none where a ledger has no place now", () => {
  expect(healthOf({ a: 2 })).toMatchObject({ status: "unavailable", survivableRegionLosses: 0 });
});

it("counts regions that metadata does not need by themselves, in words", () => {
  const words = (bookies: Record<string, number>, metadataSpare: number, metadataRegions: string[]) =>
    healthOf(bookies, { metadataSpare, metadataRegions }).detail;
  expect(words(three, 1, ["a", "b", "c"])).toBe(
    "Any 1 of the regions may be lost and appends and reads go on.",
  );
  expect(words(five, 1, ["a", "b", "c"])).toBe(
    "Any 1 of the regions, or any 2 of those that metadata does not need (d, e), " +
      "may be lost and appends and reads go on.",
  );
  expect(words({ a: 2, c: 2, d: 2, e: 2 }, 0, ["a", "b", "c"])).toBe(
    "No region may be lost, save any 2 of those that metadata does not need (d, e).",
  );
  expect(words({ a: 2, b: 2 }, 0, ["a", "b"])).toBe("No region may be lost.");
});

it("says no more than was tried, and tries little, where regions are many", () => {
  const many = Object.fromEntries(Array.from({ length: 24 }, (_, n) => [`r${n}`, 2]));
  const beganMs = performance.now();
  const { survivableRegionLosses } = healthOf(many, { metadataSpare: 20 });
  expect(survivableRegionLosses).toBe(2);
  expect(performance.now() - beganMs).toBeLessThan(5_000);
});
