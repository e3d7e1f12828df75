/**
 * Facts from the best-known implementation's own tests, numbered here, and run where the exact rule agrees
 * with them. Where it does not, or where there is nothing of the kind here, the reason stands beside
 * the number, with what happens instead where that is placement's matter. D is the unknown region.
 */
import { describe, expect, test } from "vitest";
import { bookieId, region } from "../../../lib/protocol/ids.ts";
import { checkEnsemble } from "../../../lib/protocol/placement/check-ensemble.ts";
import { placeEnsemble, replaceBookies } from "../../../lib/protocol/placement/region-aware.ts";
import { countByRegion } from "../../../lib/protocol/placement/usable-bookies.ts";
import type { BookieAddress } from "../../../lib/protocol/replication.ts";
import {
  bookie,
  ledgers,
  placed,
  refused,
  regionRing,
  regionsOf,
  replacement,
  replication,
  request,
  tally,
  topology,
} from "./topologies.ts";

const D = "unknown";
const idSet = (...names: string[]) => ({ excluded: new Set(names.map(bookieId)) });
const place = (candidates: readonly BookieAddress[], sizes: string, more = {}) =>
  placed(placeEnsemble(request(candidates, sizes, more)));
const cannotPlace = (candidates: readonly BookieAddress[], sizes: string, more = {}) =>
  refused(placeEnsemble(request(candidates, sizes, more)));

/** Write sets of two that lie in more than one region. */
function mixedPairs(ensemble: readonly BookieAddress[]): number {
  const ring = regionRing(ensemble);
  return ring.filter((name, index) => name !== ring[(index + 1) % ring.length]).length;
}

/** The fewest racks in any write set of an ensemble of one region. */
function fewestRacks(ensemble: readonly BookieAddress[], writeQuorum: number): number {
  const racks = ensemble.map((member) => member.place.rack);
  const spans = racks.map(
    (_, start) =>
      new Set(Array.from({ length: writeQuorum }, (_, at) => racks[(start + at) % racks.length])).size,
  );
  return Math.min(...spans);
}

const fourRegions = [
  bookie("a1", D),
  bookie("a2", "region1"),
  bookie("a3", "region2"),
  bookie("a4", "region3"),
];
/** Regions of 4, 4 and 2, every bookie in a rack of its own. */
const uneven = topology("region1:4/4,region2:4/4,region3:2/2");
const drained = (...names: string[]) => ({
  regionStates: new Map(names.map((name) => [region(name), "draining" as const])),
});

/** P17's ensemble: two of each of three regions; a third of region2 is free. */
const threeByThree = regionsOf([3, 3, 3]);
const p17 = ["r1.1", "r1.2", "r2.1", "r2.2", "r3.1", "r3.2"].map((name) => bookie(name, name.slice(0, 2)));
const replaceR2 = (sizes: string, more = {}) =>
  replaceBookies(replacement(threeByThree, sizes, p17, [2], more));

/** K7: two bookies in one rack, two in racks of their own. */
const twoInOneRack = [
  bookie("x1", "r", "1"),
  bookie("x2", "r", "1"),
  bookie("x3", "r", "2"),
  bookie("x4", "r", "3"),
];

