/**
 * What the functions count of themselves, as CloudWatch reads it: each number that a dashboard or an alarm
 * looks at is written by the function that meets it, under the very name and dimensions that are looked for.
 */
import { App, Stack } from "aws-cdk-lib";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Names } from "../../lib/infra/names.ts";
import { counted, countedByFunctions } from "../../lib/infra/watched-region.ts";
import { FunctionTrace } from "../../lib/lambda/function-trace.ts";
import { home, topologyOf } from "../infra/topologies.ts";
import { REGIONS, Regions } from "./regions-in-memory.ts";

const [EAST, WEST] = REGIONS;
const names = new Names(topologyOf(3, home));

/** Numbers by name, in the order in which they were written, with the dimensions that each can be found by. */
interface Written {
  readonly values: Readonly<Record<string, readonly number[]>>;
  readonly dimensions: readonly string[];
}

let lines: string[] = [];

/** What one function has written since it was asked last. */
function written(stage: string, region: string): Written {
  const values: Record<string, number[]> = {};
  const dimensions = new Set<string>();
  for (const line of lines) {
    const json = JSON.parse(line);
    if (json.stage !== stage || json.region !== region) continue;
    for (const { Namespace, Dimensions, Metrics } of json._aws.CloudWatchMetrics) {
      for (const set of Dimensions) {
        const found = Object.fromEntries(set.map((name: string) => [name, json[name]]).sort());
        dimensions.add(`${Namespace} ${JSON.stringify(found)}`);
      }
      for (const { Name } of Metrics) values[Name] = [...(values[Name] ?? []), ...[json[Name]].flat()];
    }
  }
  return { values, dimensions: [...dimensions] };
}

beforeEach(() => {
  lines = [];
  // They go to the console that this test can watch.
  vi.stubEnv("POWERTOOLS_DEV", "true");
  vi.stubEnv("POWERTOOLS_METRICS_DISABLED", "false");
  vi.spyOn(console, "log").mockImplementation((line) => {
    if (String(line).includes('"_aws"')) lines.push(String(line));
  });
  for (const level of ["info", "warn", "error"] as const)
    vi.spyOn(console, level).mockImplementation(() => undefined);
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
});

describe("a function's metrics", () => {
  it.each(countedByFunctions)("%s is written where the dashboards and alarms look for it", (name) => {
    const trace = new FunctionTrace({ deployment: names.deployment, logLevel: "ERROR" }, "append", EAST);
    trace.count(name, 3);
    trace.flush();
    const stack = new Stack(new App(), "any");
    const { metricStat } = counted({ names, region: EAST }, name).toMetricConfig();
    expect(stack.resolve(metricStat?.metricName)).toBe(name);
    const looked = Object.fromEntries((metricStat?.dimensions ?? []).map((one) => [one.name, one.value]));
    const { values, dimensions } = written("append", EAST);
    expect(values[name]).toEqual([3]);
    const sorted = Object.fromEntries(Object.entries(looked).sort());
    expect(dimensions).toContain(`${metricStat?.namespace} ${JSON.stringify(sorted)}`);
    expect(dimensions).toContain(
      `Fenceline ${JSON.stringify({ region: EAST, service: names.deployment, stage: "append" })}`,
    );
  });

  it("nothing is written twice, and the next call's numbers have the same dimensions", () => {
    const trace = new FunctionTrace({ deployment: "glog", logLevel: "ERROR" }, "read", WEST);
    for (const value of [1, 2]) {
      trace.count("hedges", value);
      trace.flush();
      trace.flush();
    }
    const { values, dimensions } = written("read", WEST);
    expect(values).toEqual({ hedges: [1, 2] });
    expect(dimensions).toHaveLength(2);
  });
});

describe("what functions meet is counted by the function that met it", { timeout: 60_000 }, () => {
  let regions: Regions;
  let members: readonly string[];
  let ledger: string;

  beforeEach(async () => {
    regions = await Regions.make();
    expect(await regions.ask(EAST, "PUT", "/v1/logs/orders", {})).toMatchObject({ status: 201 });
    expect(await regions.append(EAST, "first")).toMatchObject({ status: 200 });
    const { body } = await regions.ask(EAST, "GET", "/v1/logs/orders/segments");
    ledger = String(body.segments[0].ledger_id);
    const shown = await regions.ask(EAST, "GET", `/v1/ledgers/${ledger}`);
    const ids = JSON.stringify(shown.body).match(/us-[a-z]+-\d\.b\d~s\d/g) ?? [];
    members = [...new Set(ids)];
    expect(members).toHaveLength(4);
    lines = [];
  });

  it("forwards, where they leave", async () => {
    expect(await regions.append(WEST, "second")).toMatchObject({ status: 200 });
    expect(written("append", WEST).values.forwards).toEqual([1]);
    expect(written("append", EAST).values).not.toHaveProperty("forwards");
    expect(written("append", EAST).values.recordsAppended).toEqual([1]);
  });

  it("recoveries where they run, and the writer that was fenced", async () => {
    expect(await regions.ask(WEST, "POST", `/v1/ledgers/${ledger}/recover`)).toMatchObject({ status: 200 });
    expect(written("append", WEST).values.recoveries).toEqual([1]);
    expect(written("append", EAST).values).not.toHaveProperty("recoveries");
    await regions.append(EAST, "second");
    expect(written("append", EAST).values.fenced?.length).toBeGreaterThan(0);
  });

  it("ensemble changes", async () => {
    for (const id of members.slice(0, 2)) regions.moods.set(id, "down");
    expect(await regions.append(EAST, "second")).toMatchObject({ status: 200 });
    expect(written("append", EAST).values.ensembleChanges?.length).toBeGreaterThan(0);
    expect(written("append", EAST).values.bookieFailures?.length).toBeGreaterThan(0);
  });

  it("appends of which nobody can say whether they happened", async () => {
    for (const n of [1, 2, 3]) {
      for (const region of [EAST, WEST]) regions.moods.set(`${region}.b${n}~s${n}`, "mute");
    }
    const answer = await regions.append(EAST, "second");
    expect(answer.body).toMatchObject({ side_effects: "possible" });
    expect(written("append", EAST).values.unknownOutcomes).toEqual([1]);
  });

  it("hedged reads", async () => {
    for (const body of ["second", "third", "fourth"]) await regions.append(EAST, body);
    const read = () => regions.ask(EAST, "GET", "/v1/logs/orders/records?seq_num=0");
    for (let reads = 0; reads < 30; reads++) expect(await read()).toMatchObject({ status: 200 }); // earn a hedge
    lines = [];
    for (const id of members.filter((one) => one.startsWith(EAST))) regions.moods.set(id, "slow");
    expect(await read()).toMatchObject({ status: 200 });
    expect(written("read", EAST).values.hedges?.[0]).toBeGreaterThan(0);
  });
});
