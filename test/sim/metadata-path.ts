/**
 * The metadata store as one process sees it. Consistent calls see the present. A stale read sees each item
 * as old as the replica's lag says, and as old as a stale fault says if one strikes.
 */
import type { WriteToken } from "../../lib/protocol/ids.ts";
import type { Item, ItemKey, Version } from "../../lib/protocol/items.ts";
import type {
  ItemQuery,
  MetadataConsistency,
  MetadataStore,
  Versioned,
  WriteAnswer,
} from "../../lib/protocol/ports.ts";
import type { MessagePath } from "./message-path.ts";
import type { MetadataTable } from "./metadata-table.ts";
import type { SeededRandom } from "./seeded-random.ts";
import type { SimulatedProcess } from "./simulated-process.ts";

/** Usual lag of a replica in ms, for reads that may be stale. */
const LAG_MS = 40;

export class MetadataPath implements MetadataStore {
  constructor(
    private readonly path: MessagePath,
    private readonly table: MetadataTable,
    private readonly random: SeededRandom,
    private readonly process: SimulatedProcess,
    private readonly asked: (partition: string) => void,
  ) {}

  get(key: ItemKey, consistency: MetadataConsistency): Promise<Versioned | undefined> {
    return this.#operate(key.partition, (table, staleMs) =>
      table.get(key, this.#ageMs(consistency, staleMs)),
    );
  }

  write(key: ItemKey, expected: Version | "absent", item: Item, token: WriteToken): Promise<WriteAnswer> {
    return this.#operate(key.partition, (table) => table.write({ key, expected, item, token }, this.process));
  }

  remove(key: ItemKey, expected: Version): Promise<{ kind: "removed" } | { kind: "conflict" }> {
    return this.#operate(key.partition, (table) => table.remove(key, expected));
  }

  query(query: ItemQuery, consistency: MetadataConsistency): Promise<readonly Versioned[]> {
    return this.#operate(query.partition, (table, staleMs) =>
      table.query(query, () => this.#ageMs(consistency, staleMs)),
    );
  }

  #ageMs(consistency: MetadataConsistency, staleMs: number): number {
    return consistency === "consistent" ? 0 : (LAG_MS + staleMs) * this.random.unit();
  }

  #operate<T>(partition: string, act: (table: MetadataTable, staleMs: number) => T): Promise<T> {
    this.asked(partition);
    return this.path.call<T>((service, reply) => {
      if (!service.effect) return reply.fail(service.failure);
      const result = act(this.table, service.staleMs);
      if (service.failure === undefined) reply.answer(result);
      else reply.fail(service.failure);
    });
  }
}
