/** The registry: a process's copy, read beside and before requests (RG1 to RG6), and what operators write to it. */
import { beforeEach, describe, expect, test } from "vitest";
import { MemoryMetadataStore } from "../../../lib/adapters/memory/memory-metadata-store.ts";
import { FencelineError, unavailable } from "../../../lib/protocol/errors.ts";
import { bookieId, region } from "../../../lib/protocol/ids.ts";
import { bookieKey, regionKey } from "../../../lib/protocol/items.ts";
import { limits } from "../../../lib/protocol/limits.ts";
import { admitLog } from "../../../lib/protocol/placement/admission.ts";
import {
  RegisteredRegions,
  Registry,
  readRegistry,
  registerBookie,
  setBookieState,
  setRegionState,
} from "../../../lib/protocol/placement/registry.ts";
import type { MetadataStore, Trace } from "../../../lib/protocol/ports.ts";
import type { TraceEvent } from "../../../lib/protocol/trace-events.ts";
import { TestClock } from "../../scenarios/test-clock.ts";
import { bookie, replication, topology } from "./topologies.ts";

const [a1, a2, b1] = [bookie("a.1", "a"), bookie("a.2", "a"), bookie("b.1", "b")];
const names = (registry: Registry) => registry.bookies().map(({ id }) => id);

let clock: TestClock;
let store: MemoryMetadataStore;
let ports: { readonly metadata: MetadataStore; readonly random: { uint32(): number } };
let queries: string[];
/** What a query waits for, or throws. */
let before: (consistency: string) => Promise<void>;
let watched: MetadataStore;
let told: TraceEvent[];
const trace: Trace = { emit: (event) => void told.push(event) };

beforeEach(() => {
  clock = new TestClock(1);
  store = new MemoryMetadataStore();
  let drawn = 0;
  ports = { metadata: store, random: { uint32: () => drawn++ } };
  queries = [];
  told = [];
  before = async () => {};
  watched = {
    get: (key, consistency) => store.get(key, consistency),
    write: (key, expected, item, token) => store.write(key, expected, item, token),
    remove: (key, expected) => store.remove(key, expected),
    query: async (query, consistency) => {
      queries.push(`${query.partition} ${consistency}`);
      await before(consistency);
      return await store.query(query, consistency);
    },
  };
});

