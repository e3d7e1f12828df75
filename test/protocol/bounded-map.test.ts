import { expect, test } from "vitest";
import { BoundedMap } from "../../lib/protocol/bounded-map.ts";

test("has no more entries than it may have, and drops the one that was set longest ago", () => {
  const map = new BoundedMap<string, number>(2);
  map.set("a", 1).set("b", 2);
  map.set("a", 3);
  map.set("c", 4);
  expect([...map]).toEqual([
    ["a", 3],
    ["c", 4],
  ]);
});
