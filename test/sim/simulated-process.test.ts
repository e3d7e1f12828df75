/** What a freeze does to a process's clocks: hosts differ, and the protocol must live with either. */
import { expect, test } from "vitest";
import { region } from "../../lib/protocol/ids.ts";
import { Observers } from "./observers.ts";
import { drawPlan } from "./profiles/all-profiles.ts";
import { Scheduler } from "./scheduler.ts";
import { SeededRandom } from "./seeded-random.ts";
import { SimulatedProcess } from "./simulated-process.ts";
import { Verdict } from "./verdict.ts";
import { World } from "./world.ts";

/** Starts a timer of 50 ms, freezes from 20 to 1,000 ms, and returns when it fired and what the clocks said. */
async function frozen(standsStill: boolean) {
  const scheduler = new Scheduler();
  const random = new SeededRandom(1, "p");
  const process = new SimulatedProcess("p", 0, region("east"), scheduler, random, standsStill);
  const { clock } = process;
  const startedMs = clock.nowMs();
  const seen: object[] = [];
  const look = () =>
    seen.push({ at: scheduler.nowMs, monotonic: clock.monotonicMs(), wall: clock.nowMs() - startedMs });
  clock.startTimer(50, look);
  const cancelled = clock.startTimer(60, () => seen.push({ cancelled: true }));
  scheduler.at(20, () => process.freeze());
  scheduler.at(1_000, () => process.thaw());
  scheduler.at(1_005, () => cancelled.cancel());
  await scheduler.run(() => false);
  return seen;
}

test("a monotonic clock that stands still takes the timers along; the wall clock never does", async () => {
  expect(await frozen(true)).toEqual([{ at: 1_030, monotonic: 50, wall: 1_030 }]);
});

test("one that goes on lets timers that are due fire at the thaw", async () => {
  const [first] = (await frozen(false)).filter((one) => !("cancelled" in one));
  expect(first).toEqual({ at: 1_000, monotonic: 1_000, wall: 1_000 });
});

test("a world has processes of both kinds", () => {
  const world = new World(drawPlan("calm", 1), new Observers(), new Verdict());
  const kinds = new Set<number>();
  for (let number = 0; number < 20; number++) {
    const process = world.startProcess(`p${number}`, "east");
    process.freeze();
    world.scheduler.nowMs += 100;
    process.thaw();
    kinds.add(process.clock.monotonicMs());
  }
  expect([...kinds].sort()).toEqual([0, 100]);
});
