/** Which quorum sizes a log may have: also what the best-known implementation gets wrong there. */
import { describe, expect, test, vi } from "vitest";
import { region } from "../../../lib/protocol/ids.ts";
import { type Admission, admit, smallestAckQuorum } from "../../../lib/protocol/placement/admission.ts";
import type { RegionCount } from "../../../lib/protocol/placement/placement.ts";
import { CPU_BOUND } from "../../cpu-bound.ts";
import { smallestAckQuorums } from "./brute-force.ts";
import { replication } from "./topologies.ts";

vi.setConfig({ testTimeout: CPU_BOUND.timeout });

/** "3x20" or "20/3/3": bookies by region. */
function capacities(text: string): RegionCount[] {
  const [regions = 0, each = 0] = text.split("x").map(Number);
  const many = text.includes("x") ? new Array<number>(regions).fill(each) : text.split("/").map(Number);
  return many.map((bookies, index) => ({ region: region(`r${index + 1}`), bookies }));
}

function verdict(admission: Admission): string {
  if (admission.kind === "refused") return admission.change.includes("topology") ? "no room" : "refused";
  return admission.warnings.length === 0 ? "accepted" : "warned";
}

const smallest = (text: string) => smallestAckQuorum(replication(text));

/** Number of the row, topology, E/Qw/Qa, verdict, and the smallest legal ack quorum or "unfit of total". */
const table = [
  [1, "3x20", "15/15/8 m2", "refused", 9],
  [2, "3x20", "15/15/9 m2", "accepted", 9],
  [4, "3x20", "15/15/11 m2", "accepted", 9],
  [5, "3x20", "15/15/15 m2", "accepted", 9],
  [7, "3x20", "15/15/11 m3", "accepted", 11],
  [8, "3x1", "3/3/2 m2", "refused", 3],
  [10, "3x3", "3/3/3 m2", "accepted", 3],
  [11, "3x3", "3/3/3 m3", "accepted", 3],
  [13, "3x3", "4/2/2 m2", "accepted", 2],
  [14, "3x3", "4/3/2 m2", "refused", 3],
  [16, "3x3", "5/4/3 m2", "refused", 4],
  [17, "3x3", "5/4/4 m2", "accepted", 4],
  [19, "3x5", "5/5/4 m2", "accepted", 4],
  [20, "3x6", "6/6/4 m2", "accepted", 4],
  [22, "3x6", "6/3/3 m2", "accepted", 3],
  [23, "3x6", "6/3/3 m3", "accepted", 3],
  [25, "3x6", "9/3/3 m2", "accepted", 3],
  [26, "3x20", "15/5/4 m2", "accepted", 4],
  [28, "3x10", "7/6/4 m2", "refused", 5],
  [29, "3x10", "7/6/5 m2", "accepted", 5],
  [31, "3x10", "8/6/6 m3", "accepted", 6],
  [32, "5x4", "5/5/3 m3", "refused", 5],
  [34, "5x9", "15/15/10 m3", "refused", 11],
  [35, "5x9", "15/15/11 m3", "accepted", 11],
  [37, "5x3", "10/10/9 m5", "accepted", 9],
  [38, "4x2", "8/8/7 m4", "accepted", 7],
  [40, "4x4", "12/12/8 m3", "refused", 9],
  [41, "4x4", "8/8/5 m2", "accepted", 5],
  [43, "2x10", "4/4/3 m2", "accepted", 3],
  [44, "2x10", "4/4/2 m2", "refused", 3],
  [46, "2x10", "3/3/3 m2", "accepted", 3],
  [47, "1x10", "5/5/5 m2", "no room", "minRegions 2 is more than the 1 regions"],
  [49, "2x10", "5/5/3 m3", "no room", "minRegions 3 is more than the 2 regions"],
  [50, "20/20/2", "15/15/9 m2", "warned", "2 of 3 "],
  [52, "20/20/6", "15/15/9 m2", "warned", "2 of 3 "],
  [53, "20/3/3", "15/15/9 m2", "no room", "too many of its bookies in 1 of its regions"],
  [55, "10/1", "5/5/4 m2", "no room", "too many of its bookies in 1 of its regions"],
  [56, "8/8/1", "5/5/4 m2", "warned", "2 of 3 "],
  [58, "7x1", "3/3/3 m3", "accepted", 3],
  [59, "7x2", "5/3/3 m2", "warned", "21 of 21 "],
  [61, "3x5", "3/3/1 m2", "refused", 3],
  [62, "3x5", "3/5/3 m2", "refused", "ensembleSize 3 is below writeQuorum 5"],
] as const;

describe("table 2.5", () => {
  test.each(table)("row %i: %s, %s is %s (%s)", (_, topology, sizes, expected, detail) => {
    const admission = admit(replication(sizes), capacities(topology));
    expect(verdict(admission)).toBe(expected);
    if (typeof detail === "number") {
      expect(admission.smallestAckQuorum).toBe(detail);
      if (admission.kind === "refused")
        expect(admission.reason).toMatch(new RegExp(`(at least|be) ${detail}\\b`));
    } else {
      const texts = admission.kind === "refused" ? [admission.reason] : admission.warnings;
      expect(texts.join("\n")).toContain(detail);
    }
  });
});

