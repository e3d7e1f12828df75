/**
 * BookKeeper's read-order vectors (TestRegionAwareEnsemblePlacementPolicy,
 * TestRackawareEnsemblePlacementPolicy), by their numbers in our notes. Where its order is one of several
 * that are as good for us, the groups say which positions may change places. Where we differ on purpose, the
 * reason stands beside the vector.
 */
import { describe, expect, test } from "vitest";
import { orderReplicas } from "../../../lib/protocol/reads/order-replicas.ts";
import type { BookieAddress } from "../../../lib/protocol/replication.ts";
import { type Beliefs, readerView } from "./reader-view.ts";
import { bookieAt } from "./reading-world.ts";

const seeds = Array.from({ length: 40 }, (_, seed) => seed + 1);

/** Positions in the order in which they are asked, for every seed; equal orders once. */
function ordersOf(writeSet: readonly BookieAddress[], beliefs: Beliefs): number[][] {
  const orders = seeds.map((seed) => {
    const { order } = orderReplicas(writeSet, readerView(writeSet, { ...beliefs, seed }));
    return order.map((bookie) => writeSet.indexOf(bookie));
  });
  return [...new Map(orders.map((order) => [order.join(), order])).values()];
}

/** Every order consists of these groups one after another, and each member of the first group leads once. */
function expectGroups(orders: readonly number[][], groups: readonly (readonly number[])[]): void {
  for (const order of orders) {
    let from = 0;
    for (const group of groups) {
      expect(order.slice(from, from + group.length).sort()).toEqual([...group].sort());
      from += group.length;
    }
    expect(from).toBe(order.length);
  }
  expect([...new Set(orders.map(([first]) => first))].sort()).toEqual([...(groups[0] ?? [])].sort());
}

// a1 /r1/rack1, a2 and a3 in the default region, a4 /r1/rack2; 30 ms near by, 95 ms far.
const a1 = bookieAt("a1", "/r1/rack1");
const a2 = bookieAt("a2", "/default/rack1");
const a3 = bookieAt("a3", "/default/rack1");
const a4 = bookieAt("a4", "/r1/rack2");
const regional = [a1, a2, a3, a4];
const known = { "same-region": { typicalMs: 30 }, "region default": { typicalMs: 95 } } as const;
const fromR1: Beliefs = { place: "/r1/rack3", classes: known };
const down = { isSuspect: true, predictedMs: 1_500 };
const slow = (predictedMs: number) => ({ predictedMs });

describe("read order across regions", () => {
  test("O1 a reader that does not know its region keeps the order of the write set", () => {
    expect(ordersOf(regional, { classes: known })).toEqual([[0, 1, 2, 3]]);
  });

  test("O2 the reader's own region comes first", () => {
    expectGroups(ordersOf(regional, fromR1), [
      [0, 3],
      [1, 2],
    ]);
  });

  test("O3 from a region without bookies, nothing known, the write set's order stays", () => {
    expect(ordersOf(regional, { place: "/r2/rack1" })).toEqual([[0, 1, 2, 3]]);
  });

  test("O5 differs: a read-only bookie reads as well as any other, and nearer than a far one", () => {
    // BookKeeper: 3,1,2,0 with a1 read-only. Reading does not know that state at all.
    expectGroups(ordersOf(regional, fromR1), [
      [0, 3],
      [1, 2],
    ]);
  });

  test("O6 a near bookie slower than the far ones goes behind them", () => {
    const orders = ordersOf(regional, { ...fromR1, replicas: { 0: slow(300) } });
    expectGroups(orders, [[3], [1, 2], [0]]);
  });

  test("O6 but one that is slow and still faster than the far ones stays in its class", () => {
    const orders = ordersOf(regional, { ...fromR1, replicas: { 0: slow(80) } });
    for (const order of orders) {
      expect(order[0]).toBe(3);
      expect(order.indexOf(0)).toBeLessThan(3);
    }
  });

  test("O7 two slow ones come last, the slower one at the end", () => {
    const orders = ordersOf(regional, { ...fromR1, replicas: { 0: slow(300), 1: slow(400) } });
    expect(orders).toEqual([[3, 2, 0, 1]]);
  });

  test("O9 a slow one goes before one that is down", () => {
    const orders = ordersOf(regional, { ...fromR1, replicas: { 0: slow(300), 1: down } });
    expect(orders).toEqual([[3, 2, 0, 1]]);
  });

  test("O10 down, read-only and slow: the read-only one counts as healthy", () => {
    const orders = ordersOf(regional, { ...fromR1, replicas: { 0: down, 2: slow(300) } });
    expect(orders).toEqual([[3, 1, 2, 0]]);
  });

  // The reader's region r2 = a2, a3, a6, a7; r1 = a1, a4, a5, a8.
  const eight = [1, 2, 3, 4, 5, 6, 7, 8].map((number) =>
    bookieAt(`a${number}`, [2, 3, 6, 7].includes(number) ? `/r2/rack${number}` : `/r1/rack${number}`),
  );
  const failures = Object.fromEntries(
    [0, 1, 2, 3].map((position) => [position, { isSuspect: true, predictedMs: 60 }]),
  );
  const twoRegions: Beliefs = {
    place: "/r2/other",
    classes: { "same-region": { typicalMs: 30 }, "region r1": { typicalMs: 95 } },
  };

  test("O11 healthy ones of the own region, then a far healthy one, then the rest", () => {
    // BookKeeper: a6 a7 a5 a2 a3 a8 a1 a4. We alternate regions in the rest, so a8 comes between a2 and a3.
    const orders = ordersOf(eight, { ...twoRegions, replicas: failures });
    for (const order of orders) {
      expect(order.slice(0, 2).sort()).toEqual([5, 6]);
      expect([4, 7]).toContain(order[2]);
      expect(order.slice(3).filter((position) => [1, 2].includes(position))).toHaveLength(2);
      expect([1, 2]).toContain(order[3]);
      expect([4, 7]).toContain(order[4]);
      expect(order.slice(-2).every((position) => [0, 3].includes(position))).toBe(true);
    }
  });

  test("O13 from a region without bookies, failures known, no distances: the failed ones come last", () => {
    // BookKeeper keeps the write set's order whatever failed; the healthy ones keep it here.
    const orders = ordersOf(eight, { place: "/r9/rack1", replicas: failures });
    expect(orders).toEqual([[4, 5, 6, 7, 0, 1, 2, 3]]);
    expect(ordersOf(eight, { place: "/r9/rack1" })).toEqual([[0, 1, 2, 3, 4, 5, 6, 7]]);
  });

  test("O14 a region that is gone comes last; read-only ones are as good as writable ones", () => {
    // BookKeeper: region 2 (writable), region 3 (read-only), region 1 (gone), each in the write set's order.
    const nine = [1, 2, 3].flatMap((one) =>
      ["a", "b", "c"].map((rack) => bookieAt(`${one}${rack}`, `/r${one}/${rack}`)),
    );
    const replicas = { 0: down, 1: down, 2: down };
    expect(ordersOf(nine, { place: "/r9/rack1", replicas })).toEqual([[3, 4, 5, 6, 7, 8, 0, 1, 2]]);
  });
});

