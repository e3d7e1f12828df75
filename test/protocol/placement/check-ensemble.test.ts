/** The checker against the invariant's own words (CK1, CK2). */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { checkEnsemble } from "../../../lib/protocol/placement/check-ensemble.ts";
import type { BookieAddress, Replication } from "../../../lib/protocol/replication.ts";
import { bookie, replication } from "./topologies.ts";

/** A bookie for each letter, in the region of that name; "?" is a bookie of no known region. */
function ring(letters: string): BookieAddress[] {
  return [...letters].map((letter, index) =>
    bookie(`${letter}.${index}`, letter === "?" ? "unknown" : letter),
  );
}

/** Fewest known regions among any Qa copies of any write set, by looking at every subset there is. */
function fewestRegions(letters: string, { writeQuorum, ackQuorum }: Replication): number {
  let fewest = Number.POSITIVE_INFINITY;
  for (let start = 0; start < letters.length; start++) {
    const window = Array.from(
      { length: writeQuorum },
      (_, offset) => letters[(start + offset) % letters.length],
    );
    for (let subset = 0; subset < 2 ** writeQuorum; subset++) {
      const acks = window.filter((_, index) => (subset >> index) % 2 === 1);
      if (acks.length !== ackQuorum) continue;
      fewest = Math.min(fewest, new Set(acks.filter((letter) => letter !== "?")).size);
    }
  }
  return fewest;
}

const rings = fc
  .record({
    letters: fc.array(fc.constantFrom("A", "B", "C", "D", "?"), { minLength: 1, maxLength: 8 }),
    write: fc.nat(),
    ack: fc.nat(),
    minRegions: fc.integer({ min: 1, max: 4 }),
  })
  .map(({ letters, write, ack, minRegions }) => {
    const writeQuorum = 1 + (write % letters.length);
    const sizes = {
      ensembleSize: letters.length,
      writeQuorum,
      ackQuorum: 1 + (ack % writeQuorum),
      minRegions,
    };
    return { letters: letters.join(""), sizes };
  });

describe("the checker", () => {
  test("2.1: legal is: every Qa copies of every write set touch m known regions; m = 1 asks nothing", () => {
    const verdicts = { legal: 0, illegal: 0 };
    fc.assert(
      fc.property(rings, ({ letters, sizes }) => {
        const check = checkEnsemble(ring(letters), sizes);
        const isLegal = sizes.minRegions === 1 || fewestRegions(letters, sizes) >= sizes.minRegions;
        expect(check.kind).toBe(isLegal ? "legal" : "illegal");
        verdicts[check.kind]++;
      }),
      { numRuns: 3_000, seed: 4 },
    );
    expect(Math.min(verdicts.legal, verdicts.illegal)).toBeGreaterThan(600);
  });

  test("names the write set that fails, its regions, and how few of them an ack quorum needs", () => {
    expect(checkEnsemble(ring("ABCAAC"), replication("6/3/2 m2"))).toEqual({
      kind: "illegal",
      reason:
        "in the write set of positions 2, 3, 4 (A 2, C 1) an ack quorum of 2 can lie in 1 known regions, " +
        "2 are wanted",
    });
  });

  test("looks at write sets that wrap around the ring", () => {
    const check = checkEnsemble(ring("ABCA"), replication("4/2/2 m2"));
    expect(check).toMatchObject({ reason: expect.stringMatching(/positions 3, 0 .* can lie in 1 known/) });
  });

  test("CK2: a member too few, a bookie at two positions", () => {
    expect(checkEnsemble(ring("AB"), replication("3/3/3 m2"))).toEqual({
      kind: "illegal",
      reason: "an ensemble of 3 has 2 members",
    });
    const [a, b] = ring("AB");
    expect(
      checkEnsemble(
        [a, b, a].flatMap((one) => one ?? []),
        replication("3/3/3 m2"),
      ),
    ).toEqual({
      kind: "illegal",
      reason: "A.0 stands at two positions",
    });
  });
});

describe("in the place of another ensemble (CK3)", () => {
  const verdict = (sizes: string, before: BookieAddress[], after: BookieAddress[]) =>
    checkEnsemble(after, replication(sizes), before).kind;

  test.each([
    // Three regions are wanted. Two may become one: that is worse, though neither is legal.
    ["6/6/4 m3", "AAABCD", "AAAABC", "illegal"],
    ["6/6/4 m3", "AAAABC", "AAABCD", "legal"],
    ["6/6/4 m3", "AAAABC", "AAAAAB", "legal"],
    ["6/6/4 m3", "AABBCD", "AAABCD", "legal"],
    ["6/6/5 m3", "AABBCC", "AABBCD", "legal"],
    ["6/6/5 m3", "AABBCC", "AAABBC", "illegal"],
    ["6/6/5 m3", "AABBCC", "AABB?C", "illegal"],
    ["6/6/5 m1", "AABBCC", "AAAAAA", "legal"],
  ])("%s from %s to %s: %s", (sizes, before, after, expected) => {
    expect(verdict(sizes, ring(before), ring(after))).toBe(expected);
  });

  test("never with a member too few or a bookie twice", () => {
    const [a, b] = ring("AB");
    const twice = [a, a, b].flatMap((one) => one ?? []);
    expect(verdict("2/2/2 m1", ring("AB"), ring("A"))).toBe("illegal");
    expect(verdict("3/3/3 m1", twice, twice)).toBe("illegal");
  });

  test("goes write set by write set: one that gets better does not pay for one that gets worse", () => {
    expect(verdict("6/2/2 m2", ring("AABABA"), ring("ABABAA"))).toBe("illegal");
    expect(verdict("6/2/2 m2", ring("AABABA"), ring("ABBABA"))).toBe("illegal");
    expect(verdict("6/2/2 m2", ring("AABABA"), ring("ACBABA"))).toBe("legal");
  });

  test("names the write set that got worse, not one that was as bad before", () => {
    expect(checkEnsemble(ring("AABBAB"), replication("6/2/2 m2"), ring("AABABA"))).toMatchObject({
      reason:
        "in the write set of positions 2, 3 (B 2) an ack quorum of 2 can lie in 1 known regions, 2 are " +
        "wanted; it was 2 before",
    });
  });

  test("what was legal stays legal: with a legal one before, the answer is what it is without", () => {
    const seen = { legal: 0, illegal: 0 };
    fc.assert(
      fc.property(rings, fc.array(fc.constantFrom("A", "B", "C", "?"), { minLength: 8 }), (one, letters) => {
        const { sizes } = one;
        const after = ring(letters.slice(0, sizes.ensembleSize).join(""));
        if (checkEnsemble(ring(one.letters), sizes).kind === "illegal") return;
        const { kind } = checkEnsemble(after, sizes, ring(one.letters));
        expect(kind).toBe(checkEnsemble(after, sizes).kind);
        seen[kind]++;
      }),
      { numRuns: 2_000, seed: 5 },
    );
    expect(Math.min(seen.legal, seen.illegal)).toBeGreaterThan(30);
  });
});
