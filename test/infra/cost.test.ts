/** The requests that the cost is computed from are those that the shipped protocol makes. */
import { expect, onTestFinished, test, vi } from "vitest";
import { MemoryEntryStore } from "../../lib/adapters/memory/memory-entry-store.ts";
import { MemoryLeaseStore } from "../../lib/adapters/memory/memory-lease-store.ts";
import { MemoryMetadataStore } from "../../lib/adapters/memory/memory-metadata-store.ts";
import {
  type AppendCase,
  appendCost,
  appendRequests,
  storageCost,
  totalOf,
} from "../../lib/infra/cost/append-cost.ts";
import { healthCost, healthRequests, monthOfHealth } from "../../lib/infra/cost/health-cost.ts";
import { AppendFunction } from "../../lib/lambda/append-function.ts";
import { StoredBookie } from "../../lib/protocol/bookie/stored-bookie.ts";
import { REGIONS, Regions } from "../lambda/regions-in-memory.ts";
import { LogWorld } from "../scenarios/log/log-world.ts";

test.each([
  [4, 3],
  [3, 2],
])("an append with %i copies makes the requests that are charged for", async (writeQuorum, ackQuorum) => {
  const w = await LogWorld.make({
    bookies: ["B0@east", "B1@east", "B2@west", "B3@west"],
    quorums: [writeQuorum, writeQuorum, ackQuorum],
    minRegions: 2,
    leases: true,
  });
  const writer = w.client("W", "east");
  const append = async () => {
    await w.world.run(writer.append("a record"));
    await w.world.run(writer.appends.release());
  };
  await append();
  const before = w.faults.log.length;
  await append();
  const calls = w.faults.log.slice(before);
  const count = (port: string, ...names: string[]) =>
    calls.filter((one) => one.port === port && names.includes(one.call)).length;
  expect({
    leaseReads: count("lease", "read"),
    leaseWrites: count("lease", "write"),
    metadataReads: count("metadata", "get", "query"),
    metadataWrites: count("metadata", "write", "remove"),
    bookieCalls: calls.filter(({ port }) => port === "bookie").length,
    slotPuts: count("store", "putIfAbsent", "put"),
    slotGets: count("store", "get"),
  }).toEqual(appendRequests(writeQuorum));
});

const four: AppendCase = {
  writeQuorum: 4,
  remoteCopies: 2,
  batchBytes: 1_024,
  storageClass: "STANDARD",
  withGateway: true,
  appendMs: 100,
  bookieMs: 80,
};

test("the lines add up: 100 ms, 80 ms and 1 KB with four copies, by hand", () => {
  const lines = appendCost(four);
  // 3.50 + 0.20 + 2.30 + 0.125 + 1.25 + 4 x (0.20 + 1.0667) + 20 + 3.20 + 0.0509
  expect(totalOf(lines)).toBeCloseTo(35.7, 1);
});

test("STANDARD_IA: each put costs twice as much, and a small entry is kept as 128 KB, by hand", () => {
  const rare = { ...four, storageClass: "STANDARD_IA" } as const;
  expect(totalOf(appendCost(rare)) - totalOf(appendCost(four))).toBeCloseTo(20, 5);
  // 4,000,000 objects of 1 KB are 3.81 GB; of 128 KB they are 488.28 GB.
  expect(storageCost(four).dollars).toBeCloseTo(3.8147 * 0.023, 3);
  expect(storageCost(rare).dollars).toBeCloseTo(488.28 * 0.0125, 2);
  const large = { batchBytes: 2 ** 20 };
  expect(storageCost({ ...rare, ...large }).dollars).toBeCloseTo(3_906.25 * 0.0125, 2);
});

test("INTELLIGENT_TIERING: puts as in STANDARD; only what may be moved is watched and charged for it", () => {
  const tiered = { ...four, storageClass: "INTELLIGENT_TIERING" } as const;
  expect(totalOf(appendCost(tiered))).toBe(totalOf(appendCost(four)));
  expect(storageCost(tiered).dollars).toBe(storageCost(four).dollars);
  const large = { batchBytes: 2 ** 20 };
  const watching = storageCost({ ...tiered, ...large }).dollars - storageCost({ ...four, ...large }).dollars;
  expect(watching).toBeCloseTo(4 * 2.5, 5);
});

test("asking for health makes the requests that are charged for: every bookie, each time", async () => {
  vi.stubEnv("POWERTOOLS_METRICS_DISABLED", "true");
  const regions = await Regions.make();
  const ask = () => regions.ask(REGIONS[0], "GET", "/v1/health");
  await ask();
  const spies = {
    bookieCalls: vi.spyOn(StoredBookie.prototype, "read"),
    slotGets: vi.spyOn(MemoryEntryStore.prototype, "get"),
    metadataReads: vi.spyOn(MemoryMetadataStore.prototype, "get"),
    appendCalls: vi.spyOn(AppendFunction.prototype, "serve"),
    leaseReads: vi.spyOn(MemoryLeaseStore.prototype, "read"),
  };
  onTestFinished(() => {
    vi.restoreAllMocks();
  });
  expect(await ask()).toMatchObject({ status: 200 });
  const counted = Object.entries(spies).map(([what, spy]) => [what, spy.mock.calls.length]);
  expect(Object.fromEntries(counted)).toEqual({
    ...healthRequests(6, 2),
    // Here the registry does not change, and nothing reads it.
    registryReads: undefined,
  });
});

test("the lines of health add up: six bookies and three replicas, by hand", () => {
  const lines = healthCost({ bookies: 6, replicas: 3, withGateway: true, askMs: 100, bookieMs: 80 });
  // 3.50 + 2 x (0.20 + 2.3034) + 6 x (0.20 + 1.0667) + 2.40 + 3.5 x 0.125
  expect(totalOf(lines)).toBeCloseTo(18.94, 2);
  // 86,400 times in 30 days.
  expect(monthOfHealth(totalOf(lines), 30)).toBeCloseTo(1.64, 2);
});
