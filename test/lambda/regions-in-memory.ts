/** Two regions of functions in one process, over memory: as they are deployed, less AWS. */
import type { InvokeCommand } from "@aws-sdk/client-lambda";
import { expect } from "vitest";
import { LambdaAppends } from "../../lib/adapters/aws/lambda-appends.ts";
import type { LambdaFunction } from "../../lib/adapters/aws/lambda-call.ts";
import { MemoryEntryStore } from "../../lib/adapters/memory/memory-entry-store.ts";
import { MemoryLeaseStore } from "../../lib/adapters/memory/memory-lease-store.ts";
import { MemoryMetadataStore } from "../../lib/adapters/memory/memory-metadata-store.ts";
import { SystemClock } from "../../lib/adapters/node/system-clock.ts";
import { SystemRandom } from "../../lib/adapters/node/system-random.ts";
import type { RegionSettings } from "../../lib/environment.ts";
import { AppendFunction } from "../../lib/lambda/append-function.ts";
import { AuditorFunction } from "../../lib/lambda/auditor-function.ts";
import { FunctionTrace } from "../../lib/lambda/function-trace.ts";
import { ReadFunction } from "../../lib/lambda/read-function.ts";
import { countedAppends, type RegionWorld } from "../../lib/lambda/region-world.ts";
import { StoredBookie, setUpStorage } from "../../lib/protocol/bookie/stored-bookie.ts";
import { unavailable } from "../../lib/protocol/errors.ts";
import { bookieId, region as regionOf } from "../../lib/protocol/ids.ts";
import type { Lease } from "../../lib/protocol/lease.ts";
import type { Bookie } from "../../lib/protocol/ports.ts";
import type { BookieAddress } from "../../lib/protocol/replication.ts";
import { pause } from "../../lib/protocol/waiting.ts";
import { fixed, testPorts } from "../process-ports.ts";

export const REGIONS = ["us-east-1", "us-west-2"] as const;
export const DEPLOYMENT = "glog";
const [clock, random] = [new SystemClock(), new SystemRandom()];

/** Remembers what was last written. */
export class WatchedLeases extends MemoryLeaseStore {
  last: Lease | undefined;

  override async write(...args: Parameters<MemoryLeaseStore["write"]>) {
    const answer = await super.write(...args);
    if (answer.kind === "written") this.last = args[2];
    return answer;
  }
}

/** Two regions of functions over memory; a bookie does what a test asks of it. */
export class Regions {
  readonly #functions = new Map<string, AppendFunction>();
  readonly #reads = new Map<string, ReadFunction>();
  readonly #bookies = new Map<string, Bookie>();
  /** Of a bookie: refuses, stores without saying so, or answers reads late. */
  readonly leases = new Map<string, WatchedLeases>();
  readonly metadata = new MemoryMetadataStore();
  /** By stage and region, as "append us-east-1". */
  readonly worlds = new Map<string, RegionWorld>();
  readonly auditors = new Map<string, AuditorFunction>();
  readonly moods = new Map<string, "down" | "mute" | "slow">();
  /** Append functions have no concurrency: Lambda refuses every call of them. */
  isReadOnly = false;

  static async make(): Promise<Regions> {
    const regions = new Regions();
    const { metadata } = regions;
    const addresses = REGIONS.flatMap((region) =>
      [1, 2, 3].map((n): BookieAddress => {
        return { id: bookieId(`${region}.b${n}~s${n}`), place: { region: regionOf(region), rack: `r${n}` } };
      }),
    );
    for (const { id } of addresses) {
      const [storage, store] = [id.slice(id.indexOf("~") + 1), new MemoryEntryStore()];
      await setUpStorage(store, storage);
      regions.#bookies.set(id, regions.#moody(new StoredBookie({ id, storage, store, clock })));
    }
    for (const region of REGIONS) {
      const leases = new WatchedLeases();
      regions.leases.set(region, leases);
      const world = (stage: string) => regions.#world({ stage, region, metadata, addresses, leases });
      regions.#functions.set(region, new AppendFunction(world("append")));
      regions.#reads.set(region, new ReadFunction(world("read")));
      regions.auditors.set(region, new AuditorFunction(world("auditor")));
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
    const answer = (await served?.serve(event)) as { statusCode: number; body: string };
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
        if (this.isReadOnly) {
          const refusal = { name: "TooManyRequestsException", $metadata: { httpStatusCode: 429 } };
          throw Object.assign(new Error("Rate Exceeded."), refusal);
        }
        const event: unknown = JSON.parse(Buffer.from(input.Payload as Uint8Array).toString());
        const answer = await this.#functions.get(region)?.serve(event);
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
    const trace = new FunctionTrace({ deployment: DEPLOYMENT, logLevel: "ERROR" }, stage, region);
    const appends = this.#appends();
    const absent = (id: string): never => expect.fail(`no bookie ${id}`);
    const world: RegionWorld = {
      settings: {
        allowedOrigins: [],
        metadata: { mode: "strong", witnessRegion: "us-east-2" },
        regions: REGIONS.map((name) => ({ region: name })),
      } as unknown as RegionSettings,
      region,
      trace,
      ports: testPorts({
        ...{ clock, random, trace, metadata, region },
        bookies: { bookie: (id) => this.#bookies.get(id) ?? absent(id) },
        topology: fixed(addresses),
        leases: { store: leases, holder: `${stage} ${region}` },
        regions: countedAppends(appends, trace),
      }),
      appends,
      bookies: addresses,
      replicas: REGIONS.map((name) => ({ region: regionOf(name), store: metadata })),
      defaultConfig: {
        replication: { ensembleSize: 4, writeQuorum: 4, ackQuorum: 3, minRegions: 2 },
        digest: "crc32",
        segmentBytesMax: 1_000_000,
      },
    };
    this.worlds.set(`${stage} ${region}`, world);
    return world;
  }
}
