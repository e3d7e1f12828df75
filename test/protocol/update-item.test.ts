/** The one read-change-write loop: lost replies, rivals, late writes, bounded rounds (UPD1 to UPD3). */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { MemoryMetadataStore } from "../../lib/adapters/memory/memory-metadata-store.ts";
import { unavailable } from "../../lib/protocol/errors.ts";
import { logIncarnation, logName, writeToken } from "../../lib/protocol/ids.ts";
import { type Item, logNameKey } from "../../lib/protocol/items.ts";
import { limits } from "../../lib/protocol/limits.ts";
import type { MetadataStore, Versioned, WriteAnswer } from "../../lib/protocol/ports.ts";
import { removeItem, updateItem } from "../../lib/protocol/update-item.ts";

const name = logName("a-log");
const key = logNameKey(name);

/** An item whose value is a word of marks, one for each change. */
const item = (marks: string): Item => ({ kind: "log-name", name, incarnation: logIncarnation(marks) });
const marksOf = (stored: Versioned | undefined): string =>
  stored?.item.kind === "log-name" ? stored.item.incarnation : "";

/** Adds a mark unless it is there: the decision rests on what is stored, so it may be asked again. */
const adding =
  (mark: string) =>
  (current: Versioned | undefined): Item | undefined =>
    marksOf(current).includes(mark) ? undefined : item(marksOf(current) + mark);

type Fate = "answered" | "refused" | "reply lost" | "takes effect later";

/** A store whose writes meet the fates of a list, one after the other; then all is well. */
class FatefulMetadata implements MetadataStore {
  readonly inner = new MemoryMetadataStore();
  readonly writes: string[] = [];
  readonly #late: (() => Promise<unknown>)[] = [];
  beforeWrite: () => Promise<unknown> = async () => undefined;
  readsFail = false;

  constructor(private readonly fates: Fate[] = []) {}

  async get(...args: Parameters<MetadataStore["get"]>): Promise<Versioned | undefined> {
    if (this.readsFail) throw unavailable("no read");
    return await this.inner.get(...args);
  }

  async write(...args: Parameters<MetadataStore["write"]>): Promise<WriteAnswer> {
    const fate = this.fates.shift() ?? "answered";
    this.writes.push(fate);
    await this.beforeWrite();
    if (fate === "refused") throw unavailable("refused", "none");
    if (fate === "takes effect later") {
      this.#late.push(() => this.inner.write(...args));
      throw unavailable("no reply");
    }
    const answer = await this.inner.write(...args);
    if (fate === "reply lost") throw unavailable("the reply is lost");
    return answer;
  }

  /** Lets a late write take effect, if its version still fits. */
  async letLate(): Promise<void> {
    await this.#late.shift()?.();
  }

  remove = (...args: Parameters<MetadataStore["remove"]>) => this.inner.remove(...args);
  query = (...args: Parameters<MetadataStore["query"]>) => this.inner.query(...args);
}

function portsOver(metadata: MetadataStore, seed = 1) {
  let state = seed;
  const uint32 = () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state;
  };
  return { metadata, random: { uint32 } };
}

const stored = async (store: FatefulMetadata) => marksOf(await store.inner.get(key, "consistent"));
const rival = (store: FatefulMetadata, mark: string) =>
  updateItem(portsOver(store.inner, 77), key, adding(mark));

