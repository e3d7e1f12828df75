/** What health says while appends by default cannot be served, and that they cannot be then. */
import { describe, expect, test, vi } from "vitest";
import { MemoryEntryStore } from "../../lib/adapters/memory/memory-entry-store.ts";
import { presets } from "../../lib/api/log-config.ts";
import { type CloudBookie, cloudHealth } from "../../lib/local/cloud-health.ts";
import { RegionSwitch } from "../../lib/local/region-switch.ts";
import { WriteWatch, watchedEntries } from "../../lib/local/write-watch.ts";
import { present } from "../../lib/protocol/assert.ts";
import { bookieId, ledgerId, type Region, region } from "../../lib/protocol/ids.ts";
import { TestClock } from "../scenarios/test-clock.ts";
import { HurriedClock } from "./hurried-clock.ts";
import { RunningCloud } from "./running-cloud.ts";

const healthOf = async (running: RunningCloud, name = "us-east-1") => {
  const answer = await fetch(`${running.url(name)}/v1/health`);
  return { status: answer.status, health: (await answer.json()) as Record<string, unknown> };
};

describe("a running cloud", () => {
  test("bookies of one region down: degraded, and appends go on; of two: 503, and they do too", async () => {
    await using running = await RunningCloud.start();
    await running.cloud.setBookies("us-east-2", "refusing");
    const one = await healthOf(running);
    expect(one).toMatchObject({
      status: 200,
      health: { status: "degraded", survivable_region_losses: 0 },
    });
    expect(one.health.detail).toMatch(
      /^us-east-2\.b1\S*, us-east-2\.b2\S* are down\. Appends and reads go on/,
    );
    expect(one.health.regions).toContainEqual({ name: "us-east-2", status: "down" });
    const client = running.client("us-east-1");
    await client.createLog("orders", {});
    await client.append("orders", { records: [{ body: "a" }] }, "utf8");
    await running.cloud.setBookies("us-west-2", "refusing");
    const two = await healthOf(running);
    expect(two).toMatchObject({
      status: 503,
      health: { status: "unavailable", survivable_region_losses: 0 },
    });
    expect(two.health.detail).toMatch(/have no place: .*usable: us-east-1: 2/);
    const headers = { "content-type": "application/octet-stream", prefer: "wait=3" };
    const append = await fetch(`${running.url("us-east-1")}/v1/logs/orders/records`, {
      method: "POST",
      headers,
      body: "b",
    });
    expect(append.status).toBe(503);
    await running.cloud.setBookies("us-east-2", "up");
    await running.cloud.setBookies("us-west-2", "up");
    expect(await healthOf(running)).toMatchObject({ status: 200, health: { status: "ok" } });
  });

  test("regions drained until no log can be placed: 503, as creations then", async () => {
    await using running = await RunningCloud.start({ clock: new HurriedClock(4) });
    const url = running.url("us-east-1");
    const state = async (name: string, to: string) => {
      const headers = { "content-type": "application/json" };
      const body = JSON.stringify({ state: to });
      expect((await fetch(`${url}/v1/regions/${name}`, { method: "PATCH", headers, body })).status).toBe(200);
    };
    for (const name of ["us-east-2", "us-west-2"]) await state(name, "draining");
    await vi.waitFor(
      async () => {
        const { status, health } = await healthOf(running);
        expect(health.detail).toMatch(/have no place/);
        expect(status).toBe(503);
      },
      { timeout: 20_000, interval: 200 },
    );
    const created = await fetch(`${url}/v1/logs/orders`, { method: "PUT" });
    expect(created.status).toBeGreaterThanOrEqual(400);
    await state("us-east-2", "accepting");
    await vi.waitFor(async () => expect((await healthOf(running)).status).toBe(200), {
      timeout: 20_000,
      interval: 200,
    });
  }, 60_000);
});