const agreeing: Readonly<Record<string, () => void>> = {
  P1: () => {
    const a2 = bookie("a2", "region1", "r1");
    const cloud = [bookie("a1", D), a2, bookie("a3", "region1", "r2"), bookie("a4", "default-region", "r3")];
    const ensemble = placed(replaceBookies(replacement(cloud, "1/1/1 m1", [a2], [0])));
    expect(ensemble[0]?.id).toBe("a3");
  },
  P2: () => {
    const asked = replacement(fourRegions, "1/1/1 m1", fourRegions.slice(1, 2), [0], idSet("a1"));
    expect(placed(replaceBookies(asked))[0]?.id).toMatch(/^a[34]$/);
  },
  P3: () => void cannotPlace(fourRegions, "5/5/3 m1"),
  P5: () => {
    const asked = replacement(fourRegions, "1/1/1 m1", fourRegions.slice(1, 2), [0], idSet("a1", "a3", "a4"));
    refused(replaceBookies(asked));
  },
  P6: () => {
    for (const sizes of ["3/2/2 m1", "4/2/2 m1"]) expect(mixedPairs(place(topology("r:4"), sizes))).toBe(0);
  },
  P9: () => {
    const cloud = regionsOf([2, 2, 2, 2], 2);
    expect(mixedPairs(place(cloud, "3/2/2 m2"))).toBe(3);
    expect(mixedPairs(place(cloud, "4/2/2 m2"))).toBe(4);
  },
  P10: () => {
    const cloud = [
      ...topology("region1:6,region2:1,region3:1"),
      bookie("y2", "region1", "r2"),
      bookie("y3", "region1", "r3"),
    ];
    for (const ledgerId of ledgers(50)) expect(place(cloud, "10/10/2 m1", { ledgerId })).toHaveLength(10);
  },
  P11: () => {
    for (const sizes of ["6/6/4 m2", "7/7/4 m2", "8/8/5 m2", "9/9/5 m2"]) {
      const counts = tally(regionRing(place(uneven, sizes)));
      expect(Object.keys(counts)).toHaveLength(3);
      expect(counts.region3).toBe(2);
    }
  },
  P13: () => void cannotPlace(uneven, "6/6/4 m1", drained("region1", "region2")),
  P14: () => {
    // With region1 alone left out, all bookies of the other two.
    const counts = tally(regionRing(place(uneven, "6/6/4 m1", drained("region1"))));
    expect(counts).toEqual({ region2: 4, region3: 2 });
  },
  P15: () => {
    expect(Object.keys(tally(regionRing(place(regionsOf([3, 3, 3, 3, 3]), "10/10/10 m5"))))).toHaveLength(5);
  },
  P17: () => expect(tally(regionRing(place(threeByThree, "6/6/5 m3")))).toEqual({ r1: 2, r2: 2, r3: 2 }),
  P18: () => expect(placed(replaceR2("6/6/5 m3"))[2]?.id).toBe("r2.3"),
  P19: () => void refused(replaceR2("6/6/5 m3", idSet("r2.3"))),
  P21: () => expect(regionRing(placed(replaceR2("6/6/5 m1", idSet("r2.3"))))[2]).not.toBe("r2"),
  P23: () => {
    const cloud = topology("region1:9");
    const ensemble = place(cloud, "6/6/4 m1");
    expect(placed(replaceBookies(replacement(cloud, "6/6/4 m1", ensemble, [2])))).toHaveLength(6);
  },
  P25: () => void cannotPlace(regionsOf([2, 2, 2, 2, 2]), "5/5/5 m5", idSet("r5.1", "r5.2")),
  P26: () => {
    const cloud = regionsOf([2, 2, 2]);
    const ensemble = ["r1.1", "r2.1", "r3.1"].map((name) => bookie(name, name.slice(0, 2)));
    const left = cloud.filter(({ id }) => id !== "r1.1");
    expect(placed(replaceBookies(replacement(left, "3/3/2 m2", ensemble, [0])))[0]?.id).toBe("r1.2");
  },
  P27: () => {
    const sets = ledgers(200).map((ledgerId) =>
      [...new Set(regionRing(place(regionsOf([1, 1, 1, 1, 1]), "3/3/2 m2", { ledgerId })))].sort().join(),
    );
    // Any two sets of three of five overlap; all ten take their turn.
    expect(Object.keys(tally(sets))).toHaveLength(10);
  },
  P30: () => {
    const after = [
      bookie("a1", "region1"),
      bookie("a2", "region1", "rack-2"),
      bookie("a3", "region2"),
      bookie("a4", "region1", "rack-2"),
    ];
    expect(countByRegion(after)).toEqual([
      { region: "region1", bookies: 3 },
      { region: "region2", bookies: 1 },
    ]);
  },
  P31: () => {
    const after = [
      bookie("a1", "region1"),
      bookie("a2", "region3"),
      bookie("a3", "region2"),
      bookie("a4", "region3"),
    ];
    expect(countByRegion(after).map(({ bookies }) => bookies)).toEqual([1, 1, 2]);
    expect(Object.keys(tally(regionRing(place(after, "3/3/3 m3"))))).toHaveLength(3);
  },
  P33: () => {
    const two = [bookie("a1", D), bookie("a2", "region-1")];
    expect(cannotPlace(two, "2/2/2 m2")).toContain("usable: region-1: 1, unknown: 1");
    // Nothing is remembered from one request to the next: mapped, it is where it is.
    expect(cannotPlace([bookie("a1", "region-1"), bookie("a2", "region-1")], "2/2/2 m2")).toContain(
      "usable: region-1: 2",
    );
  },
  K1: () => {
    const cloud = topology("r:30/6");
    for (const [sizes, racks] of [
      ["12/6/4 m1", 4],
      ["6/6/4 m1", 6],
      ["10/10/6 m1", 6],
      ["24/12/7 m1", 5],
    ] as const) {
      const ensemble = place(cloud, sizes);
      expect(fewestRacks(ensemble, replication(sizes).writeQuorum)).toBeGreaterThanOrEqual(racks);
    }
  },
  K3: () => expect(fewestRacks(place(topology("r:20/4"), "15/3/3 m1"), 3)).toBe(3),
  K7: () => {
    const chosen = (cloud: readonly BookieAddress[]) =>
      ledgers(50).map((ledgerId) => place(cloud, "3/3/2 m1", { ledgerId }).map(({ id }) => id as string));
    for (const ids of chosen(twoInOneRack)) expect(ids.includes("x1") && ids.includes("x2")).toBe(false);
    for (const ids of chosen(twoInOneRack.slice(0, 3))) expect(ids.sort()).toEqual(["x1", "x2", "x3"]);
  },
};

