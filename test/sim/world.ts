/**
 * The world of one run: stores, bookies, network, clocks and processes from one plan, and the shipped
 * protocol code on top, which sees nothing but its ports.
 */
import { MemoryInboxStore } from "../../lib/adapters/memory/memory-inbox-store.ts";
import { StoredBookie } from "../../lib/protocol/bookie/stored-bookie.ts";
import type { ProcessWorld } from "../../lib/protocol/compose-region.ts";
import { FencelineError } from "../../lib/protocol/errors.ts";
import {
  type BookieId,
  bookieId,
  type EntryId,
  type LedgerId,
  type Region,
  region,
} from "../../lib/protocol/ids.ts";
import type { LogPorts } from "../../lib/protocol/log/log-ports.ts";
import type { MetadataStore } from "../../lib/protocol/ports.ts";
import { testPorts } from "../process-ports.ts";
import { anywhere } from "./any-placement.ts";
import {
  type BookieInstance,
  BookieLink,
  BookieNetwork,
  type CallLog,
  type SimulatedBookie,
} from "./bookie-network.ts";
import { BookieStorage } from "./bookie-storage.ts";
import { simulatedDigest } from "./content.ts";
import { EntryStorePath } from "./entry-store-path.ts";
import { type Endpoint, Faults, METADATA, type Wire } from "./faults.ts";
import { FunctionFleet } from "./function-fleet.ts";
import { type Content, History } from "./history.ts";
import { LeaseTable } from "./lease-table.ts";
import { LedgerDirectory } from "./ledger-directory.ts";
import type { LogFunctions } from "./log-functions.ts";
import { MessagePath, type Wires } from "./message-path.ts";
import { MetadataPath } from "./metadata-path.ts";
import { MetadataTable } from "./metadata-table.ts";
import type { Observers } from "./observers.ts";
import type { BookiePlan, Plan } from "./plan.ts";
import { Registries } from "./registries.ts";
import { Scheduler } from "./scheduler.ts";
import { SeededRandom } from "./seeded-random.ts";
import { ShadowLogs } from "./shadow-logs.ts";
import { SimulatedProcess } from "./simulated-process.ts";
import type { Verdict } from "./verdict.ts";

export class World {
  readonly scheduler = new Scheduler();
  readonly faults: Faults;
  readonly wires: Wires;
  readonly table: MetadataTable;
  readonly history: History;
  readonly bookies = new Map<BookieId, SimulatedBookie>();
  readonly ledgers = new LedgerDirectory();
  /** Every process that serves logs, the latest last. */
  readonly functions: LogFunctions[] = [];
  /** What each life of each log held. */
  readonly shadow = new ShadowLogs(this);
  /** The `append` functions of regions. */
  readonly fleets: ReadonlyMap<Region, FunctionFleet>;
  readonly #leaseTables = new Map<Region, LeaseTable>();
  readonly #inboxes = new Map<Region, MemoryInboxStore>();
  /** What was read back of each log when all was over. */
  readonly logs = new Map<string, readonly Content[]>();
  /** What was read back of each closed ledger when all was over. */
  readonly readBack = new Map<LedgerId, readonly Content[]>();
  /** Every process there ever was, the latest of each name last. */
  readonly processes: SimulatedProcess[] = [];
  /** What each process knows of regions and bookies. */
  readonly registries: Registries;
  #contents = 0;

  constructor(
    readonly plan: Plan,
    readonly observers: Observers,
    readonly verdict: Verdict,
  ) {
    this.faults = new Faults(plan.faults);
    this.wires = { scheduler: this.scheduler, faults: this.faults, calmMs: plan.calmMs, steps: 0 };
    this.table = new MetadataTable(
      () => this.scheduler.nowMs,
      (change) => observers.metadataChanged(change),
    );
    this.history = new History((operation) => observers.operated(operation));
    for (const bookie of plan.world.bookies) this.#addBookie(bookie);
    this.fleets = new Map(
      (plan.functions ?? []).map((functions) => [
        region(functions.region),
        new FunctionFleet(this, functions),
      ]),
    );
    this.registries = new Registries(plan.world.bookies, (name) => this.bookieNamed(name), this.table);
  }

  random(stream: string): SeededRandom {
    return new SeededRandom(this.plan.seed, stream);
  }

  /** A number for a payload or record that none had before. */
  newContent(): Content {
    return ++this.#contents;
  }

  /** Takes an error that a client must live with; any other is the protocol's own fault. */
  expected(error: unknown): void {
    if (error instanceof FencelineError) return;
    const stack = error instanceof Error ? (error.stack ?? error.message) : String(error);
    this.verdict.report("failure", stack);
  }

