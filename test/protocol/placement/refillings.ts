/**
 * Whether failed positions of a ring can be filled legally at all, by trying everything. Neither the placer
 * nor the checker is used.
 */
import type { BookieId, Region } from "../../../lib/protocol/ids.ts";
import type { BookieAddress, Replication } from "../../../lib/protocol/replication.ts";
import { heaviest } from "./brute-force.ts";

export interface Refilling {
  readonly ensemble: readonly BookieAddress[];
  readonly failed: readonly number[];
  /** Bookies that may come in. */
  readonly fresh: readonly BookieAddress[];
  readonly sizes: Replication;
  /** Whether positions that did not fail may get a fresh bookie too. */
  readonly othersMayLeave: boolean;
  /** What a filled ring must be; legal, unless it says otherwise. Regions by position. */
  readonly isGood?: (regions: readonly Region[]) => boolean;
}

/** Bookies that may come in: neither members, nor retired, nor barred, nor in a region that drains. */
export function freshBookies(
  candidates: readonly BookieAddress[],
  ensemble: readonly BookieAddress[],
  retired: ReadonlySet<BookieId>,
  draining: ReadonlySet<Region>,
): BookieAddress[] {
  return candidates.filter(
    ({ id, place }) =>
      !retired.has(id) && !draining.has(place.region) && !ensemble.some((member) => member.id === id),
  );
}

export function canBeRefilled(refilling: Refilling): boolean {
  const { ensemble, failed, fresh, sizes, othersMayLeave } = refilling;
  const regions = [...new Set([...ensemble, ...fresh].map(({ place }) => place.region))];
  const indexOf = ({ place }: BookieAddress) => regions.indexOf(place.region);
  const left = regions.map((region) => fresh.filter(({ place }) => place.region === region).length);
  const ring = ensemble.map(indexOf);
  const isLegal = () =>
    sizes.minRegions <= 1 || heaviest(ring, sizes.writeQuorum, sizes.minRegions - 1) < sizes.ackQuorum;
  const { isGood } = refilling;
  const isFilledWell = () =>
    isGood === undefined ? isLegal() : isGood(ring.flatMap((index) => regions[index] ?? []));

  const fillFrom = (position: number): boolean => {
    if (position === ring.length) return isFilledWell();
    const mustChange = failed.includes(position);
    if (!mustChange && fillFrom(position + 1)) return true;
    if (!mustChange && !othersMayLeave) return false;
    const before = ring[position] ?? 0;
    for (const region of regions.keys()) {
      if ((left[region] ?? 0) === 0) continue;
      left[region] = (left[region] ?? 0) - 1;
      ring[position] = region;
      const isFilled = fillFrom(position + 1);
      left[region] = (left[region] ?? 0) + 1;
      ring[position] = before;
      if (isFilled) return true;
    }
    return false;
  };
  return fillFrom(0);
}

/**
 * Whether no window of `after` is further from legal than it was in `before`: for each j below m, its copies
 * in j regions and in unknown ones are as many as is legal, or no more than they were.
 */
export function isNoFurther(
  before: readonly Region[],
  after: readonly Region[],
  { writeQuorum, ackQuorum, minRegions }: Replication,
): boolean {
  return before.every((_, start) => {
    const loads = (ring: readonly Region[]) => {
      const window = Array.from({ length: writeQuorum }, (_, at) => ring[(start + at) % ring.length]);
      const known = new Set(window.filter((region) => region !== undefined && region !== "unknown"));
      const counts = [...known].map((region) => window.filter((one) => one === region).length);
      counts.sort((one, other) => other - one);
      const unknown = window.filter((region) => region === "unknown").length;
      return Array.from({ length: minRegions }, (_, many) =>
        counts.slice(0, many).reduce((sum, count) => sum + count, unknown),
      );
    };
    const old = loads(before);
    return loads(after).every((load, many) => load < ackQuorum || load <= (old[many] ?? 0));
  });
}