describe("a process's copy", () => {
  const open = (initial = [a1]) => new Registry({ metadata: watched, clock, trace }, initial);

  test("RG1: answers at once with what the process was told, then with what it read", async () => {
    await registerBookie(ports, a2);
    const registry = open();
    expect(names(registry)).toEqual(["a.1"]);
    expect(registry.states()).toEqual({ bookies: new Map(), regions: new Map() });
    await clock.idle();
    expect(names(registry)).toEqual(["a.2"]);
    expect(registry.states().bookies).toEqual(new Map([["a.2", "writable"]]));
    expect(queries).toEqual(["regions stale", "bookies stale"]);
  });

  test("RG2: is read anew when the refresh interval has passed, not before, however often it is asked", async () => {
    const registry = open();
    await registry.load();
    queries = [];
    await registerBookie(ports, b1);
    await setRegionState(ports, region("b"), "draining");
    for (let asked = 0; asked < 100; asked++) registry.bookies();
    await clock.advance(limits.registryRefreshMs - 1);
    registry.states();
    await clock.idle();
    expect(queries).toEqual([]);
    await clock.advance(1);
    for (let asked = 0; asked < 100; asked++) registry.bookies();
    await clock.idle();
    expect(queries).toHaveLength(2);
    expect(names(registry)).toEqual(["b.1"]);
    expect(registry.states().regions).toEqual(new Map([["b", "draining"]]));
  });

  test("RG5: a failed read keeps it, and is repeated no sooner than the refresh interval later", async () => {
    const registry = open();
    before = () => Promise.reject(unavailable("silent"));
    registry.bookies();
    await clock.idle();
    expect(names(registry)).toEqual(["a.1"]);
    await expect(registry.load()).rejects.toThrow(FencelineError);
    before = async () => {};
    await registerBookie(ports, b1);
    queries = [];
    registry.bookies();
    expect(queries).toEqual([]);
    await clock.advance(limits.registryRefreshMs);
    registry.bookies();
    await clock.idle();
    expect(names(registry)).toEqual(["b.1"]);
  });

  test("RG2: while a read goes on no other one begins beside it, until it is as old itself", async () => {
    const registry = open();
    let release = () => {};
    before = () => new Promise<void>((resolve) => (release = resolve));
    registry.bookies();
    await clock.advance(limits.registryRefreshMs - 1);
    for (let asked = 0; asked < 5; asked++) registry.states();
    expect(queries).toHaveLength(2);
    before = async () => {};
    await clock.advance(1);
    for (let asked = 0; asked < 5; asked++) registry.states();
    expect(queries).toHaveLength(4);
    release();
    await clock.idle();
  });

  test("RG4: a slow read does not undo a later one", async () => {
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const stored = store.query.bind(store);
    const old = await stored({ partition: "bookies", order: "ascending", limit: 10 }, "stale");
    const registry = new Registry({
      clock,
      metadata: {
        ...watched,
        query: async (query, consistency) => {
          if (consistency === "consistent") return await stored(query, consistency);
          await held;
          return old;
        },
      },
    });
    registry.bookies();
    await registerBookie(ports, b1);
    await registry.load();
    release();
    await clock.idle();
    expect(names(registry)).toEqual(["b.1"]);
  });

  test("RG5: many who wait for the first copy wait for one reading, and nobody once it is there", async () => {
    const registry = open();
    await Promise.all([registry.whenCurrent(), registry.whenCurrent(), registry.whenCurrent()]);
    expect(queries).toEqual(["regions stale", "bookies stale"]);
    expect(names(registry)).toEqual([]);
    await clock.advance(limits.registryAgeMaxMs - 1);
    expect(registry.whenCurrent()).toBeUndefined();
    expect(clock.pendingTimers).toBe(0);
  });

  test("RG5: a first reading that failed is begun anew by the next who waits", async () => {
    const registry = open();
    before = () => Promise.reject(unavailable("silent"));
    await Promise.all([registry.whenCurrent(), registry.whenCurrent()]);
    expect(names(registry)).toEqual(["a.1"]);
    before = async () => {};
    queries = [];
    await registry.whenCurrent();
    expect(queries).toHaveLength(2);
    expect(names(registry)).toEqual([]);
  });

  const freezes: readonly [string, (ms: number) => void][] = [
    ["froze", (ms) => clock.jump(ms)],
    ["froze while its monotonic clock stood still", (ms) => clock.suspend(ms)],
    ["ran on while its wall clock went back", () => clock.setWall(-1)],
  ];

  test.each(freezes)(
    "RG3: after the process %s, the first request waits for a newer copy",
    async (_, freeze) => {
      const registry = open();
      await registry.load();
      await setRegionState(ports, region("b"), "draining");
      freeze(limits.registryAgeMaxMs);
      await registry.whenCurrent();
      expect(registry.states().regions).toEqual(new Map([["b", "draining"]]));
      expect(registry.whenCurrent()).toBeUndefined();
    },
  );

  test("RG3: also where the process froze in the middle of a reading", async () => {
    const registry = open();
    await registry.load();
    before = () => new Promise<never>(() => {});
    await clock.advance(limits.registryRefreshMs);
    registry.states();
    await setRegionState(ports, region("b"), "draining");
    clock.suspend(3_600_000);
    before = async () => {};
    await registry.whenCurrent();
    expect(registry.states().regions).toEqual(new Map([["b", "draining"]]));
  });

  test("RG3: an operator's word reaches a function with one request a minute, frozen in between, with the first", async () => {
    const registry = open();
    await registry.load();
    for (const state of ["draining", "lost", "accepting"] as const) {
      await setRegionState(ports, region("b"), state);
      clock.suspend(60_000);
      await registry.whenCurrent();
      expect(registry.states().regions.get(region("b"))).toBe(state);
      await clock.advance(20);
    }
  });

  test("RG3, RG5: a request waits a second at most, and after that none does before the refresh interval is over", async () => {
    const registry = open();
    await registry.load();
    before = () => new Promise<never>(() => {});
    clock.suspend(60_000);
    const startedMs = clock.nowMs();
    await clock.run(Promise.all([registry.whenCurrent(), registry.whenCurrent()]));
    expect(clock.nowMs() - startedMs).toBe(limits.registryWaitMs);
    queries = [];
    await clock.advance(limits.registryRefreshMs - limits.registryWaitMs - 1);
    expect(registry.whenCurrent()).toBeUndefined();
    expect(queries).toEqual([]);
    await clock.advance(1);
    expect(registry.whenCurrent()).toBeDefined();
    expect(queries).toHaveLength(2);
  });

  test("RG5: a reading that failed leaves the old copy in use, without a wait, for the refresh interval", async () => {
    const registry = open();
    await registry.load();
    before = () => Promise.reject(unavailable("silent"));
    clock.suspend(60_000);
    await registry.whenCurrent();
    expect(registry.whenCurrent()).toBeUndefined();
    expect(told).toEqual([{ event: "registry-not-read", reason: expect.stringContaining("silent") }]);
    await clock.advance(limits.registryRefreshMs);
    before = async () => {};
    await registerBookie(ports, b1);
    await registry.whenCurrent();
    expect(names(registry)).toEqual(["b.1"]);
  });

  test.each([499, 500, 501, 1_203])("%i bookies are all read", async (many) => {
    const all = topology(`a:${many}`);
    for (const one of all) await registerBookie(ports, one);
    const registry = open();
    await registry.load();
    expect(new Set(names(registry))).toEqual(new Set(all.map(({ id }) => id)));
    expect(names(registry)).toHaveLength(many);
  });
});

