/** Port: randomness, and the values that are drawn from it. */
import { assert } from "./assert.ts";

export interface Random {
  /** A uniform whole number in [0, 2^32). */
  uint32(): number;
}

/** A whole number in [0, 2^53), uniform. */
export function randomSafeInteger(random: Random): number {
  const high = random.uint32() >>> 11;
  return high * 2 ** 32 + random.uint32();
}

/** 96 random bits in base 16: enough that two never meet. */
export function randomToken(random: Random): string {
  let token = "";
  for (let word = 0; word < 3; word++) token += random.uint32().toString(16).padStart(8, "0");
  return token;
}

/** A whole number in [0, bound). The bias of the remainder is below 2^-20 for the small bounds used here. */
export function randomBelow(random: Random, bound: number): number {
  assert(bound >= 1 && bound <= 4096, `randomBelow takes a bound from 1 to 4096, got ${bound}`);
  return random.uint32() % bound;
}

/** The items in a random order (Fisher-Yates); the input stays as it is. */
export function shuffled<T>(random: Random, items: readonly T[]): T[] {
  const result = [...items];
  for (let last = result.length - 1; last > 0; last--) {
    const other = randomBelow(random, last + 1);
    [result[last], result[other]] = [result[other] as T, result[last] as T];
  }
  return result;
}
