/** One item: read, conditional write, conditional removal. */
import { expect } from "vitest";
import type { ItemKey, Version } from "../../lib/protocol/items.ts";
import type { MetadataStore, Versioned, WriteAnswer } from "../../lib/protocol/ports.ts";
import type { ContractCase } from "./contract.ts";
import { sampleItems, sampleLedger, sampleLog } from "./sample-items.ts";
import type { Scope } from "./scope.ts";

export const itemCases: readonly ContractCase<MetadataStore>[] = [
  {
    title: "every kind of item comes back as it was written, with its key and the version answered",
    run: async (store, scope) => {
      const partition = scope.partition();
      for (const [index, item] of sampleItems().entries()) {
        const key = { partition, sort: `item${index}` };
        const version = written(await store.write(key, "absent", item, scope.token()));
        expect(await store.get(key, "consistent")).toEqual({ key, item, version });
      }
    },
  },
  {
    title: "a write that expects nothing meets something: conflict, and nothing changes",
    run: async (store, scope) => {
      const { key, version } = await begun(store, scope);
      expect(await store.write(key, "absent", sampleLog(1), scope.token())).toEqual({ kind: "conflict" });
      expect(await store.get(key, "consistent")).toEqual({ key, item: sampleLog(0), version });
    },
  },
  {
    title: "a write that expects a version meets nothing: conflict, and nothing appears",
    run: async (store, scope) => {
      const key = scopedKey(scope);
      const version: Version = { revision: 1, token: scope.token() };
      expect(await store.write(key, version, sampleLog(1), scope.token())).toEqual({ kind: "conflict" });
      expect(await store.get(key, "consistent")).toBeUndefined();
    },
  },
  {
    title: "each write takes the version of the one before; a stale version is refused for ever",
    run: async (store, scope) => {
      const { key, version } = await begun(store, scope);
      const versions = [version];
      for (let round = 1; round <= 3; round++) {
        const current = versions.at(-1) ?? version;
        versions.push(written(await store.write(key, current, sampleLog(round), scope.token())));
        for (const stale of versions.slice(0, -1)) {
          expect(await store.write(key, stale, sampleLog(99), scope.token())).toEqual({ kind: "conflict" });
        }
      }
      expect((await store.get(key, "consistent"))?.item).toEqual(sampleLog(3));
    },
  },
  {
    title: "both parts of a version count, and the token in it is the writer's",
    run: async (store, scope) => {
      const key = scopedKey(scope);
      const token = scope.token();
      const version = written(await store.write(key, "absent", sampleLog(0), token));
      expect(version.token).toBe(token);
      const wrong: Version[] = [
        { ...version, token: scope.token() },
        { ...version, revision: version.revision + 1 },
      ];
      for (const expected of wrong) {
        expect(await store.write(key, expected, sampleLog(9), scope.token())).toEqual({ kind: "conflict" });
        expect(await store.remove(key, expected)).toEqual({ kind: "conflict" });
      }
      expect((await store.get(key, "consistent"))?.item).toEqual(sampleLog(0));
    },
  },
  {
    title: "of racers from one state exactly one is told written, and its item stays",
    run: async (store, scope) => {
      const key = scopedKey(scope);
      let expected: Version | "absent" = "absent";
      for (let round = 0; round < 5; round++) {
        const from: Version | "absent" = expected;
        const answers: WriteAnswer[] = await Promise.all(
          [1, 2, 3].map((racer) => store.write(key, from, sampleLog(10 * round + racer), scope.token())),
        );
        const winner = answers.findIndex((answer) => answer.kind === "written");
        expect(answers.filter((answer) => answer.kind === "written")).toHaveLength(1);
        const found = await store.get(key, "consistent");
        expect(found?.item).toEqual(sampleLog(10 * round + winner + 1));
        expected = found?.version ?? "absent";
      }
    },
  },
  {
    title: "of a write and a removal from one state exactly one wins",
    run: async (store, scope) => {
      for (let round = 0; round < 4; round++) {
        const { key, version } = await begun(store, scope);
        const [write, removal] = await Promise.all([
          store.write(key, version, sampleLog(1), scope.token()),
          store.remove(key, version),
        ]);
        const found = await store.get(key, "consistent");
        expect([write.kind, removal.kind]).toEqual(
          found === undefined ? ["conflict", "removed"] : ["written", "conflict"],
        );
      }
    },
  },
  {
    title: "removal takes the current version; a second one meets nothing: conflict",
    run: async (store, scope) => {
      const { key, version: stale } = await begun(store, scope);
      const version = written(await store.write(key, stale, sampleLog(1), scope.token()));
      expect(await store.remove(key, stale)).toEqual({ kind: "conflict" });
      expect(await store.remove(key, version)).toEqual({ kind: "removed" });
      expect(await store.get(key, "consistent")).toBeUndefined();
    },
  },
  {
    title: "an item made again never matches a version of the one before",
    run: async (store, scope) => {
      const { key, version } = await begun(store, scope);
      expect(await store.remove(key, version)).toEqual({ kind: "removed" });
      written(await store.write(key, "absent", sampleLog(0), scope.token()));
      expect(await store.write(key, version, sampleLog(9), scope.token())).toEqual({ kind: "conflict" });
      expect(await store.remove(key, version)).toEqual({ kind: "conflict" });
      expect((await store.get(key, "consistent"))?.item).toEqual(sampleLog(0));
    },
  },
  {
    title: "a stale read gives a state that the item once had",
    run: async (store, scope) => {
      const { key, version } = await begun(store, scope);
      const states: (Versioned | undefined)[] = [undefined, { key, item: sampleLog(0), version }];
      let current = version;
      for (let round = 1; round <= 4; round++) {
        current = written(await store.write(key, current, sampleLog(round), scope.token()));
        states.push({ key, item: sampleLog(round), version: current });
        expect(states).toContainEqual(await store.get(key, "stale"));
        expect(states.slice(-1)).toContainEqual(await store.get(key, "consistent"));
      }
    },
  },
  {
    title: "changing an item after it was given, or got, changes nothing stored",
    run: async (store, scope) => {
      const key = scopedKey(scope);
      const given = sampleLedger(2);
      written(await store.write(key, "absent", given, scope.token()));
      tamper(given);
      const got = await store.get(key, "consistent");
      expect(got?.item).toEqual(sampleLedger(2));
      if (got?.item.kind === "ledger") tamper(got.item);
      expect((await store.get(key, "consistent"))?.item).toEqual(sampleLedger(2));
    },
  },
  {
    title: "a ledger with as many fragments as it may have comes back whole",
    run: async (store, scope) => {
      const key = scopedKey(scope);
      written(await store.write(key, "absent", sampleLedger(64), scope.token()));
      expect((await store.get(key, "consistent"))?.item).toEqual(sampleLedger(64));
    },
  },
];

/** What the types forbid; a store may answer with a frozen item, which throws. */
function tamper(item: object): void {
  const changeable = item as { fragments: { firstEntry: number }[] };
  try {
    for (const fragment of changeable.fragments) fragment.firstEntry = 77;
    changeable.fragments = [];
  } catch (error) {
    expect(error).toBeInstanceOf(TypeError);
  }
}

function scopedKey(scope: Scope): ItemKey {
  return { partition: scope.partition(), sort: "item" };
}

async function begun(store: MetadataStore, scope: Scope): Promise<{ key: ItemKey; version: Version }> {
  const key = scopedKey(scope);
  return { key, version: written(await store.write(key, "absent", sampleLog(0), scope.token())) };
}

function written(answer: WriteAnswer): Version {
  if (answer.kind !== "written") throw new Error("the write was refused");
  return answer.version;
}
