/** How far a bookie is from the reader: the classes that latencies are pooled by and reads prefer by. */
import type { Region } from "../ids.ts";
import type { DistanceClass, Place } from "../place.ts";

/** Where the reader runs, as far as it knows: a function knows its region, seldom its rack. */
export interface ReaderPlace {
  readonly region?: Region;
  readonly rack?: string;
}

export function distanceClass(reader: ReaderPlace, place: Place): DistanceClass {
  if (place.region !== reader.region) return `region ${place.region}`;
  return place.rack === reader.rack ? "same-rack" : "same-region";
}

/** 0 and 1 within the reader's region, 2 for every other region; those are told apart by latency. */
export function distanceRank(distance: DistanceClass): number {
  if (distance === "same-rack") return 0;
  return distance === "same-region" ? 1 : 2;
}

/** A rack is known by its name within its region. */
export function sameRack(one: Place, other: Place): boolean {
  return one.region === other.region && one.rack === other.rack;
}