test("three regions of twenty, E = Qw = 15, m = 2: 8 is refused with 'at least 9', 9 is accepted", () => {
  const refusal = admit(replication("15/15/8 m2"), capacities("3x20"));
  expect(refusal).toMatchObject({ kind: "refused", smallestAckQuorum: 9, change: ["ackQuorum"] });
  expect(refusal.kind === "refused" && refusal.reason).toContain("at least 9");
  const accepted = admit(replication("15/15/9 m2"), capacities("3x20"));
  expect(accepted).toMatchObject({
    kind: "accepted",
    warnings: [],
    degradedSurvivorSets: { total: 3, unfit: 0, bookiesPerRegion: 7 },
  });
});

describe("the smallest ack quorum (2.2)", () => {
  test("is the optimum over all arrangements on m regions, for all E <= 10, m <= 4, Qw <= E", () => {
    let compared = 0;
    for (let ensembleSize = 1; ensembleSize <= 10; ensembleSize++) {
      for (let minRegions = 1; minRegions <= 4; minRegions++) {
        const optimum = smallestAckQuorums(ensembleSize, minRegions);
        for (let writeQuorum = 1; writeQuorum <= ensembleSize; writeQuorum++) {
          const answer = smallestAckQuorum({ ensembleSize, writeQuorum, minRegions });
          const number = typeof answer === "number" ? answer : undefined;
          expect(number, `E ${ensembleSize} Qw ${writeQuorum} m ${minRegions}`).toBe(optimum[writeQuorum]);
          compared++;
        }
      }
    }
    expect(compared).toBe(220);
  });

  test("32 of 155 sizes need more than Qw - floor(Qw / m) + 1, which forgets E", () => {
    const differing: string[] = [];
    let sizes = 0;
    for (let ensembleSize = 2; ensembleSize <= 10; ensembleSize++) {
      for (let minRegions = 2; minRegions <= Math.min(4, ensembleSize); minRegions++) {
        for (let writeQuorum = 1; writeQuorum <= ensembleSize; writeQuorum++) {
          sizes++;
          const forgetful = Math.max(minRegions, writeQuorum - Math.floor(writeQuorum / minRegions) + 1);
          const naive = forgetful <= writeQuorum ? forgetful : undefined;
          const answer = smallestAckQuorum({ ensembleSize, writeQuorum, minRegions });
          const exact = typeof answer === "number" ? answer : undefined;
          if (exact !== naive)
            differing.push(`${ensembleSize},${writeQuorum},${minRegions}: ${naive}->${exact}`);
        }
      }
    }
    expect(sizes).toBe(155);
    expect(differing).toHaveLength(32);
    expect(differing).toEqual(
      expect.arrayContaining([
        "3,2,2: 2->undefined",
        "5,2,2: 2->undefined",
        "5,4,2: 3->4",
        "7,4,2: 3->4",
        "7,6,2: 4->5",
        "4,3,3: 3->undefined",
        "8,6,3: 5->6",
        "10,9,3: 7->8",
      ]),
    );
  });

  test("E = Qw = 3, Qa = 2, m = 2 in three regions is refused with the number that is needed", () => {
    const refusal = admit(replication("3/3/2 m2"), capacities("3x5"));
    expect(refusal).toMatchObject({
      kind: "refused",
      smallestAckQuorum: 3,
      change: ["ackQuorum"],
      reason: expect.stringMatching(/^ackQuorum is 2; with ensembleSize 3, .* it must be 3: /),
    });
  });

  test("where none is legal, each remedy that is named is the nearest, and works", () => {
    expect(smallest("3/2/1 m2")).toMatchObject({
      change: ["ensembleSize", "writeQuorum", "minRegions"],
      reason: expect.stringContaining("one of these helps: ensembleSize 2, writeQuorum 3, minRegions 1"),
    });
    expect(smallest("2/2/1 m2")).toBe(2);
    expect(smallest("3/3/1 m2")).toBe(3);
    expect(smallest("3/2/1 m1")).toBe(1);
    // Neither more copies nor more bookies alone make two span three regions.
    expect(smallest("2/2/1 m3")).toMatchObject({
      change: ["minRegions", "ensembleSize", "writeQuorum"],
      reason: expect.stringContaining("helps: minRegions 2, ensembleSize and writeQuorum 3"),
    });
    expect(smallest("3/3/1 m3")).toBe(3);
  });

  test.each([
    ["0/1/1 m1", /ensembleSize is 0; it must be a whole number from 1 to 60/],
    ["61/1/1 m1", /ensembleSize is 61/],
    ["4.5/3/3 m2", /ensembleSize is 4.5/],
    ["3/0/1 m1", /writeQuorum is 0/],
    ["3/3/1 m0", /minRegions is 0/],
    ["3/4/1 m1", /raise ensembleSize to 4 or lower writeQuorum to 3/],
  ])("%s is refused: %s", (text, reason) => {
    expect(smallest(text)).toMatchObject({ kind: "refused", reason: expect.stringMatching(reason) });
  });
});

