/** One entry on its way to an ACK set: who holds it, who cannot, and whose answer is still out. */
import type { Clock } from "../clock.ts";
import type { BookieWord } from "../errors.ts";
import type { BookieId } from "../ids.ts";
import type { BookieAddress } from "../place.ts";
import type { SealedEntry } from "../ports.ts";
import { within } from "../waiting.ts";

export class EntryHolders {
  readonly #holders = new Set<BookieId>();
  readonly #failures = new Map<BookieId, BookieWord>();
  readonly #unanswered = new Set<BookieId>();
  #firstHeldAtMs: number | undefined;
  #waiting: (() => void)[] = [];

  constructor(
    private readonly clock: Clock,
    readonly entry: SealedEntry,
  ) {}

  /** Nothing was heard of the entry from that bookie, nor was it asked. */
  isNew({ id }: BookieAddress): boolean {
    return !this.#holders.has(id) && !this.#failures.has(id) && !this.#unanswered.has(id);
  }

  isHolder({ id }: BookieAddress): boolean {
    return this.#holders.has(id);
  }

  isUnanswered({ id }: BookieAddress): boolean {
    return this.#unanswered.has(id);
  }

  failureOf({ id }: BookieAddress): BookieWord | undefined {
    return this.#failures.get(id);
  }

  /** How long somebody has held it, in ms; undefined while nobody does. */
  get heldForMs(): number | undefined {
    return this.#firstHeldAtMs === undefined ? undefined : this.clock.monotonicMs() - this.#firstHeldAtMs;
  }

  asked({ id }: BookieAddress): void {
    this.#unanswered.add(id);
  }

  holds({ id }: BookieAddress): void {
    this.#firstHeldAtMs ??= this.clock.monotonicMs();
    this.#holders.add(id);
    this.#answered(id);
  }

  failed({ id }: BookieAddress, word: BookieWord): void {
    this.#failures.set(id, word);
    this.#answered(id);
  }

  /** Resolves with the next answer, or after `waitMs`. */
  async changed(waitMs: number): Promise<void> {
    const answered = () => new Promise<void>((resolve) => this.#waiting.push(resolve));
    await within(this.clock, waitMs, "the next answer", answered).catch(() => {});
  }

  #answered(id: BookieId): void {
    this.#unanswered.delete(id);
    for (const wake of this.#waiting.splice(0)) wake();
  }
}
