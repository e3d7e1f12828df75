/** Placing a new ensemble. */
import { describe, expect, test, vi } from "vitest";
import { bookieId, type Region, region } from "../../../lib/protocol/ids.ts";
import { smallestAckQuorum } from "../../../lib/protocol/placement/admission.ts";
import { checkEnsemble } from "../../../lib/protocol/placement/check-ensemble.ts";
import { placeEnsemble } from "../../../lib/protocol/placement/region-aware.ts";
import { type RegionState, type Replication, UNKNOWN_REGION } from "../../../lib/protocol/replication.ts";
import { CPU_BOUND } from "../../cpu-bound.ts";
import { capacityLists, colourings, heaviest, LightestRings } from "./brute-force.ts";
import {
  ledgers,
  nowhere,
  placed,
  refused,
  regionRing,
  regionsOf,
  replication,
  request,
  tally,
  topology,
} from "./topologies.ts";

vi.setConfig({ testTimeout: CPU_BOUND.timeout });

describe("three regions of twenty, E = Qw = 15, Qa = 9, m = 2", () => {
  const cloud = topology("us-east-1:20/2,us-east-2:20/2,us-west-2:20/2");
  const sizes = replication("15/15/9 m2");

  test("five bookies of each region", () => {
    const answer = placeEnsemble(request(cloud, sizes));
    expect(tally(regionRing(placed(answer)))).toEqual({ "us-east-1": 5, "us-east-2": 5, "us-west-2": 5 });
  });

  test.each(["us-east-1", "us-east-2", "us-west-2"])(
    "with %s down, 8 + 7 that the checker accepts",
    (down) => {
      const regionStates = new Map<Region, RegionState>([[region(down), "lost"]]);
      const ensemble = placed(placeEnsemble(request(cloud, sizes, { regionStates })));
      expect(Object.values(tally(regionRing(ensemble))).sort()).toEqual([7, 8]);
      expect(regionRing(ensemble)).not.toContain(down);
      expect(checkEnsemble(ensemble, sizes)).toEqual({ kind: "legal" });
    },
  );

  test("with two regions down, a refusal that counts what is left", () => {
    const regionStates = new Map<Region, RegionState>([
      [region("us-east-2"), "draining"],
      [region("us-west-2"), "lost"],
    ]);
    const answer = placeEnsemble(request(cloud, sizes, { regionStates }));
    expect(refused(answer)).toMatch(/fewer than 2 regions, however spread \(usable: us-east-1: 20\)$/);
    expect(answer).toMatchObject({ usable: [{ region: "us-east-1", bookies: 20 }] });
  });
});

/** Every admitted replication with E <= 10 and m <= 4. */
function* admitted(): Generator<Replication> {
  for (let ensembleSize = 1; ensembleSize <= 10; ensembleSize++) {
    for (let minRegions = 1; minRegions <= 4; minRegions++) {
      for (let writeQuorum = 1; writeQuorum <= ensembleSize; writeQuorum++) {
        const smallest = smallestAckQuorum({ ensembleSize, writeQuorum, minRegions });
        if (typeof smallest !== "number") continue;
        for (let ackQuorum = smallest; ackQuorum <= writeQuorum; ackQuorum++) {
          yield { ensembleSize, writeQuorum, ackQuorum, minRegions };
        }
      }
    }
  }
}

test("2.3: for every admitted E <= 10, m <= 4, wherever m regions have what they need", () => {
  let ensembles = 0;
  for (const sizes of admitted()) {
    const { ensembleSize, writeQuorum, ackQuorum, minRegions } = sizes;
    const each =
      minRegions === 1 ? 0 : Math.ceil(((writeQuorum - ackQuorum + 1) * ensembleSize) / writeQuorum);
    const rest = ensembleSize - each * minRegions;
    const least = new Array<number>(minRegions).fill(each);
    const topologies = [
      // Just enough, the rest in one of the m regions, or in regions of one bookie each.
      [...least.slice(1), each + rest],
      [...least, ...new Array<number>(rest).fill(1)],
      // Plenty in m regions, and in two more.
      new Array<number>(minRegions).fill(ensembleSize),
      new Array<number>(minRegions + 2).fill(ensembleSize),
      [...least, ensembleSize],
    ];
    for (const capacities of topologies) {
      const answer = placeEnsemble(request(regionsOf(capacities, 2), sizes));
      if (answer.kind === "refused") throw new Error(`${capacities}: ${answer.reason}`);
      const check = checkEnsemble(answer.ensemble, sizes);
      if (check.kind === "illegal") throw new Error(check.reason);
      ensembles++;
    }
  }
  expect(ensembles).toBe(5 * [...admitted()].length);
  expect(ensembles).toBeGreaterThan(1_500);
});

