/**
 * The one clock assumption (rule 15): a process whose last consistent metadata read is older than a quarter
 * of the seal age acknowledges nothing and answers nothing until it has read again. Measured by both
 * clocks: a frozen process's monotonic one may stand still, and a wall clock that went back proves nothing.
 */
import type { Clock } from "../clock.ts";
import { Age } from "../deadline.ts";
import type { LedgerId } from "../ids.ts";
import { ledgerKey } from "../items.ts";
import type { LedgerMetadata } from "../ledger-metadata.ts";
import { limits } from "../limits.ts";
import type { MetadataStore } from "../ports.ts";

/** Whether what was read may still be answered from. `readAt`: from before the read began. */
export function isFresh(readAt: Age | undefined): boolean {
  return readAt?.isWithin(limits.metadataAgeMaxMs) === true;
}

export class MetadataAge {
  #readAt: Age | undefined;

  /** `readAt`: of a consistent read that was made before. */
  constructor(
    private readonly clock: Clock,
    readAt?: Age,
  ) {
    this.#readAt = readAt;
  }

  /** From before the last consistent read began; undefined if there was none. */
  get readAt(): Age | undefined {
    return this.#readAt;
  }

  isFresh(): boolean {
    return isFresh(this.#readAt);
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
    const startedAt = new Age(this.clock);
    const result = await consistentRead();
    this.#readAt = startedAt;
    return result;
  }
}
