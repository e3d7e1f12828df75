/**
 * A whole deployment in one process: regions, each with two bookies in two racks, an append and a read
 * function and an HTTP port, over one metadata table with a replica in up to three of them. Everything
 * acknowledged is on disk, so that it survives kill -9; nothing else is remembered.
 */
import { ConsoleTrace, type ConsoleTraceFields } from "../adapters/node/console-trace.ts";
import { SystemClock } from "../adapters/node/system-clock.ts";
import { SystemRandom } from "../adapters/node/system-random.ts";
import { present } from "../protocol/assert.ts";
import { type LogName, region } from "../protocol/ids.ts";
import type { Settler } from "../protocol/log/settler.ts";
import { regionAware } from "../protocol/placement/region-aware.ts";
import type { Clock } from "../protocol/ports.ts";
import { randomToken } from "../protocol/random.ts";
import { within } from "../protocol/waiting.ts";
import { parseRegions } from "./cloud-file.ts";
import { cloudHealth } from "./cloud-health.ts";
import { CloudStorage } from "./cloud-storage.ts";
import { removeControlFile, writeControlFile } from "./control-file.ts";
import { type ControlledCloud, controlApp, type RegionState } from "./control-server.ts";
import { LocalRegion } from "./local-region.ts";
import { type DefaultConfig, defaultConfig } from "./log-preset.ts";
import { LoopbackServer } from "./loopback-server.ts";
import { REPLICAS_MAX } from "./metadata-replicas.ts";
import { type SharedWorld, startFunctions } from "./region-functions.ts";
import { type Gate, type Manner, RegionSwitch } from "./region-switch.ts";
import { roundTrip } from "./round-trip.ts";

export interface CloudOptions {
  readonly dataDir: string;
  /** The first region's port, the others follow; 0 takes any free ones. */
  readonly port: number;
  /** How many regions, or their names with commas. Absent: as the directory was made. */
  readonly regions?: string;
  /** Round trip between two regions. */
  readonly delayMs?: number;
  /** Takes one line for the person who runs it. */
  readonly write: (line: string) => void;
  readonly traceLevel?: NonNullable<ConsoleTraceFields["level"]>;
  /** The system's, unless a test has no time. */
  readonly clock?: CloudClock;
}

/** A clock whose pending timers can be let go of, so that they hold no process that is done. */
export type CloudClock = Clock & Pick<SystemClock, "release">;

/** Wait for the owner's region to settle a tail, before one's own region takes over. */
const SETTLE_WAIT_MS = 1_500;

export class EmbeddedCloud implements ControlledCloud, AsyncDisposable {
  readonly #clock: CloudClock;
  readonly #storage: CloudStorage;
  readonly #dataDir: string;
  readonly #regions: LocalRegion[] = [];
  readonly #default: DefaultConfig;
  #control: LoopbackServer | undefined;

  private constructor(options: CloudOptions, storage: CloudStorage, clock: CloudClock) {
    this.#dataDir = options.dataDir;
    this.#storage = storage;
    this.#clock = clock;
    const addresses = storage.bookies.map((one) => one.address);
    this.#default = defaultConfig(
      regionAware,
      addresses,
      region(present(storage.file.regions[0], "a region")),
    );
  }

  /** Throws LocalError if the directory or a port is in use, or the options do not fit the directory. */
  static async open(options: CloudOptions): Promise<EmbeddedCloud> {
    const wanted = options.regions === undefined ? undefined : parseRegions(options.regions);
    const clock = options.clock ?? new SystemClock();
    const storage = await CloudStorage.open(options.dataDir, wanted, clock);
    const cloud = new EmbeddedCloud(options, storage, clock);
    try {
      await cloud.#openRegions(options);
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
    return this.#regions.map(({ region, url }) => ({
      name: region.region,
      url,
      state: region.manner ?? "up",
    }));
  }

  async setRegion(name: string, state: "up" | Manner): Promise<void> {
    const found = present(
      this.#regions.find((one) => one.region.region === name),
      `a region named ${name}`,
    );
    await (state === "up" ? found.up() : found.down(state));
  }

  /** Answers what is in flight, as far as that is quick, and closes the stores. */
  async close(): Promise<void> {
    await this.#control?.close();
    await Promise.all(this.#regions.map((one) => one.close()));
    if (this.#control !== undefined) await removeControlFile(this.#dataDir);
    await this.#storage.close();
    this.#clock.release();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #openRegions(options: CloudOptions): Promise<void> {
    const { bookies, file, metadata } = this.#storage;
    const switches = file.regions.map((name) => new RegionSwitch(region(name)));
    const switchOf = (name: string) =>
      present(
        switches.find((one) => one.region === name),
        name,
      );
    const replicas = switches.slice(0, REPLICAS_MAX);
    const { write, traceLevel, delayMs = 0 } = options;
    const clock = this.#clock;
    const world: SharedWorld = {
      clock,
      trace: new ConsoleTrace({ write, clock, ...(traceLevel === undefined ? {} : { level: traceLevel }) }),
      placement: regionAware,
      metadata,
      replicas,
      bookies: bookies.map((one) => ({ ...one, region: switchOf(one.address.place.region) })),
      delayMs,
    };
    const { config } = this.#default;
    for (const [index, home] of switches.entries()) {
      const open = LocalRegion.open({
        region: home,
        port: options.port === 0 ? 0 : options.port + index,
        start: () => startFunctions(world, home, (outgoing) => this.#settler(home, outgoing, delayMs)),
        api: {
          defaultConfig: config,
          health: async () => cloudHealth(switches, replicas, config),
          onFault: (error, requestId) => write(faultText(home.region, requestId, error)),
        },
      });
      this.#regions.push(await open);
    }
  }

  async #openControl(): Promise<void> {
    const token = randomToken(new SystemRandom());
    const app = controlApp(this, token);
    this.#control = await LoopbackServer.open({
      name: "control",
      port: 0,
      serve: async (request) => await app.fetch(request),
    });
    const regions = this.#regions.map((one) => ({ name: one.region.region, url: one.url }));
    await writeControlFile(this.#dataDir, { pid: process.pid, url: this.#control.url, token, regions });
  }

  /** The owner's append function settles; if it is silent, one's own takes over (rule 14). */
  #settler(home: RegionSwitch, outgoing: Gate, delayMs: number): Settler {
    const settleIn = (where: LocalRegion, log: LogName) =>
      within(this.#clock, SETTLE_WAIT_MS, `settling ${log} in ${where.region.region}`, () =>
        outgoing("settle", () =>
          roundTrip(this.#clock, where.region === home ? 0 : delayMs, () =>
            where.region.call("settle", () => where.append.settle(log)),
          ),
        ),
      );
    return {
      settle: async (ownerRegion, log) => {
        const owner = this.#regions.find((one) => one.region.region === ownerRegion);
        const own = present(
          this.#regions.find((one) => one.region === home),
          "one's own region",
        );
        if (owner === undefined || owner === own) return await settleIn(own, log);
        try {
          await settleIn(owner, log);
        } catch {
          await settleIn(own, log);
        }
      },
    };
  }
}

function faultText(where: string, requestId: string, error: unknown): string {
  const stack = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return `request ${requestId} in ${where} met a defect: ${stack}`;
}
