/**
 * Two processes act as one bookie at once. Their storage calls take turns in many orders, drawn from a seed,
 * and whatever the order, what was answered must fit what is stored.
 */
import { expect } from "vitest";
import { entryId, type LedgerId } from "../../lib/protocol/ids.ts";
import type { EntryStore, SealedEntry } from "../../lib/protocol/ports.ts";
import { SeededRandom } from "../sim/seeded-random.ts";
import type { BookieCase, BookieUnderTest } from "./bookie-contract.ts";
import type { Scope } from "./scope.ts";

const ROUNDS = 60;
/** Turns that a process's storage calls may take: as likely as not one is far slower than the other. */
const PACES = [0, 3, 12, 100];
const e0 = entryId(0);

export const raceCases: readonly BookieCase[] = [
  {
    title: "S01, S03, rules 2, 3: an add that races a recovery read is never OK beside a negative",
    heavy: true,
    run: async (under, scope) => {
      const seen = new Set<string>();
      await rounds(under, scope, async (one, other, entry) => {
        const [add, read] = await Promise.all([
          one.add(entry),
          other.recoveryRead(entry.header.ledgerId, e0),
        ]);
        seen.add(`${add.kind} ${read.kind}`);
        expect(`${add.kind} ${read.kind}`).not.toBe("ok tombstone");
        expect(await one.add(entry)).toEqual({ kind: "fenced" });
        expect(await other.recoveryRead(entry.header.ledgerId, e0)).toEqual(read);
      });
      if (!under.isInMemory) return;
      expect(seen).toEqual(new Set(["ok entry", "fenced entry", "fenced tombstone"]));
    },
  },
  {
    title: "rules 2, 20: of two tenures that add one entry at most one is OK",
    heavy: true,
    run: async (under, scope) => {
      const winners = new Set<number>();
      await rounds(under, scope, async (one, other, entry) => {
        const rival = scope.entry(entry.header.ledgerId, 0);
        const answers = await Promise.all([one.add(entry), other.add(rival)]);
        const winner = answers.findIndex(({ kind }) => kind === "ok");
        winners.add(winner);
        expect(answers.filter(({ kind }) => kind === "ok")).toHaveLength(1);
        expect(await one.read(entry.header.ledgerId, e0)).toEqual({
          kind: "entry",
          copy: "original",
          entry: winner === 0 ? entry : rival,
        });
      });
      if (under.isInMemory) expect(winners).toEqual(new Set([0, 1]));
    },
  },
  {
    title: "S13, rule 9: an add that races a seal is OK or sealed out, never both",
    heavy: true,
    run: async (under, scope) => {
      const seen = new Set<string>();
      await rounds(under, scope, async (one, other, entry) => {
        const [add, seal] = await Promise.all([one.add(entry), other.seal(entry.header.ledgerId, e0)]);
        seen.add(`${add.kind} ${seal.kind}`);
      });
      for (const answers of seen) expect(["ok occupied", "fenced sealed"]).toContain(answers);
      if (under.isInMemory) expect(seen.size).toBe(2);
    },
  },
  {
    title: "rules 1, 4: write-back that races the writer's add leaves the entry, and an OK add an Original",
    heavy: true,
    run: async (under, scope) => {
      await rounds(under, scope, async (one, other, entry) => {
        const { ledgerId } = entry.header;
        const [add, back] = await Promise.all([one.add(entry), other.recoveryAdd(entry)]);
        expect(back).toEqual({ kind: "ok" });
        const read = await one.read(ledgerId, e0);
        // A fenced add may have won the slot before the write-back's fence was there.
        const copy = read.kind === "entry" && add.kind === "fenced" ? read.copy : "original";
        expect(read).toEqual({ kind: "entry", copy, entry });
      });
    },
  },
  {
    title: "no add that arrives after a bookie's answer to a recovery request is OK, whatever was in flight",
    heavy: true,
    run: async (under, scope) => {
      await rounds(under, scope, async (one, other, entry) => {
        const { ledgerId } = entry.header;
        const inFlight = one.add(entry);
        await other.fence(ledgerId);
        const late = await one.add(scope.entry(ledgerId, 1));
        expect(late).toEqual({ kind: "fenced" });
        await inFlight;
      });
    },
  },
  {
    title: "no add that arrives after a write-back was answered is OK",
    heavy: true,
    run: async (under, scope) => {
      await rounds(under, scope, async (one, other, entry) => {
        const { ledgerId } = entry.header;
        expect(await other.recoveryAdd(entry)).toEqual({ kind: "ok" });
        expect(await one.add(scope.entry(ledgerId, 1))).toEqual({ kind: "fenced" });
      });
    },
  },
];

type Process = BookieUnderTest["bookie"];

/** Plays the race many times, each on a ledger of its own and with its own order of storage calls. */
async function rounds(
  under: BookieUnderTest,
  scope: Scope,
  play: (one: Process, other: Process, entry: SealedEntry) => Promise<void>,
): Promise<void> {
  for (let seed = 0; seed < ROUNDS; seed++) {
    const ledger: LedgerId = scope.ledger();
    const random = new SeededRandom(seed, "race");
    const one = under.another((store) => dawdling(store, random, random.pick(PACES)));
    const other = under.another((store) => dawdling(store, random, random.pick(PACES)));
    await play(one, other, scope.entry(ledger, 0));
  }
}

/** Storage that takes its time, up to `pace` turns of the promise queue, before and after each effect. */
function dawdling(store: EntryStore, random: SeededRandom, pace: number): EntryStore {
  const slowly = async <T>(call: () => Promise<T>): Promise<T> => {
    await turns(random.integer(0, pace));
    const result = await call();
    await turns(random.integer(0, pace));
    return result;
  };
  return {
    get: (key) => slowly(() => store.get(key)),
    putIfAbsent: (key, value) => slowly(() => store.putIfAbsent(key, value)),
    put: (key, value) => slowly(() => store.put(key, value)),
    delete: (key) => slowly(() => store.delete(key)),
    list: (request) => slowly(() => store.list(request)),
  };
}

async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) await undefined;
}
