/**
 * The regions of an embedded cloud: each with its switch, its functions and its port. Regions and bookies
 * that are added later are reached by the functions of the earlier ones, and the other way round.
 */
import type { AllowedOrigins } from "../api/origins.ts";
import { present } from "../protocol/assert.ts";
import type { Clock } from "../protocol/deadline.ts";
import { type Region, region } from "../protocol/ids.ts";
import type { LogConfig } from "../protocol/items.ts";
import { limits } from "../protocol/limits.ts";
import type { Settler } from "../protocol/log/log-ports.ts";
import { Registry } from "../protocol/placement/registry.ts";
import type { MetadataStore, Trace } from "../protocol/ports.ts";
import { withTimeout } from "../protocol/waiting.ts";
import { type CloudBookie, cloudHealth } from "./cloud-health.ts";
import type { StorageBookie } from "./cloud-storage.ts";
import type { Distances } from "./distances.ts";
import { LocalRegion, type LocalRegionFields } from "./local-region.ts";
import type { LocalBookie } from "./region-bookies.ts";
import { startFunctions } from "./region-functions.ts";
import type { RegionLeaseStores } from "./region-lease-stores.ts";
import { type Gate, RegionSwitch } from "./region-switch.ts";
import type { WriteWatch } from "./write-watch.ts";

interface CloudRegionsFields {
  readonly clock: Clock;
  readonly trace: Trace;
  readonly metadata: MetadataStore;
  readonly metadataWrites: WriteWatch;
  readonly leases: RegionLeaseStores;
  /** The first region's port, the others follow; 0 takes any free ones. */
  readonly port: number;
  readonly distances: Distances;
  readonly auditPeriodMs: number;
  /** The configuration of logs whose creator chooses none. */
  readonly config: LogConfig;
  /** Pages that the regions serve. */
  readonly allowedOrigins: AllowedOrigins;
  readonly onFault: (region: string, requestId: string, error: unknown) => void;
  /** Gets each failure that the OpenAPI document does not list for its route. */
  readonly onUndeclared: (route: string, code: string) => void;
}

export class CloudRegions {
  readonly #fields: CloudRegionsFields;
  readonly #switches: RegionSwitch[];
  readonly #replicas: readonly RegionSwitch[];
  readonly #bookies: CloudBookie[] = [];
  readonly #open: LocalRegion[] = [];
  /** What operators said, read beside requests and past all switches: health waits for none of them. */
  readonly #registry: Registry;

  /** `replicas`: how many of the regions, from the first on, have a metadata replica, now and later. */
  constructor(fields: CloudRegionsFields, names: readonly string[], replicas: number) {
    this.#fields = fields;
    this.#registry = new Registry(fields, []);
    this.#switches = names.map((name) => new RegionSwitch(region(name)));
    this.#replicas = this.#switches.slice(0, replicas);
  }

  get all(): readonly LocalRegion[] {
    return this.#open;
  }

  get replicaCount(): number {
    return this.#replicas.length;
  }

  find(name: string): LocalRegion | undefined {
    return this.#open.find((one) => one.region.region === name);
  }

  /** Makes bookies of known regions reachable. */
  addBookies(bookies: readonly StorageBookie[]): void {
    for (const one of bookies) {
      const at = this.#switches.find(({ region: name }) => name === one.address.place.region);
      const { id, place } = one.address;
      const power = new RegionSwitch(place.region, `bookie ${id}`);
      this.#bookies.push({ ...one, region: present(at, `a region for ${id}`), power });
    }
  }

  /** The bookies of that name, or all of the region of that name. */
  bookiesNamed(name: string): readonly LocalBookie[] {
    return this.#bookies.filter(({ address: { id, place } }) => {
      return place.region === name || id === name || id.startsWith(`${name}~`);
    });
  }

  /** Opens the regions that there were from the start. Throws LocalError if a port is taken. */
  async open(): Promise<void> {
    for (const home of this.#switches) this.#open.push(await this.#openRegion(home));
  }

  /**
   * Opens one more region, which is down until its bookies are there. Throws LocalError if its port is taken;
   * nothing is changed then.
   */
  async add(name: string): Promise<void> {
    const home = new RegionSwitch(region(name));
    home.down("refusing");
    const opened = await this.#openRegion(home);
    this.#switches.push(home);
    this.#open.push(opened);
  }

  /** Takes the last region back, if nothing came of it. */
  async takeBack(): Promise<void> {
    this.#switches.pop();
    await this.#open.pop()?.close();
  }

  async close(): Promise<void> {
    await Promise.all(this.#open.map((one) => one.close()));
  }

  async #openRegion(home: RegionSwitch): Promise<LocalRegion> {
    const { clock, port, config, allowedOrigins, onFault, onUndeclared, auditPeriodMs } = this.#fields;
    const { metadataWrites } = this.#fields;
    const leaseWrites = (name: Region) => this.#fields.leases.writes(name);
    const [replicas, bookies] = [this.#replicas, this.#bookies];
    const leases = (name: Region) => this.#fields.leases.of(name);
    const peer = (name: Region) => this.find(name);
    const world = { ...this.#fields, replicas, bookies, leases, peer };
    const api: LocalRegionFields["api"] = {
      allowedOrigins,
      defaultConfig: config,
      health: async () => {
        const cloud = { replicas, bookies, config, topology: this.#registry, home: home.region };
        return cloudHealth({ ...cloud, metadataWrites, leaseWrites, regions: this.#switches });
      },
      onFault: (error, requestId) => onFault(home.region, requestId, error),
      onUndeclared: ({ id }, code) => onUndeclared(id, code),
    };
    return await LocalRegion.open({
      region: home,
      clock,
      port: port === 0 ? 0 : port + this.#open.length,
      auditPeriodMs,
      start: () => startFunctions(world, home, (outgoing) => this.#settler(home, outgoing)),
      api,
    });
  }

  /** One's own append function: it asks the owner's, and takes over if that is silent (rule 14). */
  #settler(home: RegionSwitch, outgoing: Gate): Settler {
    const { clock } = this.#fields;
    return {
      settle: (_ownerRegion, log) =>
        withTimeout(clock, limits.appendDeadlineMs, `settling ${log}`, () =>
          outgoing("settle", () => present(this.find(home.region), "one's own region").append.settle(log)),
        ),
    };
  }
}
