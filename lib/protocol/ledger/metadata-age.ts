/**
 * The one clock assumption (rule 15): a process whose last consistent metadata read is older than a quarter
 * of the seal age acknowledges nothing and answers nothing until it has read again. Measured on wall time,
 * since a frozen process's monotonic time may stand still; a wall clock that went back counts as old.
 */
import type { Clock } from "../clock.ts";
import type { LedgerId } from "../ids.ts";
import { ledgerKey } from "../items.ts";
import type { LedgerMetadata } from "../ledger-metadata.ts";
import { limits } from "../limits.ts";
import type { MetadataStore } from "../ports.ts";

/** Whether what was read may still be answered from. `readAtMs`: wall time from before the read began. */
export function isFresh(clock: Pick<Clock, "nowMs">, readAtMs: number): boolean {
  const ageMs = clock.nowMs() - readAtMs;
  return ageMs >= 0 && ageMs < limits.metadataAgeMaxMs;
}

export class MetadataAge {
  #readAtMs: number;

  constructor(
    private readonly clock: Clock,
    readAtMs: number = Number.NEGATIVE_INFINITY,
  ) {
    this.#readAtMs = readAtMs;
  }

  /** Wall time in ms from before the last consistent read began. */
  get readAtMs(): number {
    return this.#readAtMs;
  }

  isFresh(): boolean {
    return isFresh(this.clock, this.#readAtMs);
  }

  /** Reads a ledger's state consistently. */
  async readState(
    ports: { readonly metadata: MetadataStore },
    id: LedgerId,
  ): Promise<
    { kind: "state"; state: LedgerMetadata["state"] | "missing" } | { kind: "silent"; error: unknown }
  > {
    try {
      const item = (await this.read(() => ports.metadata.get(ledgerKey(id), "consistent")))?.item;
      return { kind: "state", state: item?.kind === "ledger" ? item.state : "missing" };
    } catch (error) {
      return { kind: "silent", error };
    }
  }

  /** Makes a consistent read and counts its age from before it began. */
  async read<T>(consistentRead: () => Promise<T>): Promise<T> {
    const startedAtMs = this.clock.nowMs();
    const result = await consistentRead();
    this.#readAtMs = startedAtMs;
    return result;
  }
}
