/** Owners in the embedded cloud: transfers, clients that go to the owner, and the auditor on its schedule. */
import { expect, test } from "vitest";
import { OwnerClient } from "../../lib/client/owner-client.ts";
import { batchOf, RunningCloud } from "./running-cloud.ts";

const REGIONS = ["us-east-1", "us-east-2", "us-west-2"];

const clientsOf = (running: RunningCloud) =>
  new Map(REGIONS.map((region) => [region, running.client(region)] as const));

/** The regions that served requests to append, and what was preferred. */
function appendsSeen() {
  const seen: string[] = [];
  const inner = globalThis.fetch;
  globalThis.fetch = async (input, init) => {
    const answer = await inner(input, init);
    if (init?.method === "POST" && String(input).endsWith("/records")) {
      const { prefer } = (init.headers ?? {}) as Record<string, string>;
      seen.push(`${answer.headers.get("log-region")} ${prefer ?? "forwarding"} ${answer.status}`);
    }
    return answer;
  };
  return { seen, end: () => (globalThis.fetch = inner) };
}

test("a warm client's second append goes to the owner itself: it is not forwarded", async () => {
  await using running = await RunningCloud.start();
  const clients = clientsOf(running);
  await running.client("us-east-1").createLog("orders", {});
  await running.client("us-east-1").append("orders", batchOf("a"), "utf8");
  const client = new OwnerClient(running.client("us-west-2"), clients);
  const { seen, end } = appendsSeen();
  try {
    await client.append("orders", batchOf("b"), "utf8");
    await client.append("orders", batchOf("c"), "utf8");
    expect(seen.splice(0)).toEqual(["us-west-2 forwarding 200", "us-east-1 no-forward 200"]);
    await running.client("us-east-1").transferOwner("orders", "us-east-2");
    await client.append("orders", batchOf("d"), "utf8");
    expect(seen.splice(0)).toEqual(["us-east-1 no-forward 421", "us-east-2 no-forward 200"]);
    await running.cloud.setRegion("us-east-2", "refusing");
    await client.append("orders", batchOf("e"), "utf8").catch(() => undefined);
    expect(seen.splice(0).at(0)).toMatch(/^us-west-2 forwarding/);
  } finally {
    end();
  }
  expect((await running.bodies("us-west-2", "orders")).slice(0, 4)).toEqual(["a", "b", "c", "d"]);
}, 20_000);

test("a client that knows no other region's URL has its appends forwarded", async () => {
  await using running = await RunningCloud.start();
  await running.client("us-east-1").createLog("orders", {});
  await running.client("us-east-1").append("orders", batchOf("a"), "utf8");
  const client = new OwnerClient(running.client("us-west-2"), new Map());
  for (const body of ["b", "c"]) await client.append("orders", batchOf(body), "utf8");
  expect(await running.bodies("us-east-2", "orders")).toEqual(["a", "b", "c"]);
}, 20_000);

test("owners are shown and transferred over HTTP, in any region, and draining hands a log over", async () => {
  await using running = await RunningCloud.start();
  const [one, two] = [running.client("us-east-1"), running.client("us-east-2")];
  await one.createLog("orders", { preferred_region: "us-west-2" });
  expect(await two.owner("orders")).toEqual({ log: "orders", owner: null, preferred_region: "us-west-2" });
  await one.append("orders", batchOf("a"), "utf8");
  expect(await two.owner("orders")).toMatchObject({ owner: "us-east-1", epoch: 1 });
  expect(await two.transferOwner("orders", "us-west-2")).toMatchObject({ owner: "us-west-2", epoch: 2 });
  expect(await two.transferOwner("orders", "us-west-2")).toMatchObject({ owner: "us-west-2", epoch: 2 });
  await expect(two.transferOwner("orders", "mars")).rejects.toMatchObject({ code: "region_not_found" });
  await one.append("orders", batchOf("b"), "utf8");
  expect(await running.bodies("us-east-2", "orders")).toEqual(["a", "b"]);
  expect((await one.preferRegion("orders", null)).preferred_region).toBeUndefined();
}, 20_000);

test("the auditor, on its schedule: trimmed segments go by themselves, an idle log stays as it is", async () => {
  await using running = await RunningCloud.start({ auditPeriodMs: 100 });
  const client = running.client("us-east-1");
  await client.createLog("orders", { segment_bytes_max: 1_024 });
  const big = "x".repeat(2_000);
  for (let count = 0; count < 3; count++) await client.append("orders", batchOf(big), "utf8");
  await client.trim("orders", 2);
  const segments = async () => (await client.segments("orders")).segments.map((one) => one.first_seq_num);
  await expect.poll(segments, { timeout: 10_000 }).toEqual([2]);
  const before = await client.segments("orders");
  await new Promise((resolve) => setTimeout(resolve, 500));
  expect(await client.segments("orders")).toEqual(before);
  await client.append("orders", batchOf("more"), "utf8");
  expect((await running.bodiesFrom("us-west-2", "orders", 2)).at(-1)).toBe("more");
}, 20_000);
