/**
 * Reads over metadata that was restored: older than the slots, and nobody is there to settle a tail. What an
 * operator copies out of it is what the manual says.
 */
import { beforeEach, describe, expect, test, vi } from "vitest";
import { REGIONS, Regions } from "./regions-in-memory.ts";

const [EAST, WEST] = REGIONS;

beforeEach(() => {
  vi.stubEnv("POWERTOOLS_METRICS_DISABLED", "true");
});

describe("with writers that stand still", { timeout: 60_000 }, () => {
  let regions: Regions;
  const bodiesOf = (body: { records: readonly { body: string }[] }) => body.records.map((one) => one.body);

  beforeEach(async () => {
    regions = await Regions.make();
    await regions.ask(EAST, "PUT", "/v1/logs/orders", {});
    for (const body of ["first", "second", "third"]) await regions.append(EAST, body);
    regions.isReadOnly = true;
  });

  const read = (region: string, consistency: string) =>
    regions.ask(region, "GET", `/v1/logs/orders/records?seq_num=0&consistency=${consistency}`);

  test("a strong read finds everything that was acknowledged, by bookies alone", async () => {
    for (const region of [EAST, WEST]) {
      const { status, body } = await read(region, "strong");
      expect(status).toBe(200);
      expect(bodiesOf(body)).toEqual(["first", "second", "third"]);
      expect(body.up_to_date).toBe(true);
    }
  });

  test("a tail that only a writer could settle is not told, and a local read has what is confirmed", async () => {
    // An append that one region holds, and that was never acknowledged; the other region is silent.
    for (const n of [1, 2, 3]) regions.moods.set(`${WEST}.b${n}~s${n}`, "down");
    regions.isReadOnly = false;
    const { body: unknown } = await regions.append(EAST, "in doubt");
    expect(unknown).toMatchObject({ side_effects: "possible" });
    regions.isReadOnly = true;
    const strong = await read(EAST, "strong");
    expect(bodiesOf(strong.body)).toEqual(["first", "second", "third"]);
    expect(strong.body.up_to_date).toBe(false);
    const tail = await regions.ask(EAST, "GET", "/v1/logs/orders/records/tail");
    expect(tail.status).toBe(503);
    expect(tail.body).toMatchObject({ retryable: true });
    const local = await read(EAST, "local");
    expect(local.status).toBe(200);
    expect(bodiesOf(local.body).slice(0, 2)).toEqual(["first", "second"]);
  });
});
