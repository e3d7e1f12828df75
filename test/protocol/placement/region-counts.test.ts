/** Even shares under capacities (RCT1 to RCT3). */
import { expect, test } from "vitest";
import { sumOfLargest, waterFill } from "../../../lib/protocol/placement/ring.ts";

/** Every list of shares with this total between floors and capacities. */
function* allShares(
  total: number,
  capacities: readonly number[],
  floors: readonly number[],
): Generator<number[]> {
  const [capacity, ...others] = capacities;
  if (capacity === undefined) {
    if (total === 0) yield [];
    return;
  }
  for (let share = floors[0] ?? 0; share <= Math.min(capacity, total); share++) {
    for (const rest of allShares(total - share, others, floors.slice(1))) yield [share, ...rest];
  }
}

test.each([
  [15, [20, 20, 20], [5, 5, 5]],
  [15, [20, 20, 2], [7, 6, 2]],
  [15, [20, 2], [13, 2]],
  [4, [2, 2, 2], [2, 1, 1]],
  [3, [1, 1, 1, 1, 1], [1, 1, 1, 0, 0]],
  [0, [3], [0]],
])("%i over %j is %j", (total, capacities, shares) => {
  expect(waterFill(total, capacities)).toEqual(shares);
});

test("no shares where there is no room, or where floors alone are too many", () => {
  expect(waterFill(5, [2, 2])).toBeUndefined();
  expect(waterFill(1, [])).toBeUndefined();
  expect(waterFill(1, [2, 2], [1, 1])).toBeUndefined();
  expect(waterFill(0, [])).toEqual([]);
});

test("RCT2: of all shares, none has a smaller sum of its j largest, for any j and any floors", () => {
  let compared = 0;
  for (let code = 0; code < 4 ** 4; code++) {
    const capacities = [0, 1, 2, 3].map((place) => Math.floor(code / 4 ** place) % 4);
    for (const floors of [[], [1, 0, 1, 0], [0, 2, 0, 0]]) {
      if (floors.some((floor, index) => floor > (capacities[index] ?? 0))) continue;
      for (let total = 0; total <= 8; total++) {
        const shares = waterFill(total, capacities, floors);
        const all = [...allShares(total, capacities, floors)];
        expect(shares === undefined).toBe(all.length === 0);
        if (shares === undefined) continue;
        for (let many = 1; many <= 4; many++) {
          const least = Math.min(...all.map((other) => sumOfLargest(other, many)));
          expect(sumOfLargest(shares, many)).toBe(least);
        }
        compared += all.length;
      }
    }
  }
  expect(compared).toBeGreaterThan(10_000);
});