describe("read order within one region", () => {
  const racks = [
    bookieAt("b1", "/r1/rack1"),
    bookieAt("b2", "/r1/default"),
    bookieAt("b3", "/r1/default"),
    bookieAt("b4", "/r1/rack2"),
  ];
  const near: Beliefs = { place: "/r1/rack9", classes: { "same-region": { typicalMs: 30 } } };

  test("O15 one that is down or slow comes last", () => {
    expectGroups(ordersOf(racks, { ...near, replicas: { 0: down } }), [[1, 2, 3], [0]]);
    expectGroups(ordersOf(racks, { ...near, replicas: { 0: slow(300) } }), [[1, 2, 3], [0]]);
  });

  test("O15 a read-only one changes nothing", () => {
    expectGroups(ordersOf(racks, near), [[0, 1, 2, 3]]);
  });

  test("O17 slow before down; down after everything", () => {
    expectGroups(ordersOf(racks, { ...near, replicas: { 0: slow(300), 1: down } }), [[2, 3], [0], [1]]);
    expectGroups(ordersOf(racks, { ...near, replicas: { 0: down, 2: slow(300) } }), [[1, 3], [2], [0]]);
  });

  test("O17 a slow bookie outside the write set changes nothing", () => {
    const some = racks.slice(1);
    const all = { ...near, seed: 3 };
    const { order } = orderReplicas(some, readerView(some, all));
    const again = orderReplicas(some, {
      ...readerView(some, all),
      replicaView: (bookie) => {
        expect(some).toContain(bookie);
        return readerView(some, all).replicaView(bookie);
      },
    });
    expect(again.order).toEqual(order);
  });

  test("O18 differs: a queue counts by degrees, not from a threshold on, and puts a bookie last", () => {
    // BookKeeper moves the least loaded one to the front once the first has 10 more pending: 2,0,1,3.
    const pending = (counts: readonly number[]) =>
      Object.fromEntries(counts.map((inFlight, position) => [position, { inFlight }]));
    const loaded = ordersOf(racks, { ...near, replicas: pending([20, 7, 1, 5]) });
    for (const order of loaded) {
      expect(order.at(-1)).toBe(0);
      expect(order[0]).not.toBe(0);
    }
    const first = loaded.map(([one]) => one);
    expect(first).toContain(2);
    const even = ordersOf(racks, { ...near, replicas: pending([3, 2, 3, 2]) });
    expectGroups(even, [[0, 1, 2, 3]]);
  });
});
