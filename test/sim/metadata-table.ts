/**
 * The global metadata table: items in partitions, each with its whole past, so that a stale read can see any
 * earlier state. Plain and synchronous; each operation takes effect within one event.
 */
import type { WriteToken } from "../../lib/protocol/ids.ts";
import type { Item, ItemKey, Version } from "../../lib/protocol/items.ts";
import type { ItemQuery, Versioned, WriteAnswer } from "../../lib/protocol/ports.ts";
import type { SimulatedProcess } from "./simulated-process.ts";

export interface MetadataChange {
  readonly key: ItemKey;
  readonly before: Versioned | undefined;
  readonly after: Versioned | undefined;
  /** Whose write it was. */
  readonly process?: SimulatedProcess;
}

export interface MetadataWrite {
  readonly key: ItemKey;
  readonly expected: Version | "absent";
  readonly item: Item;
  readonly token: WriteToken;
}

interface PastState {
  readonly sinceMs: number;
  readonly state: Versioned | undefined;
}

const PRESET = "preset" as WriteToken;

export class MetadataTable {
  readonly #partitions = new Map<string, Map<string, PastState[]>>();

  constructor(
    private readonly nowMs: () => number,
    private readonly changed: (change: MetadataChange) => void,
  ) {}

  /** An item that has been there for longer than any replica lags. */
  preset(key: ItemKey, item: Item): void {
    const partition = this.#partitions.get(key.partition) ?? new Map<string, PastState[]>();
    const version = { revision: 1, token: PRESET };
    const past = [{ sinceMs: Number.NEGATIVE_INFINITY, state: { key, item, version } }];
    this.#partitions.set(key.partition, partition.set(key.sort, past));
  }

  /** The item as it was `ageMs` ago. */
  get(key: ItemKey, ageMs = 0): Versioned | undefined {
    const past = this.#partitions.get(key.partition)?.get(key.sort);
    return past === undefined ? undefined : this.#stateAt(past, ageMs);
  }

  write({ key, expected, item, token }: MetadataWrite, process?: SimulatedProcess): WriteAnswer {
    const before = this.get(key);
    if (!isExpected(before, expected)) return { kind: "conflict" };
    const version = { revision: (before?.version.revision ?? 0) + 1, token };
    this.#set({ key, before, after: { key, item, version }, ...(process && { process }) });
    return { kind: "written", version };
  }

  remove(key: ItemKey, expected: Version): { kind: "removed" } | { kind: "conflict" } {
    const before = this.get(key);
    if (before === undefined || !isExpected(before, expected)) return { kind: "conflict" };
    this.#set({ key, before, after: undefined });
    return { kind: "removed" };
  }

  query(query: ItemQuery, ageOfItemMs: () => number = () => 0): Versioned[] {
    const partition = this.#partitions.get(query.partition);
    if (partition === undefined) return [];
    const sorts = [...partition.keys()]
      .filter(
        (sort) =>
          (query.from === undefined || sort >= query.from) && (query.to === undefined || sort <= query.to),
      )
      .sort();
    if (query.order === "descending") sorts.reverse();
    const found: Versioned[] = [];
    for (const sort of sorts) {
      if (found.length === query.limit) break;
      const item = this.get({ partition: query.partition, sort }, ageOfItemMs());
      if (item !== undefined) found.push(item);
    }
    return found;
  }

  /** Every present item of one kind. */
  itemsOf<K extends Item["kind"]>(kind: K): Versioned<Extract<Item, { kind: K }>>[] {
    const found: Versioned<Extract<Item, { kind: K }>>[] = [];
    for (const partition of this.#partitions.values()) {
      for (const past of partition.values()) {
        const state = past.at(-1)?.state;
        if (state?.item.kind === kind) found.push(state as Versioned<Extract<Item, { kind: K }>>);
      }
    }
    return found;
  }

  #set(change: MetadataChange): void {
    const { key, after } = change;
    let partition = this.#partitions.get(key.partition);
    if (partition === undefined) {
      partition = new Map();
      this.#partitions.set(key.partition, partition);
    }
    const state = { sinceMs: this.nowMs(), state: after };
    const past = partition.get(key.sort);
    if (past === undefined) partition.set(key.sort, [state]);
    else past.push(state);
    this.changed(change);
  }

  #stateAt(past: readonly PastState[], ageMs: number): Versioned | undefined {
    if (ageMs <= 0) return past.at(-1)?.state;
    const atMs = this.nowMs() - ageMs;
    for (let index = past.length - 1; index >= 0; index--) {
      const then = past[index];
      if (then !== undefined && then.sinceMs <= atMs) return then.state;
    }
    return undefined;
  }
}

function isExpected(found: Versioned | undefined, expected: Version | "absent"): boolean {
  if (found === undefined || expected === "absent") return found === undefined && expected === "absent";
  return found.version.revision === expected.revision && found.version.token === expected.token;
}
