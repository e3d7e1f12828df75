/**
 * Bookies that failed this process lately. They are asked last and chosen last, never left out: a suspect
 * is a matter of speed, and nothing about safety may rest on it.
 */
import type { BookieId } from "../ids.ts";
import { limits } from "../limits.ts";
import type { Clock } from "../ports.ts";

export class Suspects {
  readonly #since = new Map<BookieId, number>();

  constructor(private readonly clock: Clock) {}

  /** The bookie did not answer. */
  failed(bookie: BookieId): void {
    this.#since.set(bookie, this.clock.monotonicMs());
  }

  /** The bookie answered, whatever it said. */
  answered(bookie: BookieId): void {
    this.#since.delete(bookie);
  }

  has(bookie: BookieId): boolean {
    const since = this.#since.get(bookie);
    if (since === undefined) return false;
    if (this.clock.monotonicMs() - since < limits.suspectMs) return true;
    this.#since.delete(bookie);
    return false;
  }

  /** Those of `bookies` that are suspects now. */
  among(bookies: readonly BookieId[]): Set<BookieId> {
    return new Set(bookies.filter((bookie) => this.has(bookie)));
  }
}
