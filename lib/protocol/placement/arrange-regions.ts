/**
 * Which regions stand around a new ensemble's ring: how many bookies of each, and in which order.
 *
 * AR1 The counts are as even as the regions' bookies allow (RCT2). Bookies of no known region are used only
 *     where all others do not suffice: each makes every window heavier by one.
 * AR2 No ring is possible if the windows are too heavy on average: a bookie stands in Qw of E windows, and by
 *     RCT2 no other counts have lighter windows. With E = Qw there is one window, so then this decides.
 * AR3 Let k = Qw - Qa + 1 and q = ceil(k * E / Qw). If minRegions * q <= E, and the regions can give
 *     minRegions * q bookies when none gives more than q, the sector ring of width minRegions is legal (SR3).
 *     Such q exists for every admitted Qa as soon as minRegions regions have q bookies each.
 * AR4 What lies between AR2 and AR3 is searched; a search beyond its bound gives up.
 */
import type { Replication } from "../replication.ts";
import { sumOfLargest, waterFill } from "./region-counts.ts";
import { legalCeilings, searchRing } from "./ring-search.ts";
import { isLegalRing, type Ring, UNPLACED, UNRESOLVED } from "./ring-windows.ts";
import { type RegionShares, sectorRing, sectorsMax } from "./sector-ring.ts";

/** Steps of one search: tens of ms at most, on a path that ordinary topologies never take. */
const searchStepsMax = 20_000;

export type Arrangement =
  | { readonly kind: "ring"; readonly ring: Ring; readonly shares: RegionShares }
  /** Fewer usable bookies than the ensemble has. */
  | { readonly kind: "too-few" }
  /** No ring is legal: by AR2 too many copies lie in minRegions - 1 regions. */
  | { readonly kind: "too-concentrated"; readonly shares: RegionShares }
  /** None was found (AR4). */
  | { readonly kind: "not-found"; readonly shares: RegionShares };

/** `usable` counts bookies by region, in order of preference among equals. */
export function arrangeRegions(usable: RegionShares, replication: Replication): Arrangement {
  const { ensembleSize, writeQuorum, ackQuorum, minRegions } = replication;
  const resolved = usable.known.reduce((sum, many) => sum + many, 0);
  if (resolved + usable.unresolved < ensembleSize) return { kind: "too-few" };
  const unresolved = Math.max(0, ensembleSize - resolved);
  const shares: RegionShares = {
    known: waterFill(ensembleSize - unresolved, usable.known) ?? [],
    unresolved,
  };
  const heaviest = unresolved + sumOfLargest(shares.known, minRegions - 1);
  if (minRegions > 1 && writeQuorum * heaviest > ensembleSize * (ackQuorum - 1)) {
    return { kind: "too-concentrated", shares };
  }
  const ring = ringOfSectors(shares, replication) ?? ringBySearch(usable, shares, replication);
  return ring === undefined ? { kind: "not-found", shares } : { kind: "ring", ring, shares };
}

/** Bases as wide as there are regions mix them best; the width of AR3 is the one that is sure to be legal. */
function ringOfSectors(shares: RegionShares, replication: Replication): Ring | undefined {
  const regions = shares.known.length;
  const used = shares.known.filter((share) => share > 0).length;
  if (used === 0) return new Array<number>(replication.ensembleSize).fill(UNRESOLVED);
  const narrowest = Math.min(replication.minRegions, used);
  for (let width = used; width >= narrowest; width--) {
    const most = sectorsMax(shares, width);
    const fewest = width === narrowest ? 1 : most;
    for (let sectors = most; sectors >= Math.max(1, fewest); sectors--) {
      const ring = sectorRing(shares, width, sectors);
      if (isLegalRing(ring, replication, regions)) return ring;
    }
  }
  return undefined;
}

/** Prefers the region that lags most behind its even share. */
function ringBySearch(
  usable: RegionShares,
  shares: RegionShares,
  replication: Replication,
): Ring | undefined {
  const { ensembleSize } = replication;
  const due = (region: number, position: number) =>
    ((shares.known[region] ?? 0) * (position + 1)) / ensembleSize;
  return searchRing({
    ring: new Array<number>(ensembleSize).fill(UNPLACED),
    replication,
    spare: usable.known,
    spareUnresolved: usable.unresolved,
    ceilings: legalCeilings(replication),
    rank: (found, position, counts) => {
      const lag = (region: number) => due(region, position) - (counts[region] ?? 0);
      return found.sort((one, other) => lag(other) - lag(one));
    },
    effort: { steps: searchStepsMax },
  });
}
