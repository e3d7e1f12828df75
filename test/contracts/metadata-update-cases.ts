/** The protocol's own read-change-write loop on the store, with rivals and with replies lost. */
import { expect } from "vitest";
import type { ItemKey, LogItem } from "../../lib/protocol/items.ts";
import type { MetadataStore, Versioned } from "../../lib/protocol/ports.ts";
import { removeItem, type UpdateOutcome, updateItem } from "../../lib/protocol/update-item.ts";
import type { ContractCase } from "./contract.ts";
import { type Lose, type Loss, lossyEdge } from "./lost-replies.ts";
import { sampleLog } from "./sample-items.ts";
import type { Scope } from "./scope.ts";

const losses: readonly Loss[] = ["before", "after"];

export const updateCases: readonly ContractCase<MetadataStore>[] = [
  {
    title: "four updaters at once lose no update",
    run: async (store, scope) => {
      const key: ItemKey = { partition: scope.partition(), sort: "item" };
      await Promise.all(
        [1, 2, 3, 4].map(async () => {
          for (let round = 0; round < 3; round++) await addOne(store, scope, key);
        }),
      );
      const count = countOf(await store.get(key, "consistent"));
      // A write whose reply was lost and that a rival overwrote meanwhile is made again: its outcome cannot be known
      // (UPD2).
      if (scope.isFaulty) expect(count).toBeGreaterThanOrEqual(12);
      else expect(count).toBe(12);
    },
  },
  {
    title: "UPD2: an update whose write's reply is lost recognises its own write and makes it once",
    run: async (store, scope) => {
      for (const loss of losses) {
        const key: ItemKey = { partition: scope.partition(), sort: "item" };
        const lossy = lossyEdge(firstWrite(loss)).wrap(store);
        const outcome = await addOne(lossy, scope, key);
        const found = await store.get(key, "consistent");
        expect(outcome).toEqual({ stored: found, wrote: true });
        expect(countOf(found)).toBe(1);
        expect(countOf((await addOne(store, scope, key)).stored)).toBe(2);
      }
    },
  },
  {
    title: "UPD2: a rival's write after a lost reply is not taken for one's own",
    run: async (store, scope) => {
      for (const loss of losses) {
        const key: ItemKey = { partition: scope.partition(), sort: "item" };
        const lossy = lossyEdge(firstWrite(loss)).wrap(store);
        const rival = afterLostWrite(lossy, () => addOne(store, scope, key));
        const outcome = await addOne(rival, scope, key);
        // Lost after the effect, then overwritten: its outcome cannot be known, so the decision is made again.
        expect(countOf(outcome.stored)).toBe(loss === "before" ? 2 : 3);
        expect(await store.get(key, "consistent")).toEqual(outcome.stored);
      }
    },
  },
  {
    title: "a write sent again after it took effect changes nothing (a request may be delivered twice)",
    run: async (store, scope) => {
      const key: ItemKey = { partition: scope.partition(), sort: "item" };
      const token = scope.token();
      await store.write(key, "absent", sampleLog(0), token);
      await addOne(store, scope, key);
      expect(await store.write(key, "absent", sampleLog(0), scope.token())).toEqual({ kind: "conflict" });
      expect(countOf(await store.get(key, "consistent"))).toBe(1);
    },
  },
  {
    title: "an item removed with its reply lost is found removed",
    run: async (store, scope) => {
      for (const loss of losses) {
        const key: ItemKey = { partition: scope.partition(), sort: "item" };
        await addOne(store, scope, key);
        let removals = 0;
        const edge = lossyEdge(({ method }) => (method === "remove" && removals++ === 0 ? loss : undefined));
        const ports = { metadata: edge.wrap(store), random: scope.random };
        expect(await removeItem(ports, key, () => true)).toBe("removed");
        expect(await store.get(key, "consistent")).toBeUndefined();
      }
    },
  },
];

/** Counts in the trim point of a log item. */
function addOne(store: MetadataStore, scope: Scope, key: ItemKey): Promise<UpdateOutcome> {
  return updateItem({ metadata: store, random: scope.random }, key, (current) =>
    sampleLog(countOf(current) + 1),
  );
}

function countOf(current: Versioned | undefined): number {
  return current === undefined ? 0 : (current.item as LogItem).trimPoint;
}

function firstWrite(loss: Loss): Lose {
  let writes = 0;
  return ({ method }) => (method === "write" && writes++ === 0 ? loss : undefined);
}

/** The store, with `act` done once between the first write that fails and the caller's hearing of it. */
function afterLostWrite(store: MetadataStore, act: () => Promise<unknown>): MetadataStore {
  let acted = false;
  return {
    get: (key, consistency) => store.get(key, consistency),
    query: (query, consistency) => store.query(query, consistency),
    remove: (key, expected) => store.remove(key, expected),
    async write(key, expected, item, token) {
      try {
        return await store.write(key, expected, item, token);
      } catch (error) {
        if (!acted) await act();
        acted = true;
        throw error;
      }
    },
  };
}
