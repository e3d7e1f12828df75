/**
 * Racks of one region's copies, in the order in which these copies follow each other around the ring.
 *
 * RO1 Counts by rack are as even as the racks' bookies allow (RCT2).
 * RO2 Copies that follow each other, the last and the first too, stand in different racks wherever the counts
 *     permit it at all, that is, wherever no rack has more than half of the copies.
 */
import { present } from "../assert.ts";
import { waterFill } from "./region-counts.ts";

/**
 * The index of the rack for each of `copies` copies. `usable` counts bookies by rack, in order of preference;
 * together they have as many as there are copies.
 */
export function rackOrder(usable: readonly number[], copies: number): number[] {
  const left = present(waterFill(copies, usable), `${copies} copies fit into racks of ${usable.join(", ")}`);
  const order: number[] = [];
  const used = left.map(() => -1);
  while (order.length < copies) {
    const next = nextRack(left, used, order);
    left[next] = (left[next] ?? 0) - 1;
    used[next] = order.length;
    order.push(next);
  }
  return order;
}

/**
 * Another rack than the last, and of those one with the most copies left, so that no rack is left over to
 * follow itself. Among equals the very first rack, lest it also come last; then the one not used for longest.
 */
function nextRack(left: readonly number[], used: readonly number[], order: readonly number[]): number {
  const last = order.at(-1);
  const open = [...left.keys()].filter((rack) => (left[rack] ?? 0) > 0);
  const others = open.filter((rack) => rack !== last);
  const rank = (rack: number) => [left[rack] ?? 0, rack === order[0] ? 1 : 0, -(used[rack] ?? 0)] as const;
  const ranked = (others.length > 0 ? others : open).sort((one, other) => {
    const [ofOne, ofOther] = [rank(one), rank(other)];
    const differing = ofOne.findIndex((value, index) => value !== ofOther[index]);
    return differing < 0 ? 0 : (ofOther[differing] ?? 0) - (ofOne[differing] ?? 0);
  });
  return present(ranked[0], "racks hold as many copies as are asked for");
}