describe("stores that refuse writes", () => {
  const names = ["us-east-1", "us-east-2", "us-west-2"].map((name) => region(name));

  function cloud() {
    const clock = new TestClock();
    const regions = names.map((name) => new RegionSwitch(name));
    const watches = regions.map(() => new WriteWatch(clock));
    const bookies = regions.flatMap((where, index) =>
      ["a", "b"].map((rack): CloudBookie => {
        return {
          address: { id: bookieId(`${where.region}.${rack}~s`), place: { region: where.region, rack } },
          bookie: undefined as never,
          region: where,
          power: new RegionSwitch(where.region),
          writes: watches[index] as WriteWatch,
          isKnown: true,
        };
      }),
    );
    const metadataWrites = new WriteWatch(clock);
    const leases = new Map(names.map((name) => [name, new WriteWatch(clock)]));
    const leaseWrites = (name: Region) => present(leases.get(name), name);
    const config = { replication: presets.standard, digest: "crc32", segmentBytesMax: 1 << 20 } as const;
    const state = { home: names[0] as (typeof names)[0], regions, replicas: regions, bookies, topology: {} };
    const health = () => cloudHealth({ ...state, metadataWrites, leaseWrites, config });
    const fail = (watch: WriteWatch | undefined) =>
      watch?.of(Promise.reject(new Error("no space left on device"))).catch(() => {});
    return { clock, watches, metadataWrites, leaseWrites, names, health, fail };
  }

  test("one region's disks: degraded, with the reason, until a write succeeds or time has passed", async () => {
    const { clock, watches, health, fail } = cloud();
    await fail(watches[1]);
    expect(health()).toMatchObject({ status: "degraded", survivableRegionLosses: 0 });
    expect(health().detail).toMatch(/us-east-2\.a~s takes no writes: no space left on device\. .*go on/);
    await watches[1]?.of(Promise.resolve());
    expect(health().status).toBe("ok");
    await fail(watches[1]);
    await clock.advance(30_000);
    expect(health().status).toBe("ok");
  });

  test("all disks, or the metadata's: unavailable", async () => {
    const { watches, metadataWrites, health, fail } = cloud();
    for (const watch of watches) await fail(watch);
    expect(health()).toMatchObject({ status: "unavailable", survivableRegionLosses: 0 });
    for (const watch of watches) await watch.of(Promise.resolve());
    expect(health().status).toBe("ok");
    await fail(metadataWrites);
    expect(health().status).toBe("unavailable");
    expect(health().detail).toMatch(/^Metadata takes no writes: no space left.*answer 503/);
  });

  test("leases: unavailable in their region, degraded beside it, with the reason", async () => {
    const { leaseWrites, names, health, fail } = cloud();
    const [here, there] = names.map((name) => leaseWrites(name));
    await fail(there);
    expect(health()).toMatchObject({ status: "degraded" });
    expect(health().detail).toMatch(/us-east-2 takes no leases: no space left on device\. /);
    await there?.of(Promise.resolve());
    await fail(here);
    expect(health()).toMatchObject({ status: "unavailable", survivableRegionLosses: 0 });
    expect(health().detail).toMatch(/us-east-1 takes no leases: no space left on device\. .*owns no log/);
    await here?.of(Promise.resolve());
    expect(health().status).toBe("ok");
  });

  test("a store that is watched notes what its writes became, and its reads do not count", async () => {
    const watch = new WriteWatch(new TestClock());
    const store = new MemoryEntryStore();
    const watched = watchedEntries(store, watch);
    const key = { kind: "fence", ledgerId: ledgerId(1) } as const;
    store.put = () => Promise.reject(new Error("full"));
    await expect(watched.put(key, { kind: "fence" })).rejects.toThrow("full");
    expect(watch.failure).toBe("full");
    expect(await watched.get(key)).toBeUndefined();
    expect(watch.failure).toBe("full");
    await watched.putIfAbsent(key, { kind: "fence" });
    expect(watch.failure).toBeUndefined();
  });
});
