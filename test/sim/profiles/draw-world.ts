/** Draws the world of a plan: regions, bookies, quorums, usual delays. */
import { type BookieId, bookieId, ledgerId, region } from "../../../lib/protocol/ids.ts";
import { regionAware } from "../../../lib/protocol/placement/region-aware.ts";
import type { Replication } from "../../../lib/protocol/replication.ts";
import type { Delay } from "../message-path.ts";
import type { BookiePlan, WorldPlan } from "../plan.ts";
import type { SeededRandom } from "../seeded-random.ts";
import { drawJoiners } from "./draw-topology.ts";

/** E, Qw, Qa, minRegions; small ones are tried most, since more of their orders are seen. */
const QUORUMS: readonly (readonly [number, number, number, number])[] = [
  [3, 3, 2, 1],
  [3, 3, 2, 1],
  [3, 3, 2, 2],
  [3, 3, 2, 2],
  [2, 2, 2, 1],
  [2, 2, 2, 2],
  [4, 4, 2, 2],
  [4, 4, 2, 1],
  [4, 4, 3, 2],
  [4, 4, 3, 2],
  [3, 2, 2, 1],
  [4, 3, 2, 1],
  [5, 3, 2, 1],
  [5, 5, 3, 3],
  [6, 4, 3, 2],
];

/** Where write sets are parts of the ensemble, and regions have to follow each other rightly around it. */
const RINGS: readonly (readonly [number, number, number, number])[] = [
  [4, 3, 3, 2],
  [5, 4, 4, 2],
  [6, 4, 3, 2],
  [6, 3, 3, 2],
  [8, 4, 3, 2],
  [6, 5, 5, 3],
];

const REGIONS = ["east", "south", "west", "north", "center"];

/** `changes`: it grows while it is used, and its placement has more to decide. */
export function drawWorld(
  random: SeededRandom,
  tailProbability: number,
  tailMs: number,
  changes = false,
): WorldPlan {
  const quorums = changes && random.chance(0.5) ? RINGS : QUORUMS;
  const [ensembleSize, writeQuorum, ackQuorum, minRegions] = random.pick(quorums);
  const replication: Replication = { ensembleSize, writeQuorum, ackQuorum, minRegions };
  const regions = REGIONS.slice(0, random.integer(Math.max(2, minRegions), Math.max(3, minRegions)));
  const bookies = drawBookies(random, regions, ensembleSize + random.integer(1, 8));
  const joiners = changes ? drawJoiners(random, regions, REGIONS[regions.length], bookies.length) : [];
  const delay = (usualMs: number): Delay => ({ usualMs, tailProbability, tailMs });
  return {
    regions: [...new Set([...regions, ...joiners.map(({ region }) => region)])],
    bookies: [...bookies, ...joiners],
    replication,
    placement:
      random.chance(changes ? 0.8 : 0.5) && isPlaceable(bookies, replication) ? "region-aware" : "anywhere",
    withinRegion: delay(random.between(0.5, 2)),
    betweenRegions: delay(random.between(5, 60)),
    toStore: delay(random.between(1, 15)),
  };
}

/** Whether the shipped policy finds an ensemble at all; the ledger core must be safe on those it refuses, too. */
function isPlaceable(bookies: readonly BookiePlan[], replication: Replication): boolean {
  const candidates = bookies.map((bookie) => ({
    id: bookieId(bookie.name),
    place: { region: region(bookie.region), rack: bookie.rack },
  }));
  const home = region(bookies[0]?.region ?? "");
  const request = { ledgerId: ledgerId(0), replication, candidates, excluded: new Set<BookieId>(), home };
  return regionAware.chooseEnsemble(request).kind === "ensemble";
}

function drawBookies(random: SeededRandom, regions: readonly string[], count: number): BookiePlan[] {
  return Array.from({ length: count }, (_, index) => ({
    name: `b${index}`,
    region: regions[index % regions.length] ?? "",
    rack: `rack-${Math.floor(index / regions.length) % 2}`,
    instances: random.integer(2, 3),
  }));
}
