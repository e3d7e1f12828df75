/** How evenly ensembles of many ledgers fall on regions, racks and bookies. */
import { type LedgerId, ledgerId, type Region, region } from "../../../lib/protocol/ids.ts";
import { placeEnsemble } from "../../../lib/protocol/placement/region-aware.ts";
import type { BookieAddress } from "../../../lib/protocol/replication.ts";
import { SeededRandom } from "../../sim/seeded-random.ts";
import { placed, regionsOf, replication, request } from "./topologies.ts";

export interface SharesCase {
  readonly name: string;
  readonly candidates: readonly BookieAddress[];
  readonly sizes: string;
  /** Regions of the writers, in turn. */
  readonly homes: readonly string[];
  readonly ids: "random" | "sequence";
}

/** Quick ones, for every run of the tests, and those that take longer. */
export const quickCases: readonly SharesCase[] = [
  {
    name: "the default topology, writers everywhere",
    candidates: regionsOf([2, 2, 2], 2),
    sizes: "4/4/3 m2",
    homes: ["r1", "r2", "r3"],
    ids: "random",
  },
  {
    name: "the same with ids in sequence and writers elsewhere",
    candidates: regionsOf([2, 2, 2], 2),
    sizes: "4/4/3 m2",
    homes: ["nowhere"],
    ids: "sequence",
  },
];

export const longCases: readonly SharesCase[] = [
  {
    name: "15 of three times twenty in four racks, all writers in one region",
    candidates: regionsOf([20, 20, 20], 4),
    sizes: "15/15/9 m2",
    homes: ["r1"],
    ids: "random",
  },
  {
    name: "striped over five regions, writers elsewhere",
    candidates: regionsOf([4, 4, 4, 4, 4], 2),
    sizes: "8/4/4 m2",
    homes: ["nowhere"],
    ids: "random",
  },
];

type Level = "region" | "rack" | "bookie";

const nameAt: Readonly<Record<Level, (bookie: BookieAddress) => string>> = {
  region: ({ place }) => place.region,
  rack: ({ place }) => `${place.region}/${place.rack}`,
  bookie: ({ id }) => id,
};

/** For each level, how far the share that is farthest from even is away from it, as a fraction of it. */
export function deviations(shares: SharesCase, ledgers: number): Record<Level, number> {
  const { candidates, homes } = shares;
  const sizes = replication(shares.sizes);
  const counts = new Map(candidates.map((bookie) => [bookie, 0]));
  for (const { id, home } of ledgersOf(homes, shares.ids, ledgers)) {
    for (const member of placed(placeEnsemble(request(candidates, sizes, { ledgerId: id, home })))) {
      counts.set(member, (counts.get(member) ?? 0) + 1);
    }
  }
  const farthest = (level: Level) => {
    const sums = new Map<string, number>();
    for (const [bookie, count] of counts) {
      const name = nameAt[level](bookie);
      sums.set(name, (sums.get(name) ?? 0) + count);
    }
    const even = [...sums.values()].reduce((sum, count) => sum + count, 0) / sums.size;
    return Math.max(...[...sums.values()].map((count) => Math.abs(count - even) / even));
  };
  return { region: farthest("region"), rack: farthest("rack"), bookie: farthest("bookie") };
}

function* ledgersOf(
  homes: readonly string[],
  ids: "random" | "sequence",
  many: number,
): Generator<{ readonly id: LedgerId; readonly home: Region }> {
  const random = new SeededRandom(30, "ledgers");
  for (let index = 0; index < many; index++) {
    const anyId = (random.uint32() % 2 ** 21) * 2 ** 32 + random.uint32();
    yield {
      id: ledgerId(ids === "random" ? anyId : index),
      home: region(homes[index % homes.length] ?? "nowhere"),
    };
  }
}