describe("what is written", () => {
  test("a bookie is registered once; again keeps its place and its state", async () => {
    await registerBookie(ports, a1);
    expect(await setBookieState(ports, a1.id, "read-only")).toBe(true);
    await registerBookie(ports, bookie("a.1", "elsewhere"));
    expect((await store.get(bookieKey(a1.id), "consistent"))?.item).toEqual({
      kind: "bookie",
      address: a1,
      state: "read-only",
    });
  });

  test("the same state twice is written once; a bookie that is not known is not made up", async () => {
    await setRegionState(ports, region("a"), "lost");
    const first = (await store.get(regionKey(region("a")), "consistent"))?.version;
    await setRegionState(ports, region("a"), "lost");
    expect((await store.get(regionKey(region("a")), "consistent"))?.version).toEqual(first);
    expect(await setBookieState(ports, bookieId("x"), "lost")).toBe(false);
    expect((await readRegistry(store, "consistent")).bookies).toEqual([]);
  });

  test("two say different things of one bookie at once: one of them stands, whole", async () => {
    await registerBookie(ports, a1);
    await Promise.all([setBookieState(ports, a1.id, "lost"), setBookieState(ports, a1.id, "read-only")]);
    const [found] = (await readRegistry(store, "consistent")).bookies;
    expect(["lost", "read-only"]).toContain(found?.state);
    expect(found?.address).toEqual(a1);
  });
});

describe("operators", () => {
  const operate = () => new RegisteredRegions(ports);

  test("see every region with its bookies, in order; who was never spoken of takes new copies", async () => {
    for (const one of [b1, a2, a1]) await registerBookie(ports, one);
    await operate().setRegionState(region("b"), "draining");
    await operate().setBookieState(region("a"), a2.id, "read-only");
    const seen = (await operate().regions()).map(({ region: name, state, bookies }) => [
      name,
      state,
      ...bookies.map((one) => `${one.id} ${one.state}`),
    ]);
    expect(seen).toEqual([
      ["a", "accepting", "a.1 writable", "a.2 read-only"],
      ["b", "draining", "b.1 writable"],
    ]);
  });

  test("are told what there is when they name a region or a bookie that is not there", async () => {
    for (const one of [a1, b1]) await registerBookie(ports, one);
    const noRegion = { code: "region_not_found", message: expect.stringContaining("known regions: a, b") };
    await expect(operate().setRegionState(region("A"), "lost")).rejects.toMatchObject(noRegion);
    await expect(operate().setBookieState(region("c"), a1.id, "lost")).rejects.toMatchObject(noRegion);
    const noBookie = { code: "bookie_not_found", message: expect.stringContaining("it has a.1") };
    await expect(operate().setBookieState(region("a"), b1.id, "lost")).rejects.toMatchObject(noBookie);
    expect((await readRegistry(store, "consistent")).regions).toEqual([]);
    expect((await readRegistry(store, "consistent")).bookies.map(({ state }) => state)).toEqual([
      "writable",
      "writable",
    ]);
  });

  test("a registry that cannot be read has changed nothing", async () => {
    const silent = { ...watched, query: () => Promise.reject(unavailable("silent")) };
    const change = new RegisteredRegions({ ...ports, metadata: silent }).setRegionState(region("a"), "lost");
    await expect(change).rejects.toMatchObject({ code: "unavailable", sideEffects: "none" });
  });
});

describe("admission asks what could take new copies now", () => {
  const known = topology("a:2,b:2,c:2");
  const states = { bookies: new Map(), regions: new Map() };
  const ask = (sizes: string, said: Partial<ReturnType<Required<Registry>["states"]>> = {}) =>
    admitLog(replication(sizes), { bookies: () => known, states: () => ({ ...states, ...said }) });

  test("all of it: accepted, or refused with the smallest legal ack quorum", () => {
    expect(ask("4/4/3 m2")).toMatchObject({ kind: "accepted", warnings: [] });
    expect(ask("4/4/2 m2")).toMatchObject({ kind: "refused", smallestAckQuorum: 3 });
    expect(ask("6/6/4 m2")).toMatchObject({
      kind: "accepted",
      warnings: [expect.stringContaining("3 of 3 smallest sets of surviving regions cannot host the log")],
    });
  });

  test("draining and lost regions, read-only and lost bookies do not count, and are named", () => {
    expect(ask("4/4/3 m2", { regions: new Map([[region("a"), "draining"]]) }).kind).toBe("accepted");
    const refused = { kind: "refused", change: expect.arrayContaining(["topology"]) };
    const draining = ask("6/6/4 m2", { regions: new Map([[region("a"), "draining"]]) });
    expect(draining).toMatchObject({
      ...refused,
      reason: expect.stringMatching(/not counted.*: a\.1, a\.2$/),
    });
    const readOnly = ask("6/6/4 m2", { bookies: new Map([[bookieId("c.2"), "read-only"]]) });
    expect(readOnly).toMatchObject({ ...refused, reason: expect.stringMatching(/not counted.*: c\.2$/) });
    // Nothing about who is left out where the sizes themselves are wrong.
    const sizes = ask("4/4/2 m2", { bookies: new Map([[bookieId("c.2"), "lost"]]) });
    expect(sizes.kind === "refused" && sizes.reason).not.toContain("not counted");
  });
});
