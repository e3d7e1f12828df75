/**
 * Metadata as unlucky clients meet it: old answers, and writes that land when nobody expects them any more.
 */

import { unavailable } from "../../../lib/protocol/errors.ts";
import type { ItemKey } from "../../../lib/protocol/items.ts";
import type { ItemQuery, MetadataStore, Versioned } from "../../../lib/protocol/ports.ts";

/** Stale reads answer from the moment of `hold` until `release`. Consistent ones are not touched. */
export class OldAnswers {
  #asOf: Map<string, readonly Versioned[]> | undefined;

  constructor(private readonly store: MetadataStore) {}

  async hold(...partitions: string[]): Promise<void> {
    const all = { order: "ascending", limit: 10_000 } as const;
    const taken = partitions.map(async (partition) => {
      const items = await this.store.query({ partition, ...all }, "consistent");
      return [partition, items] as const;
    });
    this.#asOf = new Map(await Promise.all(taken));
  }

  release(): void {
    this.#asOf = undefined;
  }

  through(store: MetadataStore): MetadataStore {
    return {
      ...store,
      get: async (key, consistency) => {
        const old = consistency === "stale" ? this.#asOf?.get(key.partition) : undefined;
        return old === undefined
          ? await store.get(key, consistency)
          : old.find((one) => sameKey(one.key, key));
      },
      query: async (query, consistency) => {
        const old = consistency === "stale" ? this.#asOf?.get(query.partition) : undefined;
        return old === undefined ? await store.query(query, consistency) : select(old, query);
      },
    };
  }
}

/**
 * Stale reads answer with any earlier state, for each item on its own: an item may be missing while a younger
 * one is there, and seem older than it seemed just before.
 */
export class AnyOldState {
  readonly #states = new Map<string, Map<string, (Versioned | undefined)[]>>();

  constructor(
    store: MetadataStore,
    private readonly draw: (bound: number) => number,
  ) {
    const write = store.write.bind(store);
    store.write = async (key, expected, item, token) => {
      const answer = await write(key, expected, item, token);
      if (answer.kind === "written") this.#statesOf(key).push({ key, item, version: answer.version });
      return answer;
    };
    const remove = store.remove.bind(store);
    store.remove = async (key, expected) => {
      const answer = await remove(key, expected);
      if (answer.kind === "removed") this.#statesOf(key).push(undefined);
      return answer;
    };
  }

  through(store: MetadataStore): MetadataStore {
    return {
      ...store,
      get: async (key, consistency) =>
        consistency === "stale" ? this.#any(this.#statesOf(key)) : await store.get(key, consistency),
      query: async (query, consistency) => {
        if (consistency === "consistent") return await store.query(query, consistency);
        const items = [...(this.#states.get(query.partition) ?? new Map()).entries()]
          .sort(([one], [other]) => (one < other ? -1 : 1))
          .flatMap(([, states]) => this.#any(states) ?? []);
        return select(items, query);
      },
    };
  }

  #statesOf({ partition, sort }: ItemKey): (Versioned | undefined)[] {
    const items = this.#states.get(partition) ?? new Map<string, (Versioned | undefined)[]>();
    this.#states.set(partition, items);
    const states = items.get(sort) ?? [undefined];
    items.set(sort, states);
    return states;
  }

  #any(states: readonly (Versioned | undefined)[]): Versioned | undefined {
    return states[this.draw(states.length)];
  }
}

/** While it is on, writes to a partition fail unseen and land only when the story says so. */
export class LateWrites {
  #partition: string | undefined;
  #late: (() => Promise<unknown>)[] = [];

  start(partition: string): void {
    this.#partition = partition;
  }

  stop(): void {
    this.#partition = undefined;
  }

  /** Lets the first of them take effect now; says what the store answers to nobody. */
  async land(): Promise<unknown> {
    return await this.#late.shift()?.();
  }

  through(store: MetadataStore): MetadataStore {
    return {
      ...store,
      write: (key, expected, item, token) => {
        if (key.partition !== this.#partition) return store.write(key, expected, item, token);
        this.#late.push(() => store.write(key, expected, item, token));
        return Promise.reject(unavailable("no reply"));
      },
    };
  }
}

const sameKey = (one: ItemKey, other: ItemKey) =>
  one.partition === other.partition && one.sort === other.sort;

function select(items: readonly Versioned[], { from, to, order, limit }: ItemQuery): readonly Versioned[] {
  const inRange = items.filter(
    ({ key: { sort } }) => sort >= (from ?? "") && (to === undefined || sort <= to),
  );
  return (order === "ascending" ? inRange : inRange.reverse()).slice(0, limit);
}
