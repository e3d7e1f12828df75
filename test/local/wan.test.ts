/** Distance as between the regions of AWS, storage as slow as S3, and bookies that are lost by themselves. */
import { describe, expect, test } from "vitest";
import { MemoryEntryStore } from "../../lib/adapters/memory/memory-entry-store.ts";
import { Control } from "../../lib/local/control-client.ts";
import { asMeasured, equallyFar } from "../../lib/local/distances.ts";
import { asSlowAsObjects } from "../../lib/local/object-store-latency.ts";
import { ledgerId, region } from "../../lib/protocol/ids.ts";
import { CallAbort } from "../../lib/protocol/waiting.ts";
import { run } from "../cli/run-command.ts";
import { TestClock } from "../scenarios/test-clock.ts";
import { SeededRandom } from "../sim/seeded-random.ts";
import { RunningCloud } from "./running-cloud.ts";

const [east1, east2, west2] = [region("us-east-1"), region("us-east-2"), region("us-west-2")];

test("distances are those measured, or one that is given, not both", async () => {
  const { code, err } = await run(["local", "--delay-ms", "5", "--wan"]);
  expect(code).toBe(2);
  expect(err).toContain("'--delay-ms <n>' cannot be used with option '--wan'");
});

test("distances are those measured; unknown regions are far, a region is near itself", () => {
  expect(asMeasured(west2, east2)).toBe(50.5);
  expect(asMeasured(east1, west2)).toBe(64.4);
  expect(asMeasured(region("ap-northeast-1"), region("eu-central-1"))).toBe(227.6);
  expect(asMeasured(west2, west2)).toBe(3.2);
  expect(asMeasured(region("moon"), west2)).toBe(100);
  expect(asMeasured(region("moon"), region("moon"))).toBe(4);
  expect([equallyFar(80)(east1, west2), equallyFar(80)(east1, east1)]).toEqual([80, 0]);
});

describe("storage as slow as S3", () => {
  const fence = { kind: "fence", ledgerId: ledgerId(1) } as const;

  function store() {
    const clock = new TestClock(1);
    const random = new SeededRandom(1, "objects");
    return { clock, slow: asSlowAsObjects(new MemoryEntryStore(), { clock, random }) };
  }

  async function quantilesOf(clock: TestClock, call: () => Promise<unknown>, shares: readonly number[]) {
    const tookMs: number[] = [];
    for (let one = 0; one < 4_000; one++) {
      const beganMs = clock.monotonicMs();
      await clock.run(call());
      tookMs.push(clock.monotonicMs() - beganMs);
    }
    tookMs.sort((a, b) => a - b);
    return shares.map((share) => tookMs[Math.floor(share * tookMs.length)] ?? 0);
  }

  test("reads and writes take what was published, and do what they do", async () => {
    const { clock, slow } = store();
    const [put] = await quantilesOf(clock, () => slow.put(fence, { kind: "fence" }), [0.5]);
    expect(put).toBeGreaterThan(58);
    expect(put).toBeLessThan(64);
    const [p50 = 0, p90 = 0, p99 = 0] = await quantilesOf(clock, () => slow.get(fence), [0.5, 0.9, 0.99]);
    expect(Math.abs(p50 / 26.8 - 1)).toBeLessThan(0.1);
    expect(Math.abs(p90 / 46.9 - 1)).toBeLessThan(0.1);
    expect(Math.abs(p99 / 113 - 1)).toBeLessThan(0.2);
    expect(await clock.run(slow.get(fence))).toEqual({ kind: "fence" });
    await clock.run(slow.delete(fence));
    expect(await clock.run(slow.get(fence))).toBeUndefined();
  }, 30_000);

  test("a read that is aborted leaves no timer", async () => {
    const { clock, slow } = store();
    const abort = new CallAbort();
    const read = slow.get(fence, abort).catch(() => "aborted");
    abort.abort();
    expect(await read).toBe("aborted");
    expect(clock.pendingTimers).toBe(0);
  });
});

describe("bookies lost by themselves", () => {
  async function withRecords(): Promise<RunningCloud> {
    const running = await RunningCloud.start();
    await running.client("us-east-1").createLog("x", {});
    for (let count = 0; count < 3; count++) {
      await running.client("us-east-1").append("x", { records: [{ body: `r${count}` }] }, "utf8");
    }
    return running;
  }

  test.each(["refusing", "hanging"] as const)("%s: their region's readers go on", async (state) => {
    await using running = await withRecords();
    const control = await Control.open(running.dataDir);
    const lost = await control.setBookies("us-west-2", state);
    expect(lost.map((id) => id.split("~")[0])).toEqual(["us-west-2.b1", "us-west-2.b2"]);
    const headers: string[] = [];
    const { LogClient } = await import("../../lib/client/log-client.ts");
    const client = new LogClient({
      endpoint: running.url("us-west-2"),
      onTiming: (header) => headers.push(header),
    });
    const { records } = await client.read("x", { from: 0, consistency: "local" });
    expect(records.map((record) => record.body).slice(0, 2)).toEqual(["r0", "r1"]);
    expect(headers.join()).toContain("region us-east-");
    await control.setBookies("us-west-2", "up");
    expect(await running.bodies("us-west-2", "x")).toEqual(["r0", "r1", "r2"]);
  });

  test("as a user types it, one by its name", async () => {
    await using running = await withRecords();
    const fenceline = (line: string) => run([...line.split(" "), "--data", running.dataDir]);
    expect(await fenceline("local bookie down us-west-2.b1 --manner hanging")).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^us-west-2\.b1~\S+: hanging\n$/),
    });
    const up = await fenceline("local bookie up us-west-2 --output json");
    expect(JSON.parse(up.out)).toMatchObject({
      state: "up",
      bookies: [{}, {}].map(() => expect.any(String)),
    });
    const nobody = await fenceline("local bookie down us-west-9");
    expect(nobody.code).not.toBe(0);
    expect(nobody.err).toContain("there is no bookie and no region us-west-9");
    expect(nobody.err).toContain("the regions are us-east-1, us-east-2, us-west-2");
  });
});
