/** Regions down, in both manners: what goes on, what is refused, and that nothing acknowledged is lost. */
import { monitorEventLoopDelay } from "node:perf_hooks";
import { describe, expect, test } from "vitest";
import { NoAnswerError, ProblemError } from "../../lib/client/client-errors.ts";
import { Control } from "../../lib/local/control-client.ts";
import { LocalError } from "../../lib/local/local-error.ts";
import { CPU_BOUND } from "../cpu-bound.ts";
import { HurriedClock } from "./hurried-clock.ts";
import { batchOf, RunningCloud } from "./running-cloud.ts";

async function problemOf(promise: Promise<unknown>): Promise<ProblemError> {
  const failure = await promise.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (failure instanceof ProblemError) return failure;
  throw new Error(`expected a problem, got ${failure}`);
}

/** Milliseconds in which this process did not run: above it, a time-out may be the machine's. */
const LATE_MS = 100;

/**
 * Silence takes its time: limits of seconds, here a quarter of them. On a machine so busy that a quarter is
 * too little, the story is run once more with all of it.
 */
const hurried = (story: (running: RunningCloud) => Promise<void>) => async () => {
  const lateness = monitorEventLoopDelay();
  lateness.enable();
  try {
    await using running = await RunningCloud.start({ clock: new HurriedClock(4) });
    return await story(running);
  } catch (error) {
    if (lateness.max / 1e6 < LATE_MS) throw error;
  } finally {
    lateness.disable();
  }
  await using running = await RunningCloud.start();
  await story(running);
};

