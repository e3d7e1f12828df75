/** Randomness of the operating system, drawn in pools: one call into it serves many draws. */
import { randomFillSync } from "node:crypto";
import type { Random } from "../../protocol/random.ts";

const POOL_WORDS = 1024;

export class SystemRandom implements Random {
  readonly #pool = new Uint32Array(POOL_WORDS);
  #next = POOL_WORDS;

  uint32(): number {
    if (this.#next >= POOL_WORDS) {
      randomFillSync(this.#pool);
      this.#next = 0;
    }
    const value = this.#pool[this.#next] ?? 0;
    // A token that was handed out stays nowhere else in memory.
    this.#pool[this.#next++] = 0;
    return value;
  }
}
