/** What a region's functions do beside the work they are asked for. */
import { beforeEach, describe, expect, it, vi } from "vitest";
import { regionHealth } from "../../lib/lambda/region-health.ts";
import type { RegionWorld } from "../../lib/lambda/region-world.ts";
import { type Region, region } from "../../lib/protocol/ids.ts";
import { readRegistry } from "../../lib/protocol/placement/registry.ts";
import type { MetadataStore } from "../../lib/protocol/ports.ts";
import { REGIONS, Regions, type WatchedLeases } from "./regions-in-memory.ts";

const [EAST, WEST] = REGIONS;
let regions: Regions;

beforeEach(async () => {
  vi.stubEnv("POWERTOOLS_METRICS_DISABLED", "true");
  regions = await Regions.make();
  expect(await regions.ask(EAST, "PUT", "/v1/logs/orders", {})).toMatchObject({ status: 201 });
  expect(await regions.append(EAST, "first")).toMatchObject({ status: 200 });
});

describe("append", { timeout: 60_000 }, () => {
  it("AF1: the lease lies there, clean, when an answer leaves; the next call goes on without a recovery", async () => {
    expect(regions.leases.get(EAST)?.last).toMatchObject({ clean: true });
    // Forwarded: the owner's lease, and none here.
    expect(await regions.append(WEST, "second")).toMatchObject({ status: 200 });
    expect(regions.leases.get(EAST)?.last).toMatchObject({ clean: true });
    expect(regions.leases.get(WEST)?.last).toBeUndefined();
    const { body } = await regions.ask(EAST, "GET", "/v1/logs/orders/segments");
    expect(body.segments).toHaveLength(1);
  });
});

describe("health", { timeout: 60_000 }, () => {
  const seen = (status: "up" | "down") => ({ name: WEST, status });
  const up = { name: EAST, status: "up" };

  it("counts regions and metadata replicas each for themselves", async () => {
    const found = regions.worlds.get(`read ${EAST}`) as RegionWorld;
    const silent = { get: () => Promise.reject(new Error("silent")) } as unknown as MetadataStore;
    const world = (mode: object, west: MetadataStore = found.ports.metadata): RegionWorld => ({
      ...found,
      settings: {
        allowedOrigins: [],
        metadata: mode,
        regions: REGIONS.map((name) => ({ region: name })),
      } as never,
      replicas: [
        { region: region(EAST), store: found.ports.metadata },
        { region: region(WEST), store: west },
      ],
    });
    const witness = { mode: "strong", witnessRegion: "us-east-2" };
    expect(await regionHealth(world(witness))).toMatchObject({
      status: "ok",
      detail: "No region may be lost.",
      regions: [up, seen("up")],
      metadataReplicas: [up, seen("up")],
    });
    expect(await regionHealth(world(witness, silent))).toMatchObject({
      status: "degraded",
      regions: [up, seen("up")],
      metadataReplicas: [up, seen("down")],
    });
    for (const n of [1, 2, 3]) regions.moods.set(`${WEST}.b${n}~s${n}`, "down");
    expect(await regionHealth(world({ mode: "home", homeRegion: EAST }))).toMatchObject({
      status: "unavailable",
      regions: [up, seen("down")],
      metadataReplicas: [up, seen("up")],
    });
  });

  it("is 503, with the reason, while operators drain so much that a ledger has no place", async () => {
    const found = regions.worlds.get(`read ${EAST}`) as RegionWorld;
    // A process that has just started knows it when it has read the registry.
    const regionStates = new Map<Region, "draining">();
    const states = () => ({ bookies: new Map(), regions: regionStates });
    const whenCurrent = async () => {
      regionStates.set(region(WEST), "draining");
    };
    const topology = { ...found.ports.topology, states, whenCurrent };
    const world = { ...found, ports: { ...found.ports, topology } };
    expect(await regionHealth(world)).toMatchObject({
      status: "unavailable",
      survivableRegionLosses: 0,
      detail: expect.stringContaining("have no place"),
      regions: [up, seen("up")],
    });
  });

  it("is 503, with the reason, while bookies answer and the writers do not", async () => {
    expect(await regions.ask(EAST, "GET", "/v1/health")).toMatchObject({
      status: 200,
      body: { status: "ok" },
    });
    regions.isReadOnly = true;
    const { status, body } = await regions.ask(EAST, "GET", "/v1/health");
    expect([status, body.status]).toEqual([503, "unavailable"]);
    expect(body.detail).toMatch(/append function does not serve: ./);
  });

  it("is degraded while the lease table is silent, and others own the region's logs", async () => {
    const leases = regions.leases.get(EAST) as WatchedLeases;
    leases.read = () => Promise.reject(new Error("silent"));
    expect(await regions.ask(EAST, "GET", "/v1/health")).toMatchObject({
      status: 200,
      body: { status: "degraded", detail: expect.stringContaining("lease table is silent") },
    });
  });

  it("is 503 while too few bookies are left for an ensemble, in however many regions they are", async () => {
    for (const name of REGIONS) regions.moods.set(`${name}.b1~s1`, "down");
    expect(await regions.ask(EAST, "GET", "/v1/health")).toMatchObject({
      status: 200,
      body: { status: "degraded", detail: expect.stringContaining(`${WEST}.b1~s1`) },
    });
    for (const name of REGIONS) regions.moods.set(`${name}.b2~s2`, "down");
    expect(await regions.ask(EAST, "GET", "/v1/health")).toMatchObject({
      status: 503,
      body: { status: "unavailable", detail: expect.stringContaining("have no place") },
    });
  });
});

describe("auditor", { timeout: 60_000 }, () => {
  it("registers the bookies of its own region alone, and leaves a healthy log as it is", async () => {
    for (const again of [1, 2]) {
      expect(await regions.auditors.get(WEST)?.serve({ again })).toMatchObject({ logs: 1, failures: 0 });
    }
    const { bookies } = await readRegistry(regions.metadata, "consistent");
    expect(bookies.map(({ address }) => address.id).sort()).toEqual(
      [1, 2, 3].map((n) => `${WEST}.b${n}~s${n}`),
    );
    expect(await regions.append(EAST, "second")).toMatchObject({ status: 200 });
    const { body } = await regions.ask(WEST, "GET", "/v1/logs/orders/segments");
    expect(body.segments).toHaveLength(1);
  });
});