describe("updateItem", () => {
  test("writes if absent, then on the version just read; says what is stored (UPD1)", async () => {
    const store = new FatefulMetadata();
    const made = await updateItem(portsOver(store), key, adding("a"));
    expect([made.wrote, marksOf(made.stored)]).toEqual([true, "a"]);
    const changed = await updateItem(portsOver(store, 2), key, adding("b"));
    expect([changed.wrote, marksOf(changed.stored)]).toEqual([true, "ab"]);
    expect(changed.stored).toEqual(await store.inner.get(key, "consistent"));
  });

  test("keep writes nothing and returns what is there, or that nothing is", async () => {
    const store = new FatefulMetadata();
    const absent = await updateItem(portsOver(store), key, () => undefined);
    expect(absent).toEqual({ stored: undefined, wrote: false });
    await rival(store, "a");
    const kept = await updateItem(portsOver(store), key, () => undefined);
    expect([kept.wrote, marksOf(kept.stored), store.writes]).toEqual([false, "a", []]);
  });

  test("a rival gets ahead: the decision is made again on what is there now (UPD1, UPD3)", async () => {
    const store = new FatefulMetadata();
    await rival(store, "a");
    let rivals = 2;
    store.beforeWrite = async () => {
      if (rivals-- > 0) await rival(store, `r${rivals}`);
    };
    const seen: string[] = [];
    const outcome = await updateItem(portsOver(store), key, (current) => {
      seen.push(marksOf(current));
      return adding("x")(current);
    });
    expect(seen).toEqual(["a", "ar1", "ar1r0"]);
    expect([outcome.wrote, marksOf(outcome.stored), await stored(store)]).toEqual([true, "ar1r0x", "ar1r0x"]);
  });

  test("a lost reply after the effect: the token is one's own, nothing is written twice (UPD2)", async () => {
    const store = new FatefulMetadata(["reply lost"]);
    const asked: string[] = [];
    const outcome = await updateItem(portsOver(store), key, (current) => {
      asked.push(marksOf(current));
      return item(`${marksOf(current)}a`);
    });
    // Had it been taken for a rival's, this decision would have added another mark.
    expect([outcome.wrote, await stored(store), asked, store.writes]).toEqual([
      true,
      "a",
      [""],
      ["reply lost"],
    ]);
  });

  test("a lost request: re-read shows the old value, and it is written again (UPD2)", async () => {
    const store = new FatefulMetadata(["takes effect later"]);
    const outcome = await updateItem(portsOver(store), key, adding("a"));
    expect([outcome.wrote, await stored(store), store.writes.length]).toEqual([true, "a", 2]);
    await store.letLate(); // it arrives at last, and its version is gone
    expect(await stored(store)).toBe("a");
  });

  test("the first try takes effect just before the second: any own token is recognised (UPD2)", async () => {
    const store = new FatefulMetadata(["takes effect later"]);
    store.beforeWrite = async () => {
      if (store.writes.length === 2) await store.letLate();
    };
    const outcome = await updateItem(portsOver(store), key, (current) => item(`${marksOf(current)}a`));
    expect([outcome.wrote, await stored(store), store.writes.length]).toEqual([true, "a", 2]);
  });

  test("a lost reply and a rival on top of one's own write: decided again, on the rival's (UPD2)", async () => {
    const store = new FatefulMetadata(["reply lost"]);
    const ports = portsOver(store);
    const read = store.get.bind(store);
    let reads = 0;
    store.get = async (...args) => {
      reads += 1;
      if (reads === 2) await rival(store, "r");
      return await read(...args);
    };
    const outcome = await updateItem(ports, key, adding("a"));
    expect([outcome.wrote, marksOf(outcome.stored)]).toEqual([false, "ar"]);
  });

  test("of two creators exactly one is told that it wrote", async () => {
    const store = new FatefulMetadata();
    const creating =
      (mark: string) =>
      (current: Versioned | undefined): Item | undefined =>
        current === undefined ? item(mark) : undefined;
    const outcomes = await Promise.all(
      ["a", "b", "c"].map((mark, index) => updateItem(portsOver(store, index), key, creating(mark))),
    );
    expect(outcomes.filter((outcome) => outcome.wrote).length).toBe(1);
    expect(new Set(outcomes.map((outcome) => marksOf(outcome.stored))).size).toBe(1);
  });

  test("gives up after a bounded number of lost rounds, and says to try again", async () => {
    const store = new FatefulMetadata();
    let round = 0;
    store.beforeWrite = async () => {
      round += 1;
      await store.inner.write(
        key,
        (await store.inner.get(key, "consistent"))?.version ?? "absent",
        item(`r${round}`),
        writeToken(`r${round}`),
      );
    };
    const update = updateItem(portsOver(store), key, adding("x"));
    await expect(update).rejects.toMatchObject({ code: "not_ready", retryable: true });
    expect(store.writes.length).toBe(limits.updateRoundsMax);
    expect(await stored(store)).toBe(`r${limits.updateRoundsMax}`);
  });

  test("side effects: none if it was refused, possible once a reply is missing", async () => {
    const silent = new FatefulMetadata();
    silent.readsFail = true;
    const neverSent = updateItem(portsOver(silent), key, adding("a"));
    await expect(neverSent).rejects.toMatchObject({ code: "unavailable", sideEffects: "none" });

    for (const [fate, sideEffects] of [
      ["refused", "none"],
      ["takes effect later", "possible"],
      ["reply lost", "possible"],
    ] as const) {
      const store = new FatefulMetadata([fate]);
      store.beforeWrite = async () => {
        store.readsFail = true;
      };
      const sent = updateItem(portsOver(store), key, adding("a"));
      await expect(sent, fate).rejects.toMatchObject({ code: "unavailable", sideEffects });
    }
  });

  test("racers with any fates: each mark is there once, and who is told 'wrote' did", async () => {
    const fate = fc.constantFrom<Fate>("answered", "refused", "reply lost", "takes effect later");
    const racers = ["a", "b", "c"];
    await fc.assert(
      fc.asyncProperty(fc.array(fate, { maxLength: 14 }), fc.array(fc.boolean()), async (fates, lateness) => {
        const store = new FatefulMetadata([...fates]);
        store.beforeWrite = async () => {
          if (lateness.shift() === true) await store.letLate();
        };
        const outcomes = await Promise.all(
          racers.map((mark, index) => updateItem(portsOver(store, index + 1), key, adding(mark))),
        );
        for (let late = 0; late < fates.length; late++) await store.letLate();
        expect([...(await stored(store))].sort()).toEqual(racers);
        outcomes.forEach((outcome, index) => {
          expect(marksOf(outcome.stored)).toContain(racers[index]);
        });
      }),
      { seed: 17, numRuns: 300 },
    );
  });
});

