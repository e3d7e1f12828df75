/** Logs that a region of the embedded cloud owns: forwarding over HTTP, and the preference against it. */
import { expect, test } from "vitest";
import { batchOf, RunningCloud } from "./running-cloud.ts";

const append = (running: RunningCloud, region: string, body: string, headers: Record<string, string> = {}) =>
  fetch(`${running.url(region)}/v1/logs/orders/records`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(batchOf(body)),
  });

test("an append is forwarded to the owner, which the answer names, or refused with 421", async () => {
  await using running = await RunningCloud.start();
  await running.client("us-east-1").createLog("orders", {});
  await running.client("us-east-1").append("orders", batchOf("a"), "utf8");
  const forwarded = await append(running, "us-west-2", "b");
  expect(forwarded.status).toBe(200);
  expect(forwarded.headers.get("log-owner")).toMatch(/^us-east-1/);
  expect(forwarded.headers.get("log-region")).toBe("us-west-2");
  const refused = await append(running, "us-west-2", "c", { prefer: "respond-async, no-forward" });
  expect(refused.status).toBe(421);
  expect(refused.headers.get("log-owner")).toBe("us-east-1");
  expect(await refused.json()).toMatchObject({
    code: "not_owner",
    owner: "us-east-1",
    retryable: true,
    side_effects: "none",
  });
  const served = await append(running, "us-east-1", "c", { prefer: "no-forward" });
  expect(served.status).toBe(200);
  expect(await running.bodies("us-east-2", "orders")).toEqual(["a", "b", "c"]);
}, 20_000);

test("three regions append at once: one owner, no recovery, every record once", async () => {
  await using running = await RunningCloud.start();
  const regions = ["us-east-1", "us-east-2", "us-west-2"];
  await running.client("us-east-1").createLog("orders", {});
  await running.client("us-east-1").append("orders", batchOf("first"), "utf8");
  const bodies = regions.flatMap((region) => Array.from({ length: 10 }, (_, index) => `${region} ${index}`));
  const sent = bodies.map((body) => append(running, body.split(" ")[0] ?? "", body));
  expect((await Promise.all(sent)).map(({ status }) => status)).toEqual(bodies.map(() => 200));
  expect((await running.bodies("us-west-2", "orders")).sort()).toEqual([...bodies, "first"].sort());
  const segments = await fetch(`${running.url("us-east-1")}/v1/logs/orders/segments`);
  expect(await segments.json()).toMatchObject({ segments: [{ owner: "us-east-1" }] });
}, 20_000);
