/**
 * Rule 21: an answer comes from the storage that the bookie's id names, or it is unknown; and unknown is
 * never a negative.
 */
import { expect } from "vitest";
import { unavailable } from "../../lib/protocol/errors.ts";
import { entryId, type LedgerId } from "../../lib/protocol/ids.ts";
import type { Bookie, EntryStore } from "../../lib/protocol/ports.ts";
import type { BookieCase, BookieUnderTest } from "./bookie-contract.ts";
import type { Scope } from "./scope.ts";

const e0 = entryId(0);

export const identityCases: readonly BookieCase[] = [
  {
    title: "rule 21: without its marker a bookie says neither OK nor no",
    fresh: true,
    run: async (under, scope) => {
      await under.store.delete({ kind: "incarnation" });
      await expectSilence(under, scope);
    },
  },
  {
    title: "rule 21: over storage of another identity a bookie says neither OK nor no",
    fresh: true,
    run: async (under, scope) => {
      await under.store.put({ kind: "incarnation" }, { kind: "incarnation", storage: `${under.storage}2` });
      await expectSilence(under, scope);
    },
  },
  {
    title: "rule 21: recovery's negatives need a marker read for each; a tail read's check lasts a minute",
    fresh: true,
    run: async ({ another, store, advance, storage }, scope) => {
      // One process throughout: the check is that process's own.
      const bookie = another();
      expect(await bookie.read(scope.ledger(), e0)).toEqual({ kind: "nothing" });
      await store.delete({ kind: "incarnation" });
      await expect(bookie.recoveryRead(scope.ledger(), e0)).rejects.toThrow();
      await advance(60_000);
      await expect(bookie.read(scope.ledger(), e0)).rejects.toThrow();
      await store.put({ kind: "incarnation" }, { kind: "incarnation", storage });
      expect(await bookie.read(scope.ledger(), e0)).toEqual({ kind: "nothing" });
      expect(await bookie.recoveryRead(scope.ledger(), e0)).toEqual({ kind: "tombstone" });
    },
  },
  {
    title: "rule 21: storage that does not answer a get makes the answer unknown, never a negative",
    run: async ({ another }, scope) => {
      for (const kind of ["slot", "fence", "incarnation"] as const) {
        const bookie = another((store) => refusing(store, kind));
        const ledger = scope.ledger();
        if (kind === "slot") {
          await expect(bookie.read(ledger, e0)).rejects.toThrow();
          await expect(bookie.recoveryRead(ledger, e0)).rejects.toThrow();
        }
        if (kind === "fence") await expect(bookie.add(scope.entry(ledger, 0))).rejects.toThrow();
        if (kind === "incarnation") {
          await expect(bookie.add(scope.entry(ledger, 0))).rejects.toThrow();
          await expect(bookie.read(scope.ledger(), e0)).rejects.toThrow();
          await expect(bookie.recoveryRead(scope.ledger(), e0)).rejects.toThrow();
        }
      }
    },
  },
];

/** Every answer that somebody would count must be missing. */
async function expectSilence({ another }: BookieUnderTest, scope: Scope): Promise<void> {
  const calls: ((bookie: Bookie, ledger: LedgerId) => Promise<unknown>)[] = [
    (bookie, ledger) => bookie.add(scope.entry(ledger, 0)),
    (bookie, ledger) => bookie.read(ledger, e0),
    (bookie, ledger) => bookie.recoveryRead(ledger, e0),
    (bookie, ledger) => bookie.recoveryAdd(scope.entry(ledger, 0)),
    (bookie, ledger) => bookie.seal(ledger, e0),
    (bookie, ledger) => bookie.fence(ledger),
  ];
  for (const call of calls) await expect(call(another(), scope.ledger())).rejects.toThrow();
}

/** Storage that does not answer a get of this kind of key. */
function refusing(store: EntryStore, kind: "slot" | "fence" | "incarnation"): EntryStore {
  return {
    get: (key) => (key.kind === kind ? Promise.reject(unavailable("no answer")) : store.get(key)),
    putIfAbsent: (key, value) => store.putIfAbsent(key, value),
    put: (key, value) => store.put(key, value),
    delete: (key) => store.delete(key),
    list: (request) => store.list(request),
  };
}