interface Other {
  readonly reason: string;
  readonly instead?: () => void;
}

const racksNeverRefuse = "racks are spread as evenly as they allow and are no ground to refuse";
const readOrder = "concerns the order of reads: see reads/order-vectors.test.ts";
const speculation = "concerns speculative reads: see reads/speculative-vectors.test.ts";

const others: Readonly<Record<string, Other>> = {
  P7: {
    reason: "expects a bookie of the unknown region beside three known ones; here it comes last",
    instead: () => {
      const cloud = [bookie("a1", D), ...topology("region1:3")];
      expect(mixedPairs(place(cloud, "3/2/2 m1"))).toBe(0);
      expect(mixedPairs(place(cloud, "4/2/2 m1"))).toBe(2);
    },
  },
  P22: {
    reason: "no switch turns durability off while a log lives; sizes with m = 1, as in P21, ask for none",
    instead: () => void refused(replaceR2("6/6/5 m3", idSet("r2.3"))),
  },
  P29: {
    reason: "bookies over object stores have no free space to weigh them by",
    instead: () => {
      const chosen = ledgers(2_000).flatMap((ledgerId) =>
        place(topology("region1:2,region2:3"), "2/2/2 m2", { ledgerId }),
      );
      const counts = tally(chosen.map(({ id }) => id));
      expect(counts["region1.1"]).toBeGreaterThan(900);
      expect(counts["region1.2"]).toBeGreaterThan(900);
    },
  },
  K2: {
    reason: racksNeverRefuse,
    instead: () => expect(fewestRacks(place(topology("r:15/3"), "8/4/4 m1"), 4)).toBeGreaterThanOrEqual(2),
  },
  K5: {
    reason: racksNeverRefuse,
    instead: () => expect(fewestRacks(place(topology("r:4"), "3/2/2 m1"), 2)).toBe(1),
  },
  K6: {
    reason: racksNeverRefuse,
    instead: () => {
      const ensemble = twoInOneRack.slice(1, 4);
      const answer = placed(replaceBookies(replacement(twoInOneRack, "3/3/2 m1", ensemble, [1])));
      expect(answer.map(({ place: { rack } }) => rack)).toEqual(["1", "1", "3"]);
    },
  },
  K9: {
    reason: "nothing is remembered of bookies that left; the topology says who may be chosen",
    instead: () => void cannotPlace(topology("r:3"), "4/2/2 m1"),
  },
  K10: {
    reason: "ensembles are judged by regions; racks have no verdict of their own",
    instead: () => {
      const oneRack = topology("r:3");
      expect(checkEnsemble(oneRack, replication("3/3/2 m1"))).toEqual({ kind: "legal" });
    },
  },
  K11: {
    reason: "acks are counted by regions, not by racks (rule 5); weaknesses.test.ts has acks by regions",
  },
  K13: { reason: "nothing moves bookies for the sake of racks alone: that would retire sound ones (rule 7)" },
  K14: {
    reason: "acks are counted by regions, not by racks (rule 5); weaknesses.test.ts has acks by regions",
  },
  ...Object.fromEntries(
    [1, 2, 3, 5, 6, 7, 9, 10, 11, 13, 14, 15, 17, 18].map((n) => [`O${n}`, { reason: readOrder }]),
  ),
  ...Object.fromEntries([1, 2, 3, 5, 6, 7].map((n) => [`S${n}`, { reason: speculation }])),
};

/** All numbers. */
const numbers = [
  ..."P1 P2 P3 P5 P6 P7 P9 P10 P11 P13 P14 P15 P17 P18 P19 P21 P22 P23 P25 P26 P27 P29 P30 P31 P33".split(
    " ",
  ),
  ..."K1 K2 K3 K5 K6 K7 K9 K10 K11 K13 K14".split(" "),
  ..."O1 O2 O3 O5 O6 O7 O9 O10 O11 O13 O14 O15 O17 O18".split(" "),
  ..."S1 S2 S3 S5 S6 S7".split(" "),
];

describe("vectors that agree", () => {
  test.each(Object.entries(agreeing))("%s", (_, run) => run());
});

describe("vectors that do not", () => {
  const differing = Object.entries(others).flatMap(([number, { reason, instead }]) =>
    instead === undefined ? [] : [[number, reason, instead] as const],
  );
  test.each(differing)("%s: %s", (_, __, instead) => instead());
});

test("each vector either runs, or has a reason not to, and not both", () => {
  expect([...Object.keys(agreeing), ...Object.keys(others)].sort()).toEqual([...numbers].sort());
  expect(Object.keys(agreeing)).toHaveLength(25);
  for (const [number, { reason }] of Object.entries(others))
    expect(reason.length, number).toBeGreaterThan(20);
});
