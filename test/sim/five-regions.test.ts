/**
 * Five regions, acknowledgements in three: whichever two are lost, writes, reads and takeovers go on in the
 * others. The metadata store is one that survives (mode `strong`); what happens when it does not comes last.
 */
import { describe, expect, test } from "vitest";
import { CPU_BOUND, EXHAUSTIVE } from "../cpu-bound.ts";
import { type Fault, METADATA, type Wire } from "./faults.ts";
import type { Operation } from "./history.ts";
import type { ActorPlan, Plan } from "./plan.ts";
import { type RunResult, runPlan } from "./run-plan.ts";

const REGIONS = ["east", "south", "west", "north", "center"];
const LOST_FROM_MS = 10_000;
const LOST_TO_MS = 150_000;
/** A writer in a lost region is noticed, and the log taken over, in this time. */
const NOTICED_MS = 15_000;

const pairs = REGIONS.flatMap((one, index) => REGIONS.slice(index + 1).map((other) => [one, other] as const));

function planOf(faults: readonly Fault[], seed: number): Plan {
  const delay = (usualMs: number) => ({ usualMs, tailProbability: 0, tailMs: 1 });
  const base = (kind: string, region: string) => ({
    name: `${kind}-${region}`,
    region,
    operations: 100,
    startMs: 100,
    log: "log-0",
  });
  const actors = REGIONS.flatMap((region): ActorPlan[] => [
    {
      kind: "log-appender",
      ...base("appender", region),
      pauseMs: 3_000,
      window: 1,
      matches: 0,
      segmentBytes: 100_000,
    },
    { kind: "log-reader", ...base("reader", region), pauseMs: 2_000, strong: 1 },
  ]);
  return {
    seed,
    profile: "five-regions",
    world: {
      regions: REGIONS,
      bookies: REGIONS.flatMap((region, index) =>
        [0, 1].map((rack) => ({ name: `b${2 * index + rack}`, region, rack: `rack-${rack}`, instances: 2 })),
      ),
      replication: { ensembleSize: 5, writeQuorum: 5, ackQuorum: 3, minRegions: 3 },
      placement: "region-aware",
      withinRegion: delay(1),
      betweenRegions: delay(40),
      toStore: delay(8),
    },
    actors,
    faults,
    workMs: 180_000,
    calmMs: 180_000,
    recoverWithinMs: 60_000,
  };
}

/** Everything in these regions, and every way in and out, is silent or refuses. */
function lose(regions: readonly string[], kind: "region-hanging" | "region-refusing"): Fault[] {
  const wires: Wire[] = ["bookie", "metadata", "function"];
  const during = { from: "*", probability: 1, fromMs: LOST_FROM_MS, toMs: LOST_TO_MS } as const;
  return regions.flatMap((region) => wires.map((wire) => ({ ...during, kind, wire, to: { region } })));
}

interface Told {
  readonly region: string;
  readonly operation: Operation;
}

/** Runs the plan; the operations that began and ended well while the regions were lost and that was noticed. */
async function during(plan: Plan): Promise<{ result: RunResult; told: readonly Told[] }> {
  const told: Told[] = [];
  const startedMs = new Map<Operation, number>();
  const result = await runPlan(plan, {
    watch: (world) => ({
      operated(operation) {
        const { scheduler } = world;
        if (operation.answer === undefined) startedMs.set(operation, scheduler.nowMs);
        else if (
          (startedMs.get(operation) ?? 0) >= LOST_FROM_MS + NOTICED_MS &&
          scheduler.nowMs < LOST_TO_MS
        ) {
          told.push({ region: operation.process.region, operation });
        }
      },
    }),
  });
  return { result, told };
}

const appended = ({ operation }: Told) =>
  operation.request.kind === "append" && operation.answer?.kind === "stored";
const readToTail = ({ operation }: Told) => operation.answer?.kind === "records" && operation.answer.upToDate;

describe("five regions, minRegions 3", CPU_BOUND, () => {
  const othersGoOn = async (one: string, other: string) => {
    const kind = one < other ? "region-hanging" : "region-refusing";
    const { result, told } = await during(planOf(lose([one, other], kind), 1));
    expect(result.violation).toBeUndefined();
    for (const region of REGIONS.filter((name) => name !== one && name !== other)) {
      const here = told.filter((one) => one.region === region);
      expect(here.filter(appended).length, `appends in ${region}`).toBeGreaterThan(2);
      expect(here.filter(readToTail).length, `strong reads in ${region}`).toBeGreaterThan(2);
    }
    expect(result.counts.takeovers).toBeGreaterThan(3);
  };
  const title = "%s and %s are lost: the other three append, read to the tail, take over";
  // One pair that hangs and one that refuses, which between them lose each region but one.
  const sample = pairs.filter(([one, other]) => ["east south", "west center"].includes(`${one} ${other}`));
  test.each(sample)(title, othersGoOn);
  test.each(pairs.filter((pair) => !sample.includes(pair)))(title, EXHAUSTIVE, othersGoOn);

  test("three are lost: nothing is acknowledged meanwhile, nothing is lost, and all goes on afterwards", async () => {
    const { result, told } = await during(planOf(lose(["east", "south", "west"], "region-hanging"), 1));
    expect(result.violation).toBeUndefined();
    expect(told.filter(appended)).toEqual([]);
  });
});

describe("the metadata store's majority is lost", CPU_BOUND, () => {
  const lost: Fault = {
    kind: "region-hanging",
    wire: "metadata",
    from: "*",
    to: { region: METADATA.region },
    probability: 1,
    fromMs: LOST_FROM_MS,
    toMs: LOST_TO_MS,
  };
  /** One region writes, so that somebody has a segment open when it happens. */
  const plan = planOf([lost], 1);
  const quiet = {
    ...plan,
    actors: plan.actors.filter(({ name }) => name.startsWith("reader") || name === "appender-east"),
  };

  test("whoever has a segment open goes on appending; nobody opens one, nobody can tell that a tail is the tail", async () => {
    const { result, told } = await during(quiet);
    expect(result.violation).toBeUndefined();
    expect(told.filter(appended).length).toBeGreaterThan(5);
    expect(told.filter(readToTail)).toEqual([]);
  });

  test("with several regions writing in turn, appends stop as soon as the log would change hands", async () => {
    const { result, told } = await during(plan);
    expect(result.violation).toBeUndefined();
    expect(new Set(told.filter(appended).map(({ region }) => region)).size).toBeLessThanOrEqual(1);
  });
});
