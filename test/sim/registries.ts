/**
 * The registry of regions and bookies: what is in it when a run begins, and each process's own copy of it,
 * which is the shipped one and may be old.
 */
import type { Region } from "../../lib/protocol/ids.ts";
import { bookieKey } from "../../lib/protocol/items.ts";
import type { Registry } from "../../lib/protocol/placement/registry.ts";
import type { Topology } from "../../lib/protocol/ports.ts";
import type { BookieAddress, TopologyStates } from "../../lib/protocol/replication.ts";
import type { SimulatedBookie } from "./bookie-network.ts";
import type { MetadataTable } from "./metadata-table.ts";
import type { BookiePlan } from "./plan.ts";
import type { SimulatedProcess } from "./simulated-process.ts";

export class Registries {
  readonly initial: readonly BookieAddress[];
  readonly #copies = new Map<SimulatedProcess, RememberedRegistry>();

  constructor(
    plans: readonly BookiePlan[],
    bookieNamed: (name: string) => SimulatedBookie | undefined,
    table: MetadataTable,
  ) {
    const there = plans.filter(({ joins }) => joins !== true);
    this.initial = there.flatMap(({ name }) => bookieNamed(name)?.address ?? []);
    for (const address of this.initial) {
      table.preset(bookieKey(address.id), { kind: "bookie", address, state: "writable" });
    }
  }

  /** The one copy of this process, however many parts of it ask. */
  of(process: SimulatedProcess, registry: Registry): Topology {
    let copy = this.#copies.get(process);
    if (copy === undefined) {
      copy = new RememberedRegistry(registry);
      this.#copies.set(process, copy);
    }
    return copy;
  }

  /** What this process read of states when it last asked, the latest first; several, since it may act late. */
  told(process: SimulatedProcess): readonly TopologyStates[] {
    return this.#copies.get(process)?.told ?? [];
  }
}

/**
 * Copies that are remembered. A copy is read every ten seconds at most, and a choice is acted on sooner than this.
 */
const COPIES = 6;

class RememberedRegistry implements Topology {
  told: readonly TopologyStates[] = [];

  constructor(private readonly registry: Registry) {}

  bookies(): readonly BookieAddress[] {
    return this.registry.bookies();
  }

  states(): TopologyStates {
    const states = this.registry.states();
    if (this.told[0] !== states) this.told = [states, ...this.told].slice(0, COPIES);
    return states;
  }

  whenCurrent(): Promise<void> | undefined {
    return this.registry.whenCurrent();
  }
}

/** Whether new copies may go to this bookie, by what a process has read. */
export function isOpen(
  { id, place }: { id: BookieAddress["id"]; place: { region: Region } },
  states: TopologyStates,
) {
  const isWritable = (states.bookies.get(id) ?? "writable") === "writable";
  return isWritable && (states.regions.get(place.region) ?? "accepting") === "accepting";
}
