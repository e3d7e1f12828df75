/** Cancelled calls (ports.ts, `signal`), and several slots read in one message. */
import { expect } from "vitest";
import { unavailable } from "../../lib/protocol/errors.ts";
import { entryId } from "../../lib/protocol/ids.ts";
import type { EntryStore } from "../../lib/protocol/ports.ts";
import { CallAbort } from "../../lib/protocol/waiting.ts";
import type { BookieCase } from "./bookie-contract.ts";

const [e0, e1, e2] = [entryId(0), entryId(1), entryId(2)];

export const abortCases: readonly BookieCase[] = [
  {
    title: "a call that was aborted before it began rejects and has no effect",
    run: async ({ bookie }, scope) => {
      const ledger = scope.ledger();
      const abort = new CallAbort();
      abort.abort();
      await expect(bookie.read(ledger, e0, abort)).rejects.toThrow();
      await expect(bookie.recoveryRead(ledger, e0, abort)).rejects.toThrow();
      // Neither fence nor Tombstone was put.
      const entry = scope.entry(ledger, 0);
      expect(await bookie.add(entry)).toEqual({ kind: "ok" });
      expect(await bookie.read(ledger, e0)).toEqual({ kind: "entry", copy: "original", entry });
    },
  },
  {
    title: "a read that waits for silent storage ends when it is aborted",
    run: async ({ another, bookie }, scope) => {
      const ledger = scope.ledger();
      const entry = scope.entry(ledger, 0);
      expect(await bookie.add(entry)).toEqual({ kind: "ok" });
      const abort = new CallAbort();
      const read = another(silentUntilAborted).read(ledger, e0, abort);
      const ended = expect(soon(read)).rejects.not.toThrow("still waiting");
      await Promise.resolve();
      abort.abort();
      await ended;
    },
  },
  {
    title: "an abort ends one call alone, and none that was answered",
    run: async ({ bookie }, scope) => {
      const ledger = scope.ledger();
      const entry = scope.entry(ledger, 0);
      expect(await bookie.add(entry)).toEqual({ kind: "ok" });
      const [one, other] = [new CallAbort(), new CallAbort()];
      const found = { kind: "entry", copy: "original", entry };
      const reads = [bookie.read(ledger, e0, one), bookie.read(ledger, e0, other)];
      one.abort();
      const [aborted, answered] = await Promise.allSettled(reads);
      expect(answered).toEqual({ status: "fulfilled", value: found });
      // Too late is no harm: then it is the answer, and never another one.
      if (aborted?.status === "fulfilled") expect(aborted.value).toEqual(found);
      other.abort();
      expect(await bookie.read(ledger, e0)).toEqual(found);
    },
  },
  {
    title: "several slots are answered in the order asked",
    run: async ({ bookie }, scope) => {
      const ledger = scope.ledger();
      const entry = scope.entry(ledger, 1);
      expect(await bookie.add(entry)).toEqual({ kind: "ok" });
      expect(await bookie.seal(ledger, e2)).toEqual({ kind: "sealed" });
      if (bookie.readSeveral === undefined) return;
      expect(await bookie.readSeveral(ledger, [e2, e1, e0])).toEqual([
        { kind: "tombstone" },
        { kind: "entry", copy: "original", entry },
        { kind: "nothing" },
      ]);
    },
  },
  {
    title: "rule 21: of several slots one that cannot be read is unknown, the others are answered",
    run: async ({ bookie, another }, scope) => {
      const ledger = scope.ledger();
      const entry = scope.entry(ledger, 1);
      expect(await bookie.add(entry)).toEqual({ kind: "ok" });
      const partly = another(withoutEntry0);
      if (partly.readSeveral === undefined) return;
      expect(await partly.readSeveral(ledger, [e0, e1])).toEqual([
        undefined,
        { kind: "entry", copy: "original", entry },
      ]);
    },
  },
];

/** What comes of `read` within two seconds. */
async function soon<T>(read: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const tooLate = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error("still waiting")), 2_000);
  });
  try {
    return await Promise.race([read, tooLate]);
  } finally {
    clearTimeout(timer);
  }
}

/** Storage that never answers a read of a slot, and releases a caller that aborts it. */
function silentUntilAborted(store: EntryStore): EntryStore {
  return withGet(store, (key, signal) => {
    if (key.kind !== "slot") return store.get(key);
    return new Promise((_, reject) => {
      signal?.onAbort(() => reject(unavailable("aborted")));
    });
  });
}

/** Storage that cannot read slots of entry 0. */
function withoutEntry0(store: EntryStore): EntryStore {
  return withGet(store, (key, signal) => {
    const isGone = key.kind === "slot" && key.entryId === e0;
    return isGone ? Promise.reject(unavailable("no answer")) : store.get(key, signal);
  });
}

function withGet(store: EntryStore, get: EntryStore["get"]): EntryStore {
  return {
    get,
    putIfAbsent: (key, value) => store.putIfAbsent(key, value),
    put: (key, value) => store.put(key, value),
    delete: (key) => store.delete(key),
    list: (request) => store.list(request),
  };
}