  startProcess(name: string, inRegion: string): SimulatedProcess {
    const ordinal = this.processes.filter((process) => process.name === name).length;
    const random = this.random(`process ${name} ${ordinal}`);
    const standsStill = this.random(`monotonic ${name} ${ordinal}`).chance(0.5);
    const process = new SimulatedProcess(
      name,
      ordinal,
      region(inRegion),
      this.scheduler,
      random,
      standsStill,
    );
    this.processes.push(process);
    return process;
  }

  /** What the protocol in this process is given. */
  ports(process: SimulatedProcess, given: Partial<ProcessWorld> = {}): LogPorts {
    const { clock, random } = process;
    return testPorts({
      clock,
      random,
      digest: simulatedDigest,
      trace: { emit: (event) => this.observers.emitted(event, process) },
      metadata: this.metadataOf(process),
      bookies: new BookieNetwork((id) => this.#link(process, id)),
      bookiesAtStart: this.registries.initial,
      topology: (registry) => this.registries.of(process, registry),
      ...(this.plan.world.placement === "anywhere" ? { placement: anywhere(random) } : {}),
      region: process.region,
      ...given,
    });
  }

  bookieNamed(name: string): SimulatedBookie | undefined {
    return [...this.bookies.values()].find(({ address }) => address.id.split("~")[0]?.split(".")[1] === name);
  }

  /** The writer leases of a region. */
  leaseTable(of: Region): LeaseTable {
    const known = this.#leaseTables.get(of);
    if (known !== undefined) return known;
    const table = new LeaseTable(
      of,
      (change) => this.observers.leaseChanged(change),
      (change) => this.observers.failuresCounted(change),
    );
    this.#leaseTables.set(of, table);
    return table;
  }

  /** What a region's processes post to each other. */
  inboxOf(of: Region): MemoryInboxStore {
    const inbox = this.#inboxes.get(of) ?? new MemoryInboxStore({ nowMs: () => this.scheduler.nowMs });
    this.#inboxes.set(of, inbox);
    return inbox;
  }

  #addBookie(plan: BookiePlan): void {
    const identity = `bucket-${plan.name}`;
    const id = bookieId(`${plan.region}.${plan.name}~${identity}`);
    const address = { id, place: { region: region(plan.region), rack: plan.rack } };
    const storage = new BookieStorage(id, identity, (change) => this.observers.storeChanged(change));
    const startInstance = () => this.#startInstance(bookie);
    const bookie: SimulatedBookie = { address, identity, storage, instances: [], startInstance };
    this.bookies.set(id, bookie);
    for (let index = 0; index < plan.instances; index++) startInstance();
  }

  #startInstance(bookie: SimulatedBookie): BookieInstance {
    const { address, identity, storage, instances } = bookie;
    const name = address.id.split("~")[0]?.split(".")[1] ?? "";
    const process = this.startProcess(`${name}/${instances.length}`, address.place.region);
    const path = this.path(process, "entry-store", { name, region: process.region });
    const store = new EntryStorePath(path, storage);
    const stored = new StoredBookie({ id: address.id, storage: identity, store, clock: process.clock });
    const instance = { process, stored };
    instances.push(instance);
    return instance;
  }

  #link(process: SimulatedProcess, id: BookieId): BookieLink | undefined {
    const bookie = this.bookies.get(id);
    if (bookie === undefined) return undefined;
    const to = { name: id.split("~")[0]?.split(".")[1] ?? "", region: bookie.address.place.region };
    const path = this.path(process, "bookie", to);
    return new BookieLink(
      path,
      bookie,
      this.random(`instances ${process.name} ${process.ordinal} ${id}`),
      this.#callLog,
    );
  }

  metadataOf(process: SimulatedProcess): MetadataStore {
    const path = this.path(process, "metadata", METADATA);
    const random = this.random(`lag ${process.name} ${process.ordinal}`);
    return new MetadataPath(path, this.table, random, process, (partition) =>
      this.observers.metadataAsked(process, partition),
    );
  }

  /** The way from this process to something else. */
  path(process: SimulatedProcess, wire: Wire, to: Endpoint): MessagePath {
    const { withinRegion, betweenRegions, toStore } = this.plan.world;
    const near = process.region === to.region ? withinRegion : betweenRegions;
    const random = this.random(`${wire} ${process.name} ${process.ordinal} ${to.name}`);
    const edge = this.faults.edge(wire, process, to);
    return new MessagePath(this.wires, process, edge, wire === "entry-store" ? toStore : near, random);
  }

  readonly #callLog: CallLog = {
    arrived: (bookie, operation, ledgerId: LedgerId, entryId?: EntryId) => ({
      bookie,
      operation,
      ledgerId,
      entryId,
      arrivedAt: this.scheduler.events,
    }),
    answered: (call, answer) => this.observers.bookieAnswered(call, answer, this.scheduler.events),
  };
}
