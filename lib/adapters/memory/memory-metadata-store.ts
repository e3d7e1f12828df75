/**
 * Metadata in memory: for the simulator and for tests. What is written passes through the stored format and
 * is then frozen: later changes by the writer do not reach the store, and readers may share it.
 * Each call takes effect at once, before it returns its promise.
 */
import { decodeItem, encodeItem } from "../../formats/metadata-item-format.ts";
import { assert } from "../../protocol/assert.ts";
import type { WriteToken } from "../../protocol/ids.ts";
import type { Item, ItemKey, Version } from "../../protocol/items.ts";
import type {
  ItemQuery,
  MetadataConsistency,
  MetadataStore,
  Versioned,
  WriteAnswer,
} from "../../protocol/ports.ts";
import { SortedMap } from "./sorted-map.ts";
import { type Cell, matches, nextCell } from "./versioned-cell.ts";

/** A replica that lags, item by item. */
interface StaleReads {
  /** Earlier states kept of each item, "not there" being one of them. */
  readonly statesMax: number;
  /** How many states back this stale read of the item looks: from 0, the newest, to `kept`. */
  statesBack(key: ItemKey, kept: number): number;
}

interface Slot {
  readonly current: Cell<Item> | undefined;
  /** Earlier states, the newest last; kept only when stale reads are modelled. */
  readonly earlier: readonly (Cell<Item> | undefined)[];
}

export class MemoryMetadataStore implements MetadataStore {
  readonly #partitions = new Map<string, SortedMap<Slot>>();
  readonly #staleReads: StaleReads | undefined;

  /** Without `staleReads` a stale read sees what a consistent one does. */
  constructor(staleReads?: StaleReads) {
    this.#staleReads = staleReads;
  }

  async get(key: ItemKey, consistency: MetadataConsistency): Promise<Versioned | undefined> {
    const slot = this.#partitions.get(key.partition)?.get(key.sort);
    return slot === undefined ? undefined : this.#seen(key, slot, consistency);
  }

  async write(
    key: ItemKey,
    expected: Version | "absent",
    item: Item,
    token: WriteToken,
  ): Promise<WriteAnswer> {
    const slot = this.#partitions.get(key.partition)?.get(key.sort);
    if (!matches(slot?.current, expected)) return { kind: "conflict" };
    const cell = nextCell(slot?.current, decodeItem(encodeItem(item)), token);
    this.#replace(key, slot, cell);
    return { kind: "written", version: cell.version };
  }

  async remove(key: ItemKey, expected: Version): Promise<{ readonly kind: "removed" | "conflict" }> {
    const slot = this.#partitions.get(key.partition)?.get(key.sort);
    if (!matches(slot?.current, expected)) return { kind: "conflict" };
    this.#replace(key, slot, undefined);
    return { kind: "removed" };
  }

  async query(query: ItemQuery, consistency: MetadataConsistency): Promise<readonly Versioned[]> {
    const { partition, limit } = query;
    assert(Number.isSafeInteger(limit) && limit >= 1, `a query asks for at least one item, got ${limit}`);
    const found: Versioned[] = [];
    for (const [sort, slot] of this.#partitions.get(partition)?.walk(query, query.order) ?? []) {
      const seen = this.#seen({ partition, sort }, slot, consistency);
      if (seen !== undefined) found.push(seen);
      if (found.length === limit) break;
    }
    return found;
  }

  #seen(key: ItemKey, slot: Slot, consistency: MetadataConsistency): Versioned | undefined {
    const back = consistency === "stale" ? this.#statesBack(key, slot.earlier.length) : 0;
    const cell = back === 0 ? slot.current : slot.earlier[slot.earlier.length - back];
    return cell === undefined ? undefined : { key, item: cell.value, version: cell.version };
  }

  #statesBack(key: ItemKey, kept: number): number {
    const back = this.#staleReads?.statesBack(key, kept) ?? 0;
    assert(Number.isSafeInteger(back) && back >= 0 && back <= kept, `${back} of ${kept} states back`);
    return back;
  }

  #replace(key: ItemKey, slot: Slot | undefined, current: Cell<Item> | undefined): void {
    let partition = this.#partitions.get(key.partition);
    if (partition === undefined) {
      partition = new SortedMap();
      this.#partitions.set(key.partition, partition);
    }
    const statesMax = this.#staleReads?.statesMax ?? 0;
    const earlier = statesMax === 0 ? [] : [...(slot?.earlier ?? []), slot?.current].slice(-statesMax);
    if (current === undefined && earlier.length === 0) partition.delete(key.sort);
    else partition.set(key.sort, { current, earlier });
  }
}