test("wherever brute force finds an arrangement, and nowhere else: E <= 6, R <= 4, up to 4 each", () => {
  const outcomes = { placed: 0, refused: 0 };
  for (let regions = 1; regions <= 4; regions++) {
    for (let ensembleSize = 1; ensembleSize <= 6; ensembleSize++) {
      const rings = new LightestRings(ensembleSize, regions, 4);
      for (const capacities of capacityLists(regions, 4)) {
        for (let writeQuorum = 1; writeQuorum <= ensembleSize; writeQuorum++) {
          for (let minRegions = 1; minRegions <= Math.min(4, writeQuorum); minRegions++) {
            const lightest = rings.lightest(capacities, writeQuorum, minRegions - 1);
            for (let ackQuorum = minRegions; ackQuorum <= writeQuorum; ackQuorum++) {
              const sizes = { ensembleSize, writeQuorum, ackQuorum, minRegions };
              const { kind } = placeEnsemble(request(regionsOf(capacities), sizes));
              if ((kind === "ensemble") !== lightest < ackQuorum) {
                throw new Error(`${capacities} ${JSON.stringify(sizes)}: ${kind}, lightest ${lightest}`);
              }
              outcomes[kind === "ensemble" ? "placed" : "refused"]++;
            }
          }
        }
      }
    }
  }
  expect(outcomes.placed).toBeGreaterThan(2_000);
  expect(outcomes.refused).toBeGreaterThan(2_000);
});

describe("unknown regions (2.6, point 7)", () => {
  test("are placed where brute force can, counting against every region: two regions and them", () => {
    let placedSome = 0;
    const unknownColour = 2;
    for (const [ensembleSize, unknown] of [4, 5].flatMap((size) =>
      [0, 1, 2].map((many) => [size, many] as const),
    )) {
      const rings = Array.from(colourings(ensembleSize, 3), (ring) => [...ring]);
      for (const known of [...capacityLists(2, 3)]) {
        const fitting = rings.filter((ring) =>
          [...known, unknown].every((most, colour) => ring.filter((one) => one === colour).length <= most),
        );
        const bookies = [...regionsOf(known), ...topology(`${UNKNOWN_REGION}:${unknown}`)];
        for (let writeQuorum = 2; writeQuorum <= ensembleSize; writeQuorum++) {
          // An unknown bookie may lie in any region: in the first, or in the second.
          const worst = (ring: readonly number[]) =>
            Math.max(
              ...[0, 1].map((region) =>
                heaviest(
                  ring.map((one) => (one === region || one === unknownColour ? 0 : 1 + one)),
                  writeQuorum,
                  1,
                ),
              ),
            );
          const lightest = Math.min(Number.POSITIVE_INFINITY, ...fitting.map(worst));
          for (let ackQuorum = 2; ackQuorum <= writeQuorum; ackQuorum++) {
            const sizes = { ensembleSize, writeQuorum, ackQuorum, minRegions: 2 };
            const answer = placeEnsemble(request(bookies, sizes));
            expect(answer.kind, `${known} + ${unknown}, ${JSON.stringify(sizes)}`).toBe(
              lightest < ackQuorum ? "ensemble" : "refused",
            );
            if (answer.kind === "ensemble" && unknown > 0) placedSome++;
          }
        }
      }
    }
    expect(placedSome).toBeGreaterThan(50);
  });

  test("are used only where others do not suffice", () => {
    const bookies = topology(`a:2,b:2,${UNKNOWN_REGION}:5`);
    expect(tally(regionRing(placed(placeEnsemble(request(bookies, "4/4/3 m2")))))).toEqual({ a: 2, b: 2 });
    expect(tally(regionRing(placed(placeEnsemble(request(bookies, "5/5/4 m2")))))).toEqual({
      a: 2,
      b: 2,
      unknown: 1,
    });
    expect(refused(placeEnsemble(request(bookies, "5/5/3 m2")))).toContain("fewer than 2 regions");
  });

  test("an empty name is one of them, and with m = 1 they will do alone", () => {
    expect(placed(placeEnsemble(request(topology(":2,unknown:1"), "3/3/2 m1")))).toHaveLength(3);
    expect(placeEnsemble(request(topology(":2,unknown:1"), "3/3/3 m2")).kind).toBe("refused");
  });
});

