/**
 * Shares that are as even as capacities allow: bookies over regions, and bookies of a region over racks.
 *
 * RCT1 The shares add up to the total; each lies between its floor and its capacity.
 * RCT2 No share could gain one from a share that is more than one larger, save for floors and capacities
 *      (max-min fair). Hence, for every j, no other shares have a smaller sum of the j largest: if these
 *      shares concentrate too much in few regions, all do.
 * RCT3 Among equals the earlier one gets the odd one.
 */
import { assert } from "../assert.ts";

/** Undefined if the total lies below the floors or above the capacities. */
export function waterFill(
  total: number,
  capacities: readonly number[],
  floors: readonly number[] = [],
): number[] | undefined {
  const shares = capacities.map((capacity, index) => {
    const floor = floors[index] ?? 0;
    assert(floor <= capacity, `RCT1: floor ${floor} is above capacity ${capacity}`);
    return floor;
  });
  let missing = total - shares.reduce((sum, share) => sum + share, 0);
  if (missing < 0) return undefined;
  for (; missing > 0; missing--) {
    const lowest = lowestWithRoom(shares, capacities);
    if (lowest < 0) return undefined;
    shares[lowest] = (shares[lowest] ?? 0) + 1;
  }
  return shares;
}

function lowestWithRoom(shares: readonly number[], capacities: readonly number[]): number {
  let lowest = -1;
  let level = Number.POSITIVE_INFINITY;
  for (let index = 0; index < shares.length; index++) {
    const share = shares[index] ?? 0;
    if (share >= (capacities[index] ?? 0) || share >= level) continue;
    lowest = index;
    level = share;
  }
  return lowest;
}

/** Sum of the `many` largest of values that are not negative. */
export function sumOfLargest(values: readonly number[], many: number): number {
  if (many <= 0) return 0;
  if (many > 2) {
    const sorted = [...values].sort((one, other) => other - one);
    return sorted.slice(0, many).reduce((sum, value) => sum + value, 0);
  }
  let [first, second] = [0, 0];
  for (const value of values) {
    if (value > first) [first, second] = [value, first];
    else if (value > second) second = value;
  }
  return many === 1 ? first : first + second;
}
