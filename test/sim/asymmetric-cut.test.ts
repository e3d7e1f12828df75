/**
 * Two regions of which one does not reach the other, while the other way is open: the log goes on in all three
 * at more than half the pace of the same seed without the cut, whichever region owns it, and nothing is broken.
 */
import { describe, expect, test } from "vitest";
import { CPU_BOUND } from "../cpu-bound.ts";
import type { Fault, MessageFault, Wire } from "./faults.ts";
import type { ActorPlan, Plan } from "./plan.ts";
import { runPlan } from "./run-plan.ts";

const REGIONS = ["east", "south", "west"];
const CUT_FROM_MS = 10_000;
const CUT_TO_MS = 70_000;

/** All ordered pairs: east opens the log first, so it is the owner that is cut off, or cuts off, in four of them. */
const pairs = REGIONS.flatMap((from) => REGIONS.filter((to) => to !== from).map((to) => [from, to] as const));

function planOf(faults: readonly Fault[], seed: number): Plan {
  const delay = (usualMs: number) => ({ usualMs, tailProbability: 0, tailMs: 1 });
  const callers = REGIONS.flatMap((region): ActorPlan[] =>
    [0, 1].map((index) => ({
      kind: "log-caller",
      name: `caller-${region}-${index}`,
      region,
      operations: 10_000,
      pauseMs: 500,
      startMs: region === "east" ? 100 : 2_000,
      log: "log-0",
      window: 1,
      matches: 0,
      segmentBytes: 100_000,
      roams: 0,
      patienceMs: 25_000,
    })),
  );
  return {
    seed,
    profile: "asymmetric-cut",
    world: {
      regions: REGIONS,
      bookies: REGIONS.flatMap((region, index) =>
        [0, 1].map((rack) => ({ name: `b${2 * index + rack}`, region, rack: `rack-${rack}`, instances: 2 })),
      ),
      replication: { ensembleSize: 4, writeQuorum: 4, ackQuorum: 3, minRegions: 2 },
      placement: "region-aware",
      withinRegion: delay(1),
      betweenRegions: delay(30),
      toStore: delay(8),
    },
    functions: REGIONS.map((region) => ({
      name: `append-${region}`,
      region,
      instancesMax: 3,
      concurrency: 2,
      releases: 1,
      parks: 0,
      coldStarts: 0.02,
    })),
    actors: callers,
    faults,
    workMs: CUT_TO_MS,
    calmMs: CUT_TO_MS + 1_000,
    recoverWithinMs: 60_000,
  };
}

/** Whatever is sent from the one region to the other is lost: requests that way, and replies to the other way's. */
function cut(from: string, to: string): MessageFault[] {
  const wires: Wire[] = ["function", "bookie"];
  const during = { probability: 1, fromMs: CUT_FROM_MS, toMs: CUT_TO_MS };
  return wires.flatMap((wire): MessageFault[] => [
    { ...during, kind: "link-cut", wire, from: { region: from }, to: { region: to } },
    { ...during, kind: "link-cut-back", wire, from: { region: to }, to: { region: from } },
  ]);
}

/** Appends of each region that were acknowledged while the link was cut, or would have been. */
async function acknowledgedIn(plan: Plan): Promise<Map<string, number>> {
  const counts = new Map(REGIONS.map((region) => [region, 0]));
  const { violation } = await runPlan(plan, {
    watch: ({ scheduler }) => ({
      operated({ request, answer, process }) {
        const isNow = scheduler.nowMs >= CUT_FROM_MS && scheduler.nowMs < CUT_TO_MS;
        if (request.kind !== "append" || answer?.kind !== "stored" || !isNow) return;
        counts.set(process.region, (counts.get(process.region) ?? 0) + 1);
      },
    }),
  });
  expect(violation).toBeUndefined();
  return counts;
}

const sum = (counts: ReadonlyMap<string, number>): number =>
  [...counts.values()].reduce((total, count) => total + count, 0);

describe("throughput under a cut one way", CPU_BOUND, () => {
  const uncutRun = acknowledgedIn(planOf([], 1));

  test.each(pairs)("%s does not reach %s", async (from, to) => {
    const uncut = await uncutRun;
    const counts = await acknowledgedIn(planOf(cut(from, to), 1));
    expect(sum(uncut)).toBeGreaterThan(400);
    expect(sum(counts)).toBeGreaterThan(sum(uncut) / 2);
  });
});
