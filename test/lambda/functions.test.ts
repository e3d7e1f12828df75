/** What a region's functions do beside the work they are asked for. */
import { beforeEach, describe, expect, it, vi } from "vitest";
import { readRegistry } from "../../lib/protocol/placement/registry.ts";
import { REGIONS, Regions } from "./regions-in-memory.ts";

const [EAST, WEST] = REGIONS;
let regions: Regions;

beforeEach(async () => {
  vi.stubEnv("POWERTOOLS_METRICS_DISABLED", "true");
  regions = await Regions.make();
  expect(await regions.ask(EAST, "PUT", "/v1/logs/orders", {})).toMatchObject({ status: 201 });
  expect(await regions.append(EAST, "first")).toMatchObject({ status: 200 });
});

describe("append", { timeout: 60_000 }, () => {
  it("A1: the pen lies there, clean, when an answer leaves; the next call goes on without a recovery", async () => {
    expect(regions.leases.get(EAST)?.last).toMatchObject({ clean: true });
    // Forwarded: the owner's pen, and none here.
    expect(await regions.append(WEST, "second")).toMatchObject({ status: 200 });
    expect(regions.leases.get(EAST)?.last).toMatchObject({ clean: true });
    expect(regions.leases.get(WEST)?.last).toBeUndefined();
    const { body } = await regions.ask(EAST, "GET", "/v1/logs/orders/segments");
    expect(body.segments).toHaveLength(1);
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
