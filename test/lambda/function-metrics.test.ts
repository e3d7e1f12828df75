/**
 * What the functions count of themselves, as CloudWatch reads it: each number that a dashboard or an alarm
 * looks at is written by the function that meets it, under the very name and dimensions that are looked for.
 */
import type { InvokeCommand } from "@aws-sdk/client-lambda";
import { App, Stack } from "aws-cdk-lib";
import type { Context } from "aws-lambda";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { LambdaAppends } from "../../lib/adapters/aws/lambda-appends.ts";
import type { LambdaFunction } from "../../lib/adapters/aws/lambda-call.ts";
import { MemoryEntryStore } from "../../lib/adapters/memory/memory-entry-store.ts";
import { MemoryLeaseStore } from "../../lib/adapters/memory/memory-lease-store.ts";
import { MemoryMetadataStore } from "../../lib/adapters/memory/memory-metadata-store.ts";
import { NodeDigest } from "../../lib/adapters/node/node-digest.ts";
import { SystemClock } from "../../lib/adapters/node/system-clock.ts";
import { SystemRandom } from "../../lib/adapters/node/system-random.ts";
import type { RegionSettings } from "../../lib/environment.ts";
import { Names } from "../../lib/infra/names.ts";
import { counted, countedByFunctions } from "../../lib/infra/watched-region.ts";
import { AppendFunction } from "../../lib/lambda/append-function.ts";
import { FunctionTrace } from "../../lib/lambda/function-trace.ts";
import { ReadFunction } from "../../lib/lambda/read-function.ts";
import type { RegionWorld } from "../../lib/lambda/region-world.ts";
import { StoredBookie, setUpStorage } from "../../lib/protocol/bookie/stored-bookie.ts";
import { unavailable } from "../../lib/protocol/errors.ts";
import { bookieId, region as regionOf } from "../../lib/protocol/ids.ts";
import type { BookieAddress } from "../../lib/protocol/place.ts";
import { Quarantine } from "../../lib/protocol/placement/quarantine.ts";
import { regionAware } from "../../lib/protocol/placement/region-aware.ts";
import type { Bookie } from "../../lib/protocol/ports.ts";
import { ReadPolicy } from "../../lib/protocol/reads/read-policy.ts";
import { pause } from "../../lib/protocol/waiting.ts";
import { home, topologyOf } from "../infra/topologies.ts";

const [EAST, WEST] = ["us-east-1", "us-west-2"] as const;
const [clock, random] = [new SystemClock(), new SystemRandom()];
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

/** Two regions of functions over memory; a bookie does what it is told to. */
class Regions {
  readonly #functions = new Map<string, AppendFunction>();
  readonly #reads = new Map<string, ReadFunction>();
  readonly #bookies = new Map<string, Bookie>();
  /** Of a bookie: refuses, stores without saying so, or answers reads late. */
  readonly moods = new Map<string, "down" | "mute" | "slow">();

  static async make(): Promise<Regions> {
    const regions = new Regions();
    const metadata = new MemoryMetadataStore();
    const addresses = [EAST, WEST].flatMap((region) =>
      [1, 2, 3].map((n): BookieAddress => {
        return { id: bookieId(`${region}.b${n}~s${n}`), place: { region: regionOf(region), rack: `r${n}` } };
      }),
    );
    for (const { id } of addresses) {
      const [storage, store] = [id.slice(id.indexOf("~") + 1), new MemoryEntryStore()];
      await setUpStorage(store, storage);
      regions.#bookies.set(id, regions.#moody(new StoredBookie({ id, storage, store, clock })));
    }
    for (const region of [EAST, WEST]) {
      const leases = new MemoryLeaseStore();
      const world = (stage: string) => regions.#world({ stage, region, metadata, addresses, leases });
      regions.#functions.set(region, new AppendFunction(world("append"), `append ${region}`));
      regions.#reads.set(region, new ReadFunction(world("read")));
    }
    return regions;
  }

  async ask(region: string, method: string, path: string, body?: object) {
    const { pathname, searchParams } = new URL(path, "http://any");
    const event = {
      httpMethod: method,
      path: pathname,
      headers: { "content-type": "application/json" },
      queryStringParameters: Object.fromEntries(searchParams),
      requestContext: { domainName: "api" },
      body: body === undefined ? null : JSON.stringify(body),
      isBase64Encoded: false,
    };
    const served = method === "GET" ? this.#reads.get(region) : this.#functions.get(region);
    const answer = (await served?.serve(event, {} as Context)) as { statusCode: number; body: string };
    return { status: answer.statusCode, body: JSON.parse(answer.body) };
  }

  readonly append = (region: string, body: string) =>
    this.ask(region, "POST", "/v1/logs/orders/records", { records: [{ body }] });

  #moody(bookie: Bookie): Bookie {
    return new Proxy(bookie, {
      get: (_, name) => {
        const member: unknown = Reflect.get(bookie, name);
        if (typeof member !== "function") return member;
        return async (...args: unknown[]) => {
          const mood = this.moods.get(bookie.id);
          if (mood === "down") throw unavailable("refused", "none");
          if (mood === "slow" && String(name).startsWith("read")) await pause(clock, 1_500);
          const answer = await member.apply(bookie, args);
          if (mood === "mute") throw unavailable("silent");
          return answer;
        };
      },
    });
  }

  #appends(): LambdaAppends {
    return new LambdaAppends((region) => {
      const send = async ({ input }: InvokeCommand) => {
        const event: unknown = JSON.parse(Buffer.from(input.Payload as Uint8Array).toString());
        const answer = await this.#functions.get(region)?.serve(event, {} as Context);
        return { Payload: Buffer.from(JSON.stringify(answer)) };
      };
      return { client: { send } as unknown as LambdaFunction["client"], name: "append", region };
    });
  }

  #world(of: {
    readonly stage: string;
    readonly region: string;
    readonly metadata: MemoryMetadataStore;
    readonly addresses: readonly BookieAddress[];
    readonly leases: MemoryLeaseStore;
  }): RegionWorld {
    const { stage, metadata, addresses, leases } = of;
    const region = regionOf(of.region);
    const trace = new FunctionTrace({ deployment: names.deployment, logLevel: "ERROR" }, stage, region);
    const absent = (id: string): never => expect.fail(`no bookie ${id}`);
    return {
      settings: { metadata: {}, regions: [] } as unknown as RegionSettings,
      region,
      trace,
      ports: {
        ...{ clock, random, trace, metadata, region, placement: regionAware },
        digest: new NodeDigest(),
        bookies: { bookie: (id) => this.#bookies.get(id) ?? absent(id) },
        topology: { bookies: () => addresses },
        reads: new ReadPolicy({ clock, random, place: { region } }),
        quarantine: new Quarantine({ clock, random }),
      },
      leases,
      appends: this.#appends(),
      bookies: addresses,
      replicas: [],
      defaultConfig: {
        replication: { ensembleSize: 4, writeQuorum: 4, ackQuorum: 3, minRegions: 2 },
        digest: "crc32",
        segmentBytesMax: 1_000_000,
      },
    };
  }
}

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