describe.each(["refusing", "hanging"] as const)("%s", (manner) => {
  test(
    "one region down: appends and reads go on, the last record of an idle log reads back",
    CPU_BOUND,
    hurried(async (running) => {
      const [east, west] = [running.client("us-east-1"), running.client("us-west-2")];
      await east.createLog("orders", {});
      await east.append("orders", batchOf("before"), "utf8");
      await running.cloud.setRegion("us-east-2", manner);
      expect(await running.bodies("us-west-2", "orders")).toEqual(["before"]);
      await east.append("orders", batchOf("during"), "utf8");
      expect(await running.bodies("us-west-2", "orders")).toEqual(["before", "during"]);
      await expect(running.client("us-east-2", 300).tail("orders")).rejects.toThrow(NoAnswerError);
      const health = await (await fetch(`${running.url("us-east-1")}/v1/health`)).json();
      expect(health).toMatchObject({
        status: "degraded",
        survivable_region_losses: 0,
        detail: expect.stringContaining("us-east-2 is down"),
      });
      await running.cloud.setRegion("us-east-2", "up");
      await west.append("orders", batchOf("after"), "utf8");
      expect(await running.bodies("us-east-2", "orders")).toEqual(["before", "during", "after"]);
    }),
  );

  test(
    "the owner's region down: another takes the log over, with every acknowledged record",
    CPU_BOUND,
    hurried(async (running) => {
      await running.client("us-east-1").createLog("orders", {});
      for (const body of ["a", "b", "c"])
        await running.client("us-east-1").append("orders", batchOf(body), "utf8");
      await running.cloud.setRegion("us-east-1", manner);
      expect(await running.bodies("us-west-2", "orders")).toEqual(["a", "b", "c"]);
      await running.client("us-east-2").append("orders", batchOf("d"), "utf8");
      await running.cloud.setRegion("us-east-1", "up");
      expect(await running.bodies("us-east-1", "orders")).toEqual(["a", "b", "c", "d"]);
    }),
  );

  test(
    "two regions down: 503, who answered, whether it may have happened; then it goes on",
    CPU_BOUND,
    hurried(async (running) => {
      const east = running.client("us-east-1");
      await east.createLog("orders", {});
      await east.append("orders", batchOf("before"), "utf8");
      await running.cloud.setRegion("us-east-2", manner);
      await running.cloud.setRegion("us-west-2", manner);
      const inDoubt = await problemOf(east.append("orders", batchOf("in doubt"), "utf8"));
      const regions = { answered_regions: ["us-east-1"], silent_regions: ["us-east-2", "us-west-2"] };
      expect(inDoubt.problem).toMatchObject({ status: 503, side_effects: "possible", ...regions });
      const refused = await problemOf(east.append("orders", batchOf("refused"), "utf8"));
      expect(refused.problem).toMatchObject({
        status: 503,
        code: "insufficient_regions",
        retryable: true,
        side_effects: "none",
        ...regions,
      });
      expect(refused.problem.detail).toMatch(
        /^log orders: 1 of 3 metadata replicas answers.*; nothing was appended; /,
      );
      const read = await problemOf(east.tail("orders"));
      expect(read.problem).toMatchObject({ status: 503, side_effects: "none", ...regions });
      const health = await fetch(`${running.url("us-east-1")}/v1/health`);
      expect(health.status).toBe(503);
      expect(await health.json()).toMatchObject({
        status: "unavailable",
        survivable_region_losses: 0,
        detail: expect.stringContaining("local reads too, answer 503"),
      });
      expect(await east.region()).toBe("us-east-1");
      const local = await problemOf(east.tail("orders", "local"));
      expect(local.problem).toMatchObject({
        status: 503,
        code: "insufficient_regions",
        side_effects: "none",
      });
      await running.cloud.setRegion("us-west-2", "up");
      await running.cloud.setRegion("us-east-2", "up");
      await east.append("orders", batchOf("after"), "utf8");
      const bodies = await running.bodies("us-east-2", "orders");
      expect(bodies.filter((body) => body !== "in doubt")).toEqual(["before", "after"]);
      expect(bodies.filter((body) => body === "in doubt").length).toBeLessThanOrEqual(1);
    }),
  );

  test(
    "requests in flight lose their answers, and their effect is there once or not at all",
    CPU_BOUND,
    hurried(async (running) => {
      const east = running.client("us-east-1", 1_000);
      await east.createLog("orders", {});
      const acknowledged: string[] = [];
      const inDoubt: string[] = [];
      let isLost = false;
      const appending = async (caller: number) => {
        for (let number = 0; !isLost; number++) {
          const body = `${caller}.${number}`;
          try {
            await east.append("orders", batchOf(body), "utf8");
            acknowledged.push(body);
          } catch (error) {
            if (!(error instanceof NoAnswerError)) throw error;
            if (error.sideEffects === "possible") inDoubt.push(body);
            isLost = true;
          }
          if (acknowledged.length === 40) await running.cloud.setRegion("us-east-1", manner);
        }
      };
      await Promise.all([0, 1, 2, 3, 4, 5].map(appending));
      expect(acknowledged.length).toBeGreaterThanOrEqual(40);
      expect(inDoubt.length).toBeGreaterThan(0);
      const bodies = await running.bodies("us-west-2", "orders");
      expect(new Set(bodies).size).toBe(bodies.length);
      expect(bodies).toEqual(expect.arrayContaining(acknowledged));
      expect([...acknowledged, ...inDoubt]).toEqual(expect.arrayContaining(bodies));
    }),
  );
});

describe("control", () => {
  test("takes regions down and up through the control file, and says what it cannot", async () => {
    await using running = await RunningCloud.start();
    const control = await Control.open(running.dataDir);
    const states = await control.setRegion("us-east-2", "hanging");
    expect(states.map((one) => one.state)).toEqual(["up", "hanging", "up"]);
    expect((await control.setRegion("us-east-2", "refusing"))[1]?.state).toBe("refusing");
    expect((await control.setRegion("us-east-2", "up"))[1]?.state).toBe("up");
    expect((await fetch(`${running.url("us-east-2")}/v1/health`)).status).toBe(200);
    await expect(control.setRegion("mars", "up")).rejects.toThrow(/no region mars; there are us-east-1/);
    await expect(control.setRegion("us-east-2", "sideways")).rejects.toThrow(/up, refusing or hanging/);
    const anonymous = await fetch(`${running.cloud.controlUrl}/regions/us-east-2/refusing`, {
      method: "PUT",
    });
    expect(anonymous.status).toBe(400);
    expect((await control.setRegion("us-east-2", "up"))[1]?.state).toBe("up");
    await running.stop();
    await expect(control.setRegion("us-east-2", "up")).rejects.toThrow(/does not answer/);
    await expect(Control.open(running.dataDir)).rejects.toThrow(LocalError);
  });
});