describe("removeItem", () => {
  test("an absent item counts as removed", async () => {
    expect(await removeItem(portsOver(new FatefulMetadata()), key, () => true)).toBe("removed");
  });

  test("what may not be removed stays", async () => {
    const store = new FatefulMetadata();
    await rival(store, "a");
    expect(await removeItem(portsOver(store), key, (current) => marksOf(current) === "b")).toBe("kept");
    expect(await stored(store)).toBe("a");
  });

  test("an item that changed meanwhile is judged again before it goes", async () => {
    const store = new FatefulMetadata();
    await rival(store, "a");
    const remove = store.remove;
    store.remove = async (...args) => {
      await rival(store, "b");
      return await remove(...args);
    };
    const answer = await removeItem(portsOver(store), key, (current) => marksOf(current) === "a");
    expect([answer, await stored(store)]).toEqual(["kept", "ab"]);
  });

  test.each([true, false])("a lost reply, effect %s: removed in the end", async (effect) => {
    const store = new FatefulMetadata();
    await rival(store, "a");
    const remove = store.remove;
    let calls = 0;
    store.remove = async (...args) => {
      calls += 1;
      if (calls > 1) return await remove(...args);
      if (effect) await remove(...args);
      throw unavailable("the reply is lost");
    };
    expect(await removeItem(portsOver(store), key, () => true)).toBe("removed");
    expect(await store.inner.get(key, "consistent")).toBeUndefined();
  });

  test("gives up in bounded rounds", async () => {
    const store = new FatefulMetadata();
    await rival(store, "a");
    store.remove = async () => {
      throw unavailable("refused");
    };
    const removing = removeItem(portsOver(store), key, () => true);
    await expect(removing).rejects.toMatchObject({ code: "unavailable", sideEffects: "possible" });
  });
});
