/**
 * A whole deployment in one process: regions, each with two bookies in two racks, an append and a read
 * function and an HTTP port, over one metadata table with a replica in up to three of them. Regions and
 * bookies can be added while it runs. Everything acknowledged is on disk, so that it survives kill -9;
 * nothing else is remembered.
 */
import { ConsoleTrace, type ConsoleTraceFields } from "../adapters/node/console-trace.ts";
import { SystemClock } from "../adapters/node/system-clock.ts";
import { SystemRandom } from "../adapters/node/system-random.ts";
import type { AllowedOrigins } from "../api/origins.ts";
import { present } from "../protocol/assert.ts";
import type { Clock } from "../protocol/deadline.ts";
import { region } from "../protocol/ids.ts";
import { regionAware } from "../protocol/placement/region-aware.ts";
import { randomToken } from "../protocol/random.ts";
import { bookiesOfNewRegion, oneMoreBookie } from "./cloud-additions.ts";
import { type BookieRecord, parseRegions } from "./cloud-file.ts";
import { CloudRegions } from "./cloud-regions.ts";
import { CloudStorage } from "./cloud-storage.ts";
import { removeControlFile, writeControlFile } from "./control-file.ts";
import { type ControlledCloud, controlApp, type RegionState } from "./control-server.ts";
import { asMeasured, equallyFar } from "./distances.ts";
import { type DefaultConfig, defaultConfig } from "./log-preset.ts";
import { LoopbackServer } from "./loopback-server.ts";
import { REPLICAS_MAX } from "./metadata-replicas.ts";
import { AUDIT_PERIOD_MS } from "./region-audits.ts";
import { RegionLeaseStores } from "./region-lease-stores.ts";
import type { Manner } from "./region-switch.ts";

export interface CloudOptions {
  readonly dataDir: string;
  /** The first region's port, the others follow; 0 takes any free ones. */
  readonly port: number;
  /** How many regions, or their names with commas. Absent: as the directory was made. */
  readonly regions?: string;
  /** Round trip between two regions. */
  readonly delayMs?: number;
  /** Regions as far apart as those of AWS, and entry stores as slow as S3; then `delayMs` says nothing. */
  readonly wan?: boolean;
  /** Pages that the regions serve beside programs; none if absent. The control endpoint serves none. */
  readonly allowedOrigins?: AllowedOrigins;
  /** Between two passes of a region's auditor. */
  readonly auditPeriodMs?: number;
  /** Takes one line for the person who runs it. */
  readonly write: (line: string) => void;
  readonly traceLevel?: NonNullable<ConsoleTraceFields["level"]>;
  /** The system's, unless a test has no time. */
  readonly clock?: CloudClock;
}

/** A clock whose pending timers can be released, so that they hold no process that is done. */
export type CloudClock = Clock & Pick<SystemClock, "release">;

export class EmbeddedCloud implements ControlledCloud, AsyncDisposable {
  readonly #clock: CloudClock;
  readonly #storage: CloudStorage;
  readonly #leases: RegionLeaseStores;
  readonly #dataDir: string;
  readonly #token = randomToken(new SystemRandom());
  readonly #default: DefaultConfig;
  readonly #regions: CloudRegions;
  #control: LoopbackServer | undefined;
  /** Additions, one after another. */
  #growth: Promise<unknown> = Promise.resolve();

