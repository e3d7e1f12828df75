/** Idempotent appends over HTTP in the embedded cloud: across regions, a region's loss, and a restart. */
import { describe, expect, test } from "vitest";
import type { LogClient } from "../../lib/client/log-client.ts";
import { HurriedClock } from "./hurried-clock.ts";
import { batchOf, RunningCloud } from "./running-cloud.ts";

const appendAs = (client: LogClient, seq: number, body: string) =>
  client.append("orders", { ...batchOf(body), producer: { id: "p1", epoch: 0, seq } }, "utf8");

test("a batch is appended through one region and repeated through another: its positions, once", async () => {
  await using running = await RunningCloud.start();
  const [east, west] = [running.client("us-east-1"), running.client("us-west-2")];
  await east.createLog("orders", {});
  const first = await appendAs(east, 0, "a");
  expect(await appendAs(west, 0, "a")).toMatchObject({ duplicate: true, start: first.start, epoch: 1 });
  expect((await appendAs(west, 1, "b")).duplicate).toBe(false);
  await expect(appendAs(east, 5, "z")).rejects.toMatchObject({
    problem: { status: 409, code: "producer_seq_gap", expected_seq: 2, received_seq: 5 },
  });
  expect(await running.bodies("us-east-2", "orders")).toEqual(["a", "b"]);
}, 20_000);

describe.each(["refusing", "hanging"] as const)("the owner's region %s", (manner) => {
  test("a producer goes on in another region, which knows what it had appended", async () => {
    await using running = await RunningCloud.start({ clock: new HurriedClock(4) });
    const [east, west] = [running.client("us-east-1"), running.client("us-west-2")];
    await east.createLog("orders", {});
    const first = await appendAs(east, 0, "a");
    await running.cloud.setRegion("us-east-1", manner);
    const again = await appendAs(west, 0, "a");
    expect(again).toMatchObject({ duplicate: true, start: first.start, last: first.last });
    expect(again).not.toHaveProperty("durable_in");
    expect(await appendAs(west, 1, "b")).toMatchObject({ duplicate: false, start: { seq_num: 1 } });
    await running.cloud.setRegion("us-east-1", "up");
    expect(await running.bodies("us-east-1", "orders")).toEqual(["a", "b"]);
  }, 40_000);
});

test("the cloud is stopped and started: producers and keys are known", async () => {
  await using running = await RunningCloud.start();
  await running.client("us-east-1").createLog("orders", {});
  const keyed = () =>
    fetch(`${running.url("us-east-1")}/v1/logs/orders/records`, {
      method: "POST",
      headers: { "content-type": "application/json", "idempotency-key": "k-1" },
      body: JSON.stringify(batchOf("keyed")),
    });
  expect(await (await keyed()).json()).toMatchObject({ duplicate: false });
  await appendAs(running.client("us-east-1"), 0, "a");
  await running.stop();
  await running.open();
  expect(await (await keyed()).json()).toMatchObject({ duplicate: true, start: { seq_num: 0 } });
  expect(await appendAs(running.client("us-west-2"), 0, "a")).toMatchObject({ duplicate: true });
  expect(await running.bodies("us-west-2", "orders")).toEqual(["keyed", "a"]);
}, 20_000);
