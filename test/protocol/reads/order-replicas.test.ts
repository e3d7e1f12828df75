import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { orderReplicas } from "../../../lib/protocol/reads/order-replicas.ts";
import type { BookieAddress } from "../../../lib/protocol/replication.ts";
import { type Beliefs, readerView } from "./reader-view.ts";
import { bookieAt, nameOf } from "./reading-world.ts";

const seeds = Array.from({ length: 200 }, (_, seed) => seed + 1);

function orderOf(writeSet: readonly BookieAddress[], beliefs: Beliefs): string[] {
  return orderReplicas(writeSet, readerView(writeSet, beliefs)).order.map(nameOf);
}

/** How often each bookie came at `rank`, over many seeds. */
function countAt(rank: number, writeSet: readonly BookieAddress[], beliefs: Beliefs): Map<string, number> {
  const counts = new Map<string, number>();
  for (const seed of seeds) {
    const name = orderOf(writeSet, { ...beliefs, seed })[rank] ?? "nobody";
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return counts;
}

const namesAt = (rank: number, writeSet: readonly BookieAddress[], beliefs: Beliefs): string[] =>
  [...countAt(rank, writeSet, beliefs).keys()].sort();

const classes = {
  "same-rack": { typicalMs: 28 },
  "same-region": { typicalMs: 30 },
  "region r2": { typicalMs: 45 },
  "region r3": { typicalMs: 95 },
} as const;

describe("the order of replicas", () => {
  const belief = fc.record({
    isSuspect: fc.boolean(),
    inFlight: fc.integer({ min: 0, max: 500 }),
    predictedMs: fc.double({ min: 0.1, max: 20_000, noNaN: true }),
  });
  const member = fc.tuple(fc.constantFrom("r1", "r2", "r3", "r4"), fc.constantFrom("a", "b", "c"), belief);
  const classView = fc.record({
    typicalMs: fc.option(fc.double({ min: 0.1, max: 5_000, noNaN: true }), { nil: undefined }),
    medianMs: fc.option(fc.double({ min: 0.1, max: 5_000, noNaN: true }), { nil: undefined }),
    isStrained: fc.boolean(),
  });

  test("is a permutation of the write set, up to 64 replicas, whatever is believed of them", () => {
    fc.assert(
      fc.property(
        fc.array(member, { maxLength: 64 }),
        fc.constantFrom(undefined, "/r1", "/r1/a", "/r9/a"),
        fc.array(classView, { minLength: 6, maxLength: 6 }),
        fc.integer({ min: 1, max: 1_000_000 }),
        (members, place, views, seed) => {
          const writeSet = members.map(([region, rack], index) =>
            bookieAt(`b${index}`, `/${region}/${rack}`),
          );
          const names = ["same-rack", "same-region", "region r1", "region r2", "region r3", "region r4"];
          const beliefs: Beliefs = {
            ...(place === undefined ? {} : { place }),
            classes: Object.fromEntries(names.map((name, index) => [name, views[index]])),
            replicas: Object.fromEntries(members.map(([, , one], index) => [index, one])),
            seed,
          };
          const { order, sidelined } = orderReplicas(writeSet, readerView(writeSet, beliefs));
          expect([...order].map(nameOf).sort()).toEqual(writeSet.map(nameOf).sort());
          expect(new Set(sidelined).size).toBe(sidelined.length);
          for (const one of sidelined) expect(writeSet).toContain(one);
        },
      ),
      { numRuns: 300 },
    );
  });

  test("is a permutation also when one bookie holds several slots", () => {
    const twice = bookieAt("twice", "/r1/a");
    const other = bookieAt("other", "/r2/a");
    for (const beliefs of [
      { place: "/r1", classes },
      {},
      { place: "/r1", classes, replicas: { 0: { isSuspect: true } } },
    ]) {
      expect(orderOf([twice, other, twice], beliefs).sort()).toEqual(["other", "twice", "twice"]);
    }
  });

  test("of an empty write set is empty", () => {
    expect(orderReplicas([], readerView([], {}))).toEqual({ order: [], sidelined: [] });
  });

  const set = [
    bookieAt("near-a", "/r1/a"),
    bookieAt("near-b", "/r1/b"),
    bookieAt("near-c", "/r1/c"),
    bookieAt("mid-a", "/r2/a"),
    bookieAt("far-a", "/r3/a"),
  ];
  const here: Beliefs = { place: "/r1", classes };

  test("starts with the nearest, at random among equals and evenly", () => {
    const counts = countAt(0, set, here);
    expect([...counts.keys()].sort()).toEqual(["near-a", "near-b", "near-c"]);
    for (const count of counts.values()) expect(count).toBeGreaterThan(seeds.length / 5);
  });

  test("starts with the own rack, if the reader knows it", () => {
    expect(namesAt(0, set, { ...here, place: "/r1/b" })).toEqual(["near-b"]);
    expect(namesAt(1, set, { ...here, place: "/r1/b" })).toEqual(["near-a", "near-c"]);
    expect(namesAt(2, set, { ...here, place: "/r1/b" })).toEqual(["mid-a"]);
  });

  test("crosses the rack with the second and the region with the third", () => {
    for (const seed of seeds) {
      const [first, second, third] = orderOf(set, { ...here, seed });
      expect(first).not.toBe(second);
      expect(second).toMatch(/^near-/);
      expect(third).toBe("mid-a");
    }
  });

  test("the same rack under another region's name is another rack", () => {
    const two = [bookieAt("near", "/r1/a"), bookieAt("mid", "/r2/a")];
    expect(orderOf(two, here)).toEqual(["near", "mid"]);
  });

  test("with no bookie near by: the nearest region first, a second region third", () => {
    const remote = [bookieAt("far-a", "/r3/a"), bookieAt("mid-a", "/r2/a"), bookieAt("mid-b", "/r2/b")];
    for (const seed of seeds) {
      const order = orderOf(remote, { place: "/r9", classes, seed });
      expect(order.slice(0, 2).sort()).toEqual(["mid-a", "mid-b"]);
      expect(order[2]).toBe("far-a");
    }
  });

  test("an unknown region is tried before the known ones, until it is known", () => {
    const remote = [bookieAt("far-a", "/r3/a"), bookieAt("new-a", "/r4/a")];
    expect(namesAt(0, remote, { place: "/r9", classes })).toEqual(["new-a"]);
  });

  test("in a single region it goes on after the second", () => {
    const one = set.slice(0, 3);
    expect(orderOf(one, here).sort()).toEqual(["near-a", "near-b", "near-c"]);
    expect(namesAt(0, one, { place: "/r9" })).toEqual(["near-a", "near-b", "near-c"]);
  });

  test("with all bookies in one rack the next closest is second", () => {
    const rack = ["x", "y", "z"].map((name) => bookieAt(name, "/r1/a"));
    expect(orderOf(rack, here).sort()).toEqual(["x", "y", "z"]);
    // A bookie of another region is in another rack too: it comes before a second one of the same rack.
    expect(namesAt(1, [...rack, bookieAt("mid", "/r2/a")], here)).toEqual(["mid"]);
  });

  test("in large write sets the rest goes round the classes, so that no lost region holds a read up", () => {
    const fifteen = ["r1", "r2", "r3"].flatMap((region) =>
      ["a", "b", "c", "d", "e"].map((rack) => bookieAt(`${region}-${rack}`, `/${region}/${rack}`)),
    );
    for (const seed of seeds.slice(0, 20)) {
      const regions = orderOf(fifteen, { ...here, seed }).map((name) => name.slice(0, 2));
      expect(regions.slice(0, 3)).toEqual(["r1", "r1", "r2"]);
      expect(regions.slice(3, 12)).toEqual(["r1", "r2", "r3", "r1", "r2", "r3", "r1", "r2", "r3"]);
    }
  });
});

describe("health in the order", () => {
  const set = [
    bookieAt("near-a", "/r1/a"),
    bookieAt("near-b", "/r1/b"),
    bookieAt("near-c", "/r1/c"),
    bookieAt("far-a", "/r3/a"),
  ];
  const here: Beliefs = { place: "/r1", classes };

  test("of two drawn the one that should answer sooner leads", () => {
    const counts = countAt(0, set, { ...here, replicas: { 0: { predictedMs: 60 } } });
    expect([...counts.keys()].sort()).toEqual(["near-b", "near-c"]);
  });

  test("small differences are left to chance", () => {
    const counts = countAt(0, set, { ...here, replicas: { 0: { predictedMs: 40 } } });
    expect(counts.get("near-a")).toBeGreaterThan(seeds.length / 5);
  });

  test("a queue makes a wait longer; a few requests in flight do not", () => {
    const busy = countAt(0, set, { ...here, replicas: { 0: { inFlight: 30 } } });
    expect(busy.get("near-a")).toBeUndefined();
    const usual = countAt(0, set, { ...here, replicas: { 0: { inFlight: 1 } } });
    expect(usual.get("near-a")).toBeGreaterThan(seeds.length / 5);
  });

  test("a hedge does not go to the bookie with the queue (Scylla #3156)", () => {
    const second = countAt(1, set, { ...here, replicas: { 0: { inFlight: 30 } } });
    expect(second.get("near-a")).toBeUndefined();
  });

  test("a suspect is last in its class; behind the next class only if it should take longer", () => {
    const refusing = { 0: { isSuspect: true, predictedMs: 60 } };
    for (const seed of seeds.slice(0, 50)) {
      const order = orderOf(set, { ...here, replicas: refusing, seed });
      expect(order.slice(2)).toEqual(["far-a", "near-a"]);
    }
    const pair = [bookieAt("near-a", "/r1/a"), bookieAt("far-a", "/r3/a")];
    expect(orderOf(pair, { ...here, replicas: refusing })).toEqual(["near-a", "far-a"]);
    expect(orderOf(pair, { ...here, replicas: { 0: { isSuspect: true, predictedMs: 500 } } })).toEqual([
      "far-a",
      "near-a",
    ]);
  });

  test("a suspect goes behind a class that nobody knows yet", () => {
    const pair = [bookieAt("near-a", "/r1/a"), bookieAt("new-a", "/r4/a")];
    const beliefs = { ...here, replicas: { 0: { isSuspect: true, predictedMs: 60 } } };
    expect(orderOf(pair, beliefs)).toEqual(["new-a", "near-a"]);
  });

  test("among suspects alone the better one leads", () => {
    const replicas = { 0: { isSuspect: true, predictedMs: 900 }, 1: { isSuspect: true, predictedMs: 500 } };
    expect(namesAt(0, set.slice(0, 2), { ...here, replicas })).toEqual(["near-b"]);
  });

  test("a class is passed over when its median is really worse, and not before", () => {
    const local = (medianMs: number): Beliefs => ({
      place: "/r1",
      classes: { ...classes, "same-region": { typicalMs: medianMs, medianMs } },
    });
    expect(namesAt(0, set, local(100))).toEqual(["near-a", "near-b", "near-c"]);
    expect(namesAt(0, set, local(130))).toEqual(["far-a"]);
  });

  test("the remembered latency of a class is no evidence against it", () => {
    const beliefs = { place: "/r1", classes: { ...classes, "same-region": { typicalMs: 900 } } };
    expect(namesAt(0, set, beliefs)).toEqual(["near-a", "near-b", "near-c"]);
  });

  test("no class is passed over for one that is down", () => {
    const beliefs = {
      place: "/r1",
      classes: { ...classes, "same-region": { typicalMs: 900, medianMs: 900 } },
      replicas: { 3: { isSuspect: true, predictedMs: 1_500 } },
    };
    expect(namesAt(3, set, beliefs)).toEqual(["far-a"]);
  });

  test("under strain the second request leaves the region", () => {
    const strained = { ...classes, "same-region": { typicalMs: 90, medianMs: 90, isStrained: true } };
    expect(namesAt(1, set, { place: "/r1", classes: strained })).toEqual(["far-a"]);
  });
});

describe("who is sidelined", () => {
  const set = [bookieAt("near-a", "/r1/a"), bookieAt("near-b", "/r1/b"), bookieAt("far-a", "/r3/a")];
  const sidelinedOf = (beliefs: Beliefs) =>
    orderReplicas(set, readerView(set, beliefs)).sidelined.map(nameOf).sort();

  test("nobody in fair weather", () => {
    expect(sidelinedOf({ place: "/r1", classes })).toEqual([]);
  });

  test("suspects, with and without a known region", () => {
    const replicas = { 1: { isSuspect: true, predictedMs: 500 } };
    expect(sidelinedOf({ place: "/r1", classes, replicas })).toEqual(["near-b"]);
    expect(sidelinedOf({ replicas })).toEqual(["near-b"]);
  });

  test("one in doubt, although it is asked as before", () => {
    expect(sidelinedOf({ place: "/r1", classes, replicas: { 0: { isInDoubt: true } } })).toEqual(["near-a"]);
  });

  test("one of a class that is passed over", () => {
    const slowHere = { ...classes, "same-region": { typicalMs: 400, medianMs: 400 } };
    expect(sidelinedOf({ place: "/r1", classes: slowHere })).toHaveLength(1);
  });

  test("one of an unknown region while the own region is strained", () => {
    const strained = { "same-region": { typicalMs: 400, medianMs: 400, isStrained: true } };
    expect(sidelinedOf({ place: "/r1", classes: strained })).toEqual(["far-a"]);
  });
});
