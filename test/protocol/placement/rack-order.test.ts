/** Racks of a region's copies (RO1, RO2). */
import { expect, test } from "vitest";
import { rackOrder } from "../../../lib/protocol/placement/region-aware.ts";
import { waterFill } from "../../../lib/protocol/placement/ring.ts";

/** Neighbours, the last and the first too, that stand in one rack. */
function clashes(order: readonly number[]): number {
  if (order.length < 2) return 0;
  return order.filter((rack, index) => rack === order[(index + 1) % order.length]).length;
}

test.each([
  [[5, 5], 4, "ABAB"],
  [[5, 5, 5], 5, "ABACB"],
  [[1, 5, 1], 4, "BABC"],
  [[9, 1], 4, "ABAA"],
  [[2], 2, "AA"],
])("bookies %j, %i copies: %s", (usable, copies, expected) => {
  expect(
    rackOrder(usable, copies)
      .map((rack) => "ABC"[rack])
      .join(""),
  ).toBe(expected);
});

test("RO1, RO2: even counts, and a clash only where one rack has more than half of the copies", () => {
  let orders = 0;
  for (let code = 0; code < 5 ** 5; code += 3) {
    const usable = [0, 1, 2, 3, 4].map((place) => Math.floor(code / 5 ** place) % 5);
    const total = usable.reduce((sum, many) => sum + many, 0);
    for (let copies = 1; copies <= total; copies++) {
      const order = rackOrder(usable, copies);
      const counts = usable.map((_, rack) => order.filter((one) => one === rack).length);
      if (`${counts}` !== `${waterFill(copies, usable)}`) throw new Error(`${usable}: ${order}`);
      const most = Math.max(...counts);
      // With more than half in one rack, each copy of it beyond the others' number follows one of its own.
      const unavoidable = copies === 1 ? 0 : Math.max(0, 2 * most - copies);
      if (clashes(order) !== unavoidable) throw new Error(`${usable}, ${copies} copies: ${order}`);
      orders++;
    }
  }
  expect(orders).toBeGreaterThan(9_000);
});