  private constructor(options: CloudOptions, storage: CloudStorage, clock: CloudClock) {
    const { dataDir, port, delayMs = 0, wan = false, write, traceLevel } = options;
    const { auditPeriodMs = AUDIT_PERIOD_MS, allowedOrigins = [] } = options;
    const { bookies, file, metadata, metadataWrites } = storage;
    this.#dataDir = dataDir;
    this.#leases = new RegionLeaseStores(dataDir, clock);
    this.#storage = storage;
    this.#clock = clock;
    this.#default = defaultConfig(
      regionAware,
      bookies.map((one) => one.address),
      region(present(file.regions[0], "a region")),
    );
    const level = traceLevel === undefined ? {} : { level: traceLevel };
    const fields = {
      clock,
      metadata,
      metadataWrites,
      leases: this.#leases,
      port,
      distances: wan ? asMeasured : equallyFar(delayMs),
      auditPeriodMs,
      trace: new ConsoleTrace({ write, clock, ...level }),
      config: this.#default.config,
      allowedOrigins,
      onFault: (where: string, requestId: string, error: unknown) =>
        write(faultText(where, requestId, error)),
      onUndeclared: (route: string, code: string) =>
        write(`${route} failed with ${code}, which GET /v1/openapi.json does not list for it`),
    };
    this.#regions = new CloudRegions(fields, file.regions, file.replicas ?? REPLICAS_MAX);
    this.#regions.addBookies(bookies);
  }

  /** Throws LocalError if the directory or a port is in use, or the options do not fit the directory. */
  static async open(options: CloudOptions): Promise<EmbeddedCloud> {
    const wanted = options.regions === undefined ? undefined : parseRegions(options.regions);
    const clock = options.clock ?? new SystemClock();
    const storage = await CloudStorage.open(options.dataDir, wanted, { clock, wan: options.wan === true });
    const cloud = new EmbeddedCloud(options, storage, clock);
    try {
      await storage.register(storage.bookies);
      await cloud.#regions.open();
      await cloud.#openControl();
      return cloud;
    } catch (error) {
      await cloud.close();
      throw error;
    }
  }

  /** How new logs are replicated. */
  get presetText(): string {
    const { name, config } = this.#default;
    const { ensembleSize, ackQuorum, minRegions } = config.replication;
    const regions = `${minRegions} region${minRegions === 1 ? "" : "s"}`;
    return `new logs are "${name}": ${ensembleSize} bookies, acknowledged by ${ackQuorum} in ${regions}`;
  }

  /** What the person who runs it must know. */
  get warnings(): readonly string[] {
    const lost = this.#storage.bookies.filter((one) => !one.isKnown).map((one) => one.address.id);
    if (lost.length === 0) return [];
    return [`the storage of ${lost.join(", ")} is not what it was: these bookies answer nothing`];
  }

  get controlUrl(): string {
    return this.#control?.url ?? "";
  }

  regions(): readonly RegionState[] {
    return this.#regions.all.map(({ region, url }) => ({
      name: region.region,
      url,
      state: region.manner ?? "up",
    }));
  }

  async setRegion(name: string, state: "up" | Manner): Promise<void> {
    const found = present(this.#regions.find(name), `a region named ${name}`);
    await (state === "up" ? found.up() : found.down(state));
  }

  async setBookies(name: string, state: "up" | Manner): Promise<readonly string[]> {
    const found = this.#regions.bookiesNamed(name);
    for (const { power } of found) {
      if (state === "up") power.up();
      else power.down(state);
    }
    return found.map((one) => one.address.id);
  }

  addRegion(name: string, bookies: number): Promise<readonly string[]> {
    return this.#inTurn(async () => {
      const records = bookiesOfNewRegion(this.#storage.file, name, bookies, new SystemRandom());
      await this.#regions.add(name);
      try {
        return await this.#addBookies(records);
      } finally {
        // Once the directory names it, the region is there, and the next start completes what is missing.
        if (this.#storage.file.regions.includes(name)) await this.#regions.find(name)?.up();
        else await this.#regions.takeBack();
        await this.#tellControl();
      }
    });
  }

  addBookie(name: string, rack: string | undefined): Promise<readonly string[]> {
    return this.#inTurn(async () => {
      const record = oneMoreBookie(this.#storage.file, name, rack, new SystemRandom());
      return await this.#addBookies([record]);
    });
  }

  /** Answers what is in flight, as far as that is quick, and closes the stores. */
  async close(): Promise<void> {
    await this.#control?.close();
    await this.#growth.catch(() => {});
    await this.#regions.close();
    if (this.#control !== undefined) await removeControlFile(this.#dataDir);
    await this.#leases.close();
    await this.#storage.close();
    this.#clock.release();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #addBookies(records: readonly BookieRecord[]): Promise<readonly string[]> {
    const opened = await this.#storage.add(records, this.#regions.replicaCount);
    // Reachable first: once registered, any function may choose them.
    this.#regions.addBookies(opened);
    await this.#storage.register(opened);
    return opened.map((one) => one.address.id);
  }

  #inTurn<T>(addition: () => Promise<T>): Promise<T> {
    const added = this.#growth.catch(() => {}).then(addition);
    this.#growth = added;
    added.catch(() => {}); // the caller gets it
    return added;
  }

  async #openControl(): Promise<void> {
    const app = controlApp(this, this.#token);
    this.#control = await LoopbackServer.open({
      name: "control",
      port: 0,
      serve: async (request) => await app.fetch(request),
    });
    await this.#tellControl();
  }

  async #tellControl(): Promise<void> {
    const regions = this.regions().map(({ name, url }) => ({ name, url }));
    await writeControlFile(this.#dataDir, {
      pid: process.pid,
      url: this.controlUrl,
      token: this.#token,
      regions,
    });
  }
}

function faultText(where: string, requestId: string, error: unknown): string {
  const stack = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return `request ${requestId} in ${where} met a defect: ${stack}`;
}
