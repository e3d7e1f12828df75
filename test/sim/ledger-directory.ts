/** The ledgers of a run as clients hear of them, and as all of them can be found in the end. */
import type { LedgerId } from "../../lib/protocol/ids.ts";
import type { SeededRandom } from "./seeded-random.ts";

export class LedgerDirectory {
  readonly #ids: LedgerId[] = [];

  add(id: LedgerId): void {
    this.#ids.push(id);
  }

  /** One of the youngest, mostly. */
  pick(random: SeededRandom): LedgerId | undefined {
    if (this.#ids.length === 0) return undefined;
    const among = random.chance(0.75) ? this.#ids.slice(-2) : this.#ids;
    return random.pick(among);
  }
}