describe("refusals", () => {
  test.each([
    ["4/4/5 m2", "ackQuorum is 5; with", "it must be at least 3 and at most 4"],
    ["4/4/0 m2", "ackQuorum is 0; with", "it must be at least 3 and at most 4"],
    ["4/4/2.5 m2", "ackQuorum is 2.5; with", "it must be at least 3 and at most 4"],
  ])("%s: %s ... %s", (sizes, ...parts) => {
    const refusal = admit(replication(sizes), capacities("3x4"));
    for (const part of parts) expect(refusal.kind === "refused" && refusal.reason).toContain(part);
  });

  test("a topology with too few bookies, one that names a region twice, one with half a bookie", () => {
    const sizes = replication("4/4/3 m2");
    const reasons = [
      capacities("2/1"),
      [...capacities("2/2"), ...capacities("2/2")],
      capacities("2/2.5"),
    ].map((topology) => admit(sizes, topology));
    expect(reasons).toMatchObject([
      { reason: expect.stringContaining("(r1: 2, r2: 1) has 3 bookies for an ensemble of 4") },
      { reason: expect.stringContaining("names r1 twice") },
      { reason: expect.stringContaining("gives r2 2.5 bookies") },
    ]);
  });

  test("bookies of unknown regions count for nothing (2.6, point 7)", () => {
    const unknown = { region: region("unknown"), bookies: 20 };
    const refusal = admit(replication("4/4/3 m2"), [...capacities("1x20"), unknown]);
    expect(refusal).toMatchObject({ kind: "refused", change: ["minRegions", "topology"] });
  });
});

describe("survivor sets", () => {
  test("the warning names those that could not host the log", () => {
    const accepted = admit(replication("15/15/9 m2"), capacities("20/20/6"));
    expect(accepted).toMatchObject({
      degradedSurvivorSets: {
        total: 3,
        unfit: 2,
        examples: [
          ["r1", "r3"],
          ["r2", "r3"],
        ],
      },
      warnings: [expect.stringContaining("(r1 and r3; r2 and r3): each region needs 7 usable bookies")],
    });
  });

  test("counting agrees with listing, on every third topology of five regions of up to four", () => {
    let sets = 0;
    for (let code = 0; code < 5 ** 5; code += 3) {
      const each = [0, 1, 2, 3, 4].map((place) => Math.floor(code / 5 ** place) % 5);
      const topology = capacities(each.join("/"));
      const admission = admit(replication("4/3/3 m2"), topology);
      if (admission.kind === "refused") continue;
      const { unfit, total } = admission.degradedSurvivorSets;
      const pairs = each.flatMap((one, index) => each.slice(index + 1).map((other) => [one, other] as const));
      // One copy in each window of three: each region needs ceil(4 / 3) = 2.
      const unfitPairs = pairs.filter(([one, other]) => Math.min(one, other) < 2 || one + other < 4);
      expect({ unfit, total }).toEqual({ unfit: unfitPairs.length, total: 10 });
      sets++;
    }
    expect(sets).toBeGreaterThan(700);
  });

  test("forty regions, any twenty of which must do: counted, not listed", () => {
    const accepted = admit(replication("40/40/40 m20"), capacities("40x2"));
    expect(accepted).toMatchObject({ degradedSurvivorSets: { total: 137_846_528_820, unfit: 0 } });
  });
});

/** R, m, E = Qw; steady, degraded, one loss in place, R - m losses in place. */
const bands = [
  [3, 2, 15, 6, 9, 10, 10],
  [3, 2, 6, 3, 4, 4, 4],
  [3, 2, 5, 3, 4, 3, 3],
  [3, 2, 3, 2, 3, 2, 2],
  [4, 2, 8, 3, 5, 6, 4],
  [5, 3, 15, 7, 11, 12, 9],
  [4, 3, 12, 7, 9, 9, 9],
  [3, 3, 9, 7, 7, 6, 9],
] as const;

test.each(bands)("table 2.4: R %i, m %i, E = Qw = %i", (regions, minRegions, size, ...band) => {
  const [steady, degraded, oneLoss, allLosses] = band;
  for (let ackQuorum = degraded; ackQuorum <= size; ackQuorum++) {
    const sizes = { ensembleSize: size, writeQuorum: size, ackQuorum, minRegions };
    const admission = admit(sizes, capacities(`${regions}x${size}`));
    const spare = regions - minRegions;
    const expected = ackQuorum <= allLosses ? spare : ackQuorum <= oneLoss ? Math.min(1, spare) : 0;
    expect(admission).toMatchObject({
      availability: {
        steadyAckQuorumMin: steady,
        degradedAckQuorumMin: degraded,
        oneLossAckQuorumMax: oneLoss,
        allLossesAckQuorumMax: allLosses,
        // Between one and all losses nothing is said by the table; five regions can lose one of two.
        lossesInPlace: expected,
      },
    });
  }
});
