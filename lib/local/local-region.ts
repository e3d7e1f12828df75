/**
 * One region of the embedded cloud: its switch, its functions, its port.
 *
 * LRG1 A region that is up keeps its functions: new ones beside the old would wait for the leases that those
 *      hold. A defect costs the request that met it, and what the writer of its log had in flight.
 */
import { createApi } from "../api/api.ts";
import { RegionWork } from "../api/region-work.ts";
import type { ApiApp } from "../api/route.ts";
import type { ApiOptions } from "../api/routing.ts";
import type { ComposedRegion } from "../protocol/compose-region.ts";
import type { Clock } from "../protocol/deadline.ts";
import type { LogAppends } from "../protocol/log/log-appends.ts";
import type { AppendOperations, ReadOperations } from "../protocol/log/operations.ts";
import type { RegionOperations } from "../protocol/placement/registry.ts";
import { withTimeout } from "../protocol/waiting.ts";
import { LoopbackServer } from "./loopback-server.ts";
import { RegionAudits } from "./region-audits.ts";
import type { Manner, RegionSwitch } from "./region-switch.ts";

/** Wait for what was sent to be answered before a region's functions end. */
const RELEASE_WAIT_MS = 1_000;

export interface LocalRegionFields {
  readonly region: RegionSwitch;
  readonly port: number;
  readonly clock: Clock;
  /** Makes the region's functions; again after each loss. */
  readonly start: () => ComposedRegion;
  /** From the end of one pass of the auditor to the next. */
  readonly auditPeriodMs: number;
  readonly api: Pick<ApiOptions, "allowedOrigins" | "defaultConfig" | "health" | "onFault" | "onUndeclared">;
}

export class LocalRegion {
  readonly region: RegionSwitch;
  readonly #clock: Clock;
  readonly #start: () => ComposedRegion;
  #functions: ComposedRegion;
  #server: LoopbackServer | undefined;
  #audits: RegionAudits | undefined;
  #change: Promise<void> = Promise.resolve();

  private constructor(fields: LocalRegionFields) {
    this.region = fields.region;
    this.#clock = fields.clock;
    this.#start = fields.start;
    this.#functions = fields.start();
  }

  /** Throws LocalError if the port is taken. */
  static async open(fields: LocalRegionFields): Promise<LocalRegion> {
    const local = new LocalRegion(fields);
    const api = createApi({
      ...fields.api,
      region: fields.region.region,
      work: new RegionWork(),
      append: local.#appends(),
      read: local.#reads(),
      regions: local.#regions(),
    });
    local.#server = await LoopbackServer.open({
      name: fields.region.region,
      port: fields.port,
      serve: (request, incoming) => local.#serve(api, request, incoming.url ?? "/"),
    });
    local.#audits = new RegionAudits({
      region: fields.region,
      clock: fields.clock,
      periodMs: fields.auditPeriodMs,
      functions: () => local.#functions,
    });
    return local;
  }

  get url(): string {
    return this.#server?.url ?? "";
  }

  /** The region's append function, as the functions of other regions reach it. */
  get append(): LogAppends {
    return this.#functions.append;
  }

  /** Loses the region: what is in flight loses its answer, and then there is refusal or silence. */
  down(manner: Manner): Promise<void> {
    return this.#inTurn(async () => {
      this.region.down(manner);
      if (manner === "refusing") await this.#server?.cut();
      else await this.#server?.listen();
    });
  }

  /** The region is there again, with new functions. Throws LocalError if its port was taken meanwhile. */
  up(): Promise<void> {
    return this.#inTurn(async () => {
      if (this.region.isUp) return;
      await this.#server?.listen();
      this.#functions = this.#start();
      this.region.up();
    });
  }

  /** Answers what is in flight, and releases the logs' leases as far as that is quick. */
  async close(): Promise<void> {
    this.#audits?.close();
    await this.#server?.close();
    await withTimeout(this.#clock, RELEASE_WAIT_MS, "release", () => this.#functions.append.release()).catch(
      () => {}, // the leases expire
    );
  }

  #inTurn(change: () => Promise<void>): Promise<void> {
    const changed = this.#change.then(change);
    this.#change = changed.catch(() => {});
    return changed;
  }

  /** A request whose region is lost before its answer left gets no answer, whatever it did. */
  async #serve(api: ApiApp, request: Request, rawPath: string): Promise<Response | "no answer"> {
    try {
      return await this.region.call("request", async () => await api.fetch(request, { rawPath }));
    } catch {
      return "no answer";
    }
  }

  /** The functions of the moment, one call after another. */
  #appends(): AppendOperations {
    return {
      createLog: (name, config, preferred) => this.#functions.append.createLog(name, config, preferred),
      preferRegion: (name, preferred) => this.#functions.append.preferRegion(name, preferred),
      transferOwner: (name, to) => this.#functions.append.transferOwner(name, to),
      append: (request) => this.#functions.append.append(request),
      settle: (name) => this.#functions.append.settle(name),
      trim: (name, to) => this.#functions.append.trim(name, to),
      seal: (name) => this.#functions.append.seal(name),
      deleteLog: (name, only) => this.#functions.append.deleteLog(name, only),
      recoverLedger: (id) => this.#functions.append.recoverLedger(id),
    };
  }

  #reads(): ReadOperations {
    return {
      describeLog: (name, signal) => this.#functions.read.describeLog(name, signal),
      listLogs: (request, signal) => this.#functions.read.listLogs(request, signal),
      segments: (name, signal) => this.#functions.read.segments(name, signal),
      read: (request) => this.#functions.read.read(request),
      owner: (name, signal) => this.#functions.read.owner(name, signal),
      tail: (name, consistency, signal) => this.#functions.read.tail(name, consistency, signal),
      showLedger: (id) => this.#functions.read.showLedger(id),
    };
  }

  #regions(): RegionOperations {
    return {
      regions: () => this.#functions.operators.regions(),
      setRegionState: (region, state) => this.#functions.operators.setRegionState(region, state),
      setBookieState: (region, bookie, state) =>
        this.#functions.operators.setBookieState(region, bookie, state),
    };
  }
}
