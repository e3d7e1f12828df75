/** The search for less that still goes wrong is bounded, in the same place on any machine, and says where it stopped. */
import { describe, expect, test } from "vitest";
import { CPU_BOUND } from "../cpu-bound.ts";
import { drawPlan } from "./profiles/all-profiles.ts";
import { reduced, type SearchBounds, smallest } from "./reduction.ts";
import { type RunOptions, type RunResult, runPlan } from "./run-plan.ts";
import { reproduction, stopTold } from "./story.ts";

const plan = drawPlan("transfers", 7);
const violation = { checker: "one-owner", what: "two", subject: "" };

/** Wrong as long as its first actor is there; each run takes that many events, or as many as it is given. */
function runs(events: number, given: number[] = []) {
  return async ({ actors }: typeof plan, { eventsMax = Number.POSITIVE_INFINITY }: RunOptions) => {
    given.push(eventsMax);
    const isWrong = events <= eventsMax && actors.some(({ name }) => name === plan.actors[0]?.name);
    return {
      violation: isWrong ? violation : undefined,
      events: Math.min(events, eventsMax),
      lines: [],
    } as unknown as RunResult;
  };
}

const bounds: SearchBounds = { runs: 200, eventsOfRun: 1_000, events: 5_000 };
const find = (events: number, given?: number[], within = bounds) =>
  smallest(plan, violation, runs(events, given), within);

describe("a search for less", () => {
  test("that comes to its end leaves one part, and says nothing of a stop", async () => {
    const found = await find(10);
    const left = reduced(plan, found);
    expect(left.actors.map(({ name }) => name)).toEqual([plan.actors[0]?.name]);
    expect([left.functions, left.faults]).toEqual([[], []]);
    expect(found.stoppedAfter).toBeUndefined();
    expect(stopTold(found)).toBe("");
  });

  test("stops when its runs took too many events together, and shows what it has reached by then", async () => {
    const given: number[] = [];
    const found = await find(900, given);
    expect(found.stoppedAfter).toEqual({ runs: given.length, events: 5_000 });
    expect(given.length).toBeLessThan(bounds.runs);
    expect(given.every((most) => most <= 1_000)).toBe(true);
    const left = reduced(plan, found);
    expect(left.actors.map(({ name }) => name)).toContain(plan.actors[0]?.name);
    expect(left.actors.length + left.faults.length).toBeLessThan(plan.actors.length + plan.faults.length);
    const line = `${reproduction(plan, found)}${stopTold(found)}`;
    expect(line).toContain(`--without ${found.without.join(",")}`);
    expect(line).toContain(`# reducing it stopped early, after ${given.length} runs of 5000 events in all`);
  });

  test("stops after as many runs as it may take", async () => {
    const found = await find(1, undefined, { ...bounds, runs: 5 });
    expect(found.stoppedAfter).toEqual({ runs: 5, events: 5 });
  });

  test("stops at the same place whenever it is made", async () => {
    expect(await find(900)).toEqual(await find(900));
  });

  test("takes no run for wrong that was given up before its end", async () => {
    const found = await find(1_001);
    expect(reduced(plan, found)).toEqual(
      reduced(plan, { without: [], operationsMax: Number.POSITIVE_INFINITY }),
    );
  });
});

describe("a run that is given up", CPU_BOUND, () => {
  test("ends at that event, without a verdict", async () => {
    const whole = await runPlan(plan);
    const given = await runPlan(plan, { eventsMax: 5_000 });
    expect(whole.events).toBeGreaterThan(5_000);
    expect(given).toMatchObject({ violation: undefined, events: 5_000 });
  });

  test("whoever has no function to call is not waited for", async () => {
    const without = (plan.functions ?? []).map(({ name }) => name);
    const { events } = await runPlan(reduced(plan, { without, operationsMax: 2 }), { eventsMax: 300_000 });
    expect(events).toBeLessThan(300_000);
  });
});
