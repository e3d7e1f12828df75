/** What every source of randomness must do. */
import { describe, expect, it } from "vitest";
import { newLedgerId, newWriteToken } from "../../lib/protocol/ids.ts";
import type { Random } from "../../lib/protocol/random.ts";

export interface RandomCase {
  readonly title: string;
  readonly run: (random: Random) => void;
}

const DRAWS = 8_192;

export const randomCases: readonly RandomCase[] = [
  {
    title: "draws are whole numbers in [0, 2^32)",
    run: (random) => {
      for (let draw = 0; draw < DRAWS; draw++) {
        const value = random.uint32();
        if (!Number.isSafeInteger(value) || value < 0 || value >= 2 ** 32) expect(value).toBe("a uint32");
      }
    },
  },
  {
    title: "each bit is set in about half of the draws, and draws do not repeat each other's bits",
    run: (random) => {
      const draws = Array.from({ length: DRAWS }, () => random.uint32());
      for (let bit = 0; bit < 32; bit++) {
        const bits = draws.map((value) => (value >>> bit) & 1);
        // Eight standard deviations: once in 10^15 runs by chance.
        expectNearHalf(bits.filter((one) => one === 1).length);
        expectNearHalf(bits.filter((one, index) => one === bits[(index + 1) % DRAWS]).length);
      }
    },
  },
  {
    title: "ids and tokens drawn from it do not meet",
    run: (random) => {
      const ledgers = new Set(Array.from({ length: 2_000 }, () => newLedgerId(random)));
      const tokens = new Set(Array.from({ length: 2_000 }, () => newWriteToken(random)));
      expect(ledgers.size).toBe(2_000);
      expect(tokens.size).toBe(2_000);
    },
  },
];

function expectNearHalf(count: number): void {
  expect(Math.abs(count - DRAWS / 2)).toBeLessThan(8 * (Math.sqrt(DRAWS) / 2));
}

export function randomContract(name: string, make: () => Random): void {
  describe(`random: ${name}`, () => {
    for (const one of randomCases) it(one.title, () => one.run(make()));
  });
}