describe("who is chosen", () => {
  const cloud = topology("a:4/2,b:4/2,c:4/2");

  test("nobody who is excluded, read-only or lost, and nobody in a region that drains or is lost", () => {
    const excluded = new Set([bookieId("a.1")]);
    const bookieStates = new Map([
      [bookieId("a.2"), "read-only"],
      [bookieId("b.1"), "lost"],
      [bookieId("b.2"), "writable"],
    ] as const);
    for (const state of ["draining", "lost"] as const) {
      const regionStates = new Map([[region("c"), state]]);
      for (const ledgerId of ledgers(50)) {
        const answer = placeEnsemble(
          request(cloud, "4/4/3 m2", { ledgerId, excluded, bookieStates, regionStates }),
        );
        const ids = placed(answer).map(({ id }) => id);
        expect(ids.sort()).toEqual(expect.arrayContaining(["a.3", "a.4"]));
        for (const id of ids) expect(["a.3", "a.4", "b.2", "b.3", "b.4"]).toContain(id);
      }
    }
  });

  test("a bookie that the topology names twice is one bookie", () => {
    const answer = placeEnsemble(request([...topology("a:1,b:1"), ...topology("a:1,b:1")], "3/3/3 m1"));
    expect(refused(answer)).toContain("more members than there are usable bookies (usable: a: 1, b: 1)");
  });

  test("the writer's own region gets the odd one, the others take turns", () => {
    const shares = (home: Region) =>
      tally(
        ledgers(300).flatMap((ledgerId) => {
          const counts = tally(
            regionRing(placed(placeEnsemble(request(cloud, "4/4/3 m2", { ledgerId, home })))),
          );
          return Object.entries(counts).flatMap(([name, many]) => (many === 2 ? [name] : []));
        }),
      );
    expect(shares(region("b"))).toEqual({ b: 300 });
    const turns = shares(nowhere);
    expect(Object.keys(turns)).toEqual(["a", "b", "c"]);
    for (const many of Object.values(turns)) expect(many).toBeGreaterThan(70);
  });

  test("the same ledger gets the same ensemble, in whatever order the topology comes", () => {
    for (const ledgerId of ledgers(20)) {
      const one = placed(placeEnsemble(request(cloud, "6/6/4 m2", { ledgerId })));
      const other = placed(placeEnsemble(request([...cloud].reverse(), "6/6/4 m2", { ledgerId })));
      expect(other).toEqual(one);
    }
  });
});

describe("quarantined bookies", () => {
  const cloud = topology("a:2,b:2,c:2");
  const quarantine = (...names: string[]) => new Set(names.map(bookieId));

  test("are avoided while there is an ensemble without them", () => {
    for (const ledgerId of ledgers(50)) {
      const quarantined = quarantine("a.1", "b.1");
      const ids = placed(placeEnsemble(request(cloud, "4/4/3 m2", { ledgerId, quarantined }))).map(
        ({ id }) => id,
      );
      expect(ids.sort()).toEqual(["a.2", "b.2", "c.1", "c.2"]);
    }
  });

  test("come in where needed, and no more of them than that", () => {
    const all = quarantine("a.1", "a.2", "b.1", "b.2", "c.1");
    for (const ledgerId of ledgers(50)) {
      const answer = placeEnsemble(request(cloud, "4/4/3 m2", { ledgerId, quarantined: all }));
      const ids = placed(answer).map(({ id }) => id);
      expect(ids).toContain("c.2");
      // It is the only sound one, so three others it must be.
      expect(ids.filter((id) => all.has(id))).toHaveLength(3);
    }
  });

  test("all of them at once still leave an ensemble", () => {
    const quarantined = new Set(cloud.map(({ id }) => id));
    expect(placed(placeEnsemble(request(cloud, "6/6/4 m2", { quarantined })))).toHaveLength(6);
  });

  test("never make up for bookies that are excluded", () => {
    const answer = placeEnsemble(
      request(cloud, "6/6/4 m2", { quarantined: quarantine("a.1"), excluded: new Set([bookieId("a.1")]) }),
    );
    expect(refused(answer)).toContain("usable: a: 1, b: 2, c: 2");
  });
});
