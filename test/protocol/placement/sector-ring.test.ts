/** The order of regions around the ring (SR1 to SR3). */
import { expect, test } from "vitest";
import { sectorRing, sectorsMax } from "../../../lib/protocol/placement/arrange-regions.ts";
import { waterFill } from "../../../lib/protocol/placement/ring.ts";
import { heaviest } from "./brute-force.ts";

const letters = (ring: readonly number[]) => ring.map((region) => "ABCDEFGH"[region] ?? "?").join("");

test.each([
  [[3, 3, 3], 3, 3, "ABCABCABC"],
  [[4, 4], 2, 4, "ABABABAB"],
  [[3, 3, 2], 3, 2, "ABCBABCA"],
  // A window of three that is never the same region twice, though no three regions have three bookies each.
  [[3, 2, 2, 2], 3, 3, "ABCABDACD"],
])("%j in sectors of width %i, %i of them: %s", (known, width, sectors, ring) => {
  expect(letters(sectorRing({ known, unresolved: 0 }, width, sectors))).toBe(ring);
});

test("bookies of unknown regions fill gaps only, at even intervals", () => {
  expect(letters(sectorRing({ known: [2, 2], unresolved: 2 }, 2, 2))).toBe("AB?AB?");
});

test("SR3: with width m each window has floor(Qw * q / E) outside any m - 1 regions, m <= 8, E <= 60", () => {
  let windows = 0;
  for (let minRegions = 2; minRegions <= 8; minRegions++) {
    for (let size = minRegions; size <= 60; size++) {
      const shares = {
        known: waterFill(size, new Array<number>(minRegions).fill(size)) ?? [],
        unresolved: 0,
      };
      const sectors = sectorsMax(shares, minRegions);
      expect(sectors).toBe(Math.floor(size / minRegions));
      const ring = sectorRing(shares, minRegions, sectors);
      for (let writeQuorum = 1; writeQuorum <= size; writeQuorum++) {
        const outside = writeQuorum - heaviest(ring, writeQuorum, minRegions - 1);
        const promised = Math.floor((writeQuorum * sectors) / size);
        if (outside < promised)
          throw new Error(`${letters(ring)}, Qw ${writeQuorum}: ${outside} < ${promised}`);
        windows++;
      }
    }
  }
  expect(windows).toBe(12_726);
});

test("SR1, SR3: the same with uneven regions, and more than m of them", () => {
  let rings = 0;
  for (let code = 0; code < 6 ** 5; code += 29) {
    const known = [0, 1, 2, 3, 4].map((place) => Math.floor(code / 6 ** place) % 6);
    const size = known.reduce((sum, share) => sum + share, 0);
    for (let width = 2; width <= 4 && size > 0; width++) {
      for (let sectors = sectorsMax({ known, unresolved: 0 }, width); sectors > 0; sectors--) {
        const ring = sectorRing({ known, unresolved: 0 }, width, sectors);
        expect(known.map((_, region) => ring.filter((one) => one === region).length)).toEqual(known);
        for (let writeQuorum = 1; writeQuorum <= size; writeQuorum++) {
          const outside = writeQuorum - heaviest(ring, writeQuorum, width - 1);
          const promised = Math.floor((writeQuorum * sectors) / size);
          if (outside < promised) throw new Error(`${known} ${letters(ring)} Qw ${writeQuorum}: ${outside}`);
        }
        rings++;
      }
    }
  }
  expect(rings).toBeGreaterThan(1_500);
});
