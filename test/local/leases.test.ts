/** Writer leases of the embedded cloud's regions, each in its own store (rules 16 to 20). */
import { expect, test } from "vitest";
import { batchOf, RunningCloud } from "./running-cloud.ts";

async function segmentsOf(running: RunningCloud): Promise<number> {
  const answer = await fetch(`${running.url("us-east-1")}/v1/logs/orders/segments`);
  const { segments } = (await answer.json()) as { segments: unknown[] };
  return segments.length;
}

test("18, 19: a cloud that was stopped goes on in the same segment when it is started again", async () => {
  await using running = await RunningCloud.start();
  await running.client("us-east-1").createLog("orders", {});
  await running.client("us-east-1").append("orders", batchOf("a", "b"), "utf8");
  await running.stop();
  await running.open();
  await running.client("us-east-1").append("orders", batchOf("c"), "utf8");
  expect(await segmentsOf(running)).toBe(1);
  expect(await running.bodies("us-west-2", "orders")).toEqual(["a", "b", "c"]);
}, 20_000);

test("a region that comes back waits out its old functions' lease, and recovers what they left", async () => {
  await using running = await RunningCloud.start();
  await running.client("us-east-1").createLog("orders", {});
  await running.client("us-east-1").append("orders", batchOf("a"), "utf8");
  await running.cloud.setRegion("us-east-1", "refusing");
  await running.cloud.setRegion("us-east-1", "up");
  // The client's kept connection was cut with the region.
  await expect.poll(() => fetch(`${running.url("us-east-1")}/v1/health`).then(({ ok }) => ok)).toBe(true);
  const started = performance.now();
  await running.client("us-east-1").append("orders", batchOf("b"), "utf8");
  expect(performance.now() - started).toBeLessThan(5_000);
  expect(await segmentsOf(running)).toBe(2);
  expect(await running.bodies("us-west-2", "orders")).toEqual(["a", "b"]);
}, 20_000);
