/**
 * The ack-time check never binds on ensembles that the checker accepts, and does on others.
 */
import { expect, test } from "vitest";
import { checkEnsemble } from "../../../lib/protocol/placement/check-ensemble.ts";
import { waitsForRegions } from "../../../lib/protocol/replication.ts";
import { bookie, replication } from "./topologies.ts";

const ring = (letters: string) => [...letters].map((letter, index) => bookie(`${letter}.${index}`, letter));

/** Every subset of the members. */
function* subsets<T>(members: readonly T[]): Generator<T[]> {
  for (let bits = 0; bits < 2 ** members.length; bits++) {
    yield members.filter((_, index) => (bits >> index) % 2 === 1);
  }
}

test.each([
  ["AABC", "4/4/3 m2", "legal", 0],
  ["AAABC", "5/5/4 m2", "legal", 0],
  ["AAAB", "4/4/3 m2", "illegal", 1],
  ["AABB", "4/4/2 m2", "illegal", 2],
])("%s with %s is %s: of all sets of acks %i wait for regions alone", (letters, sizes, kind, waiting) => {
  const members = ring(letters);
  expect(checkEnsemble(members, replication(sizes)).kind).toBe(kind);
  const held = [...subsets(members)].filter((acks) => waitsForRegions(acks, replication(sizes)));
  expect(held).toHaveLength(waiting);
});

test("a bookie that is named twice acknowledges once", () => {
  const [a] = ring("A");
  expect(
    waitsForRegions(
      [a, a].flatMap((one) => one ?? []),
      replication("2/2/2 m2"),
    ),
  ).toBe(false);
});
