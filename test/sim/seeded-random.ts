/**
 * Randomness of a run: one stream per part, all from the root seed, so that leaving one part out of a run
 * does not change what the others draw (shrinking depends on it). xoshiro128** seeded by splitmix32.
 */
import type { Random } from "../../lib/protocol/random.ts";

export class SeededRandom implements Random {
  #a: number;
  #b: number;
  #c: number;
  #d: number;

  constructor(seed: number, stream: string) {
    let state = hashOf(stream, seed);
    const next = () => {
      state = (state + 0x9e3779b9) | 0;
      let word = state ^ (state >>> 16);
      word = Math.imul(word, 0x21f0aaad);
      word ^= word >>> 15;
      word = Math.imul(word, 0x735a2d97);
      return word ^ (word >>> 15);
    };
    this.#a = next();
    this.#b = next();
    this.#c = next();
    this.#d = next() | 1;
  }

  uint32(): number {
    const five = Math.imul(this.#b, 5);
    const result = Math.imul((five << 7) | (five >>> 25), 9);
    const shifted = this.#b << 9;
    this.#c ^= this.#a;
    this.#d ^= this.#b;
    this.#b ^= this.#c;
    this.#a ^= this.#d;
    this.#c ^= shifted;
    this.#d = (this.#d << 11) | (this.#d >>> 21);
    return result >>> 0;
  }

  /** Uniform in [0, 1). */
  unit(): number {
    return this.uint32() / 4_294_967_296;
  }

  /** Whether something of this probability happens. */
  chance(probability: number): boolean {
    return probability > 0 && this.unit() < probability;
  }

  /** A whole number in [low, high]. */
  integer(low: number, high: number): number {
    return low + Math.floor(this.unit() * (high - low + 1));
  }

  /** Uniform in [low, high). */
  between(low: number, high: number): number {
    return low + this.unit() * (high - low);
  }

  /** Between low and high with every order of magnitude equally likely. */
  logBetween(low: number, high: number): number {
    return low * (high / low) ** this.unit();
  }

  pick<T>(items: readonly T[]): T {
    const item = items[Math.floor(this.unit() * items.length)];
    if (item === undefined) throw new RangeError("cannot pick from nothing");
    return item;
  }

  shuffled<T>(items: readonly T[]): T[] {
    const result = [...items];
    for (let last = result.length - 1; last > 0; last--) {
      const other = this.integer(0, last);
      [result[last], result[other]] = [result[other] as T, result[last] as T];
    }
    return result;
  }
}

/** FNV-1a over the name, started from the seed. */
function hashOf(name: string, seed: number): number {
  let hash = Math.imul((0x811c9dc5 ^ seed) | 0, 0x01000193) ^ Math.floor(seed / 4_294_967_296);
  for (let index = 0; index < name.length; index++) {
    hash = Math.imul(hash ^ name.charCodeAt(index), 0x01000193);
  }
  return hash | 0;
}
