/**
 * The registry of regions and bookies as one process knows it: a copy of the metadata store's items, read off
 * the request path and never more often than every ten seconds.
 *
 * Y1 `bookies` and `states` answer at once, from the last copy that was read.
 * Y2 A copy that is older than the refresh interval is read anew in the background; a failed read keeps it.
 * Y3 Nothing about safety rests on how old it is. It moves new copies; what moves logs looks at its age, too.
 * Y4 A copy never takes the place of one whose reading began later.
 * Y5 Who waits for the first copy waits for one reading, however many they are; one that failed is not
 *    remembered, and the next who waits begins another.
 */
import type { Clock } from "../clock.ts";
import type { BookieId, Region } from "../ids.ts";
import {
  BOOKIES_PARTITION,
  type BookieItem,
  bookieKey,
  REGIONS_PARTITION,
  type RegionItem,
  regionKey,
} from "../items.ts";
import { limits } from "../limits.ts";
import { momentNow } from "../moment.ts";
import type { BookieAddress, BookieState, RegionState } from "../place.ts";
import type { MetadataStore, Topology, Versioned } from "../ports.ts";
import { type UpdatePorts, updateItem } from "../update-item.ts";
import type { TopologyStates } from "./placement.ts";

export class Registry implements Topology {
  #bookies: readonly BookieAddress[];
  #states: TopologyStates = { bookies: new Map(), regions: new Map() };
  #begun = 0;
  #newest = 0;
  #readAtMs = Number.NEGATIVE_INFINITY;
  #reading: Promise<void> | undefined;
  #first: Promise<void> | undefined;

  /** `initial`: the bookies that the process was told of when it started, until the first copy is read. */
  constructor(
    private readonly ports: { readonly metadata: MetadataStore; readonly clock: Clock },
    initial: readonly BookieAddress[] = [],
  ) {
    this.#bookies = initial;
  }

  bookies(): readonly BookieAddress[] {
    this.#refreshIfOld();
    return this.#bookies;
  }

  states(): TopologyStates {
    this.#refreshIfOld();
    return this.#states;
  }

  /** Reads the registry now, consistently. Throws what the store throws. */
  async load(): Promise<void> {
    await this.#read("consistent");
  }

  /**
   * Resolves once any copy was read, which one more reading sees to: before a process's first ledger, and
   * begun when the process starts (Y5). Throws what the store throws.
   */
  async ready(): Promise<void> {
    if (this.#newest > 0) return;
    this.#first ??= this.#read("stale").finally(() => {
      this.#first = undefined;
    });
    await this.#first;
  }

  #refreshIfOld(): void {
    const ageMs = this.ports.clock.monotonicMs() - this.#readAtMs;
    if (ageMs < limits.registryAgeMaxMs || this.#reading !== undefined) return;
    this.#reading = this.#read("stale")
      .catch(() => undefined) // Y2
      .finally(() => {
        this.#reading = undefined;
      });
  }

  async #read(consistency: "consistent" | "stale"): Promise<void> {
    const { clock } = this.ports;
    const readAt = momentNow(clock);
    this.#readAtMs = readAt.monotonicMs;
    this.#begun++;
    const ordinal = this.#begun;
    const { regions, bookies } = await readRegistry(this.ports.metadata, consistency);
    if (ordinal < this.#newest) return; // Y4
    this.#newest = ordinal;
    this.#bookies = bookies.map((item) => item.address);
    this.#states = {
      readAt,
      bookies: new Map<BookieId, BookieState>(bookies.map((item) => [item.address.id, item.state])),
      regions: new Map<Region, RegionState>(regions.map((item) => [item.region, item.state])),
    };
  }
}

export interface RegistryItems {
  /** Regions of which something was ever said. */
  readonly regions: readonly RegionItem[];
  readonly bookies: readonly BookieItem[];
}

/** All of the registry, in order of names. Throws what the store throws. */
export async function readRegistry(
  metadata: MetadataStore,
  consistency: "consistent" | "stale",
): Promise<RegistryItems> {
  const [regions, bookies] = await Promise.all([
    readAll(metadata, REGIONS_PARTITION, consistency),
    readAll(metadata, BOOKIES_PARTITION, consistency),
  ]);
  return {
    regions: regions.flatMap(({ item }) => (item.kind === "region" ? [item] : [])),
    bookies: bookies.flatMap(({ item }) => (item.kind === "bookie" ? [item] : [])),
  };
}

/** Makes a bookie known. One that is known keeps its state. */
export async function registerBookie(ports: UpdatePorts, address: BookieAddress): Promise<void> {
  const item: BookieItem = { kind: "bookie", address, state: "writable" };
  await updateItem(ports, bookieKey(address.id), (current) =>
    current === undefined ? { kind: "write", item } : { kind: "keep" },
  );
}

/** Says of a region what it is to be. Twice the same is once. */
export async function setRegionState(ports: UpdatePorts, region: Region, state: RegionState): Promise<void> {
  await updateItem(ports, regionKey(region), (current) => {
    if (current?.item.kind === "region" && current.item.state === state) return { kind: "keep" };
    return { kind: "write", item: { kind: "region", region, state } };
  });
}

/** Says of a bookie what it is to be. False: no such bookie is known. */
export async function setBookieState(ports: UpdatePorts, id: BookieId, state: BookieState): Promise<boolean> {
  const { stored } = await updateItem(ports, bookieKey(id), (current) => {
    const item = current?.item;
    if (item?.kind !== "bookie" || item.state === state) return { kind: "keep" };
    return { kind: "write", item: { ...item, state } };
  });
  return stored !== undefined;
}

async function readAll(
  metadata: MetadataStore,
  partition: string,
  consistency: "consistent" | "stale",
): Promise<Versioned[]> {
  const all: Versioned[] = [];
  let from: string | undefined;
  while (true) {
    const query = {
      partition,
      order: "ascending",
      limit: PAGE,
      ...(from === undefined ? {} : { from }),
    } as const;
    const page = await metadata.query(query, consistency);
    all.push(...page.filter(({ key }) => key.sort !== from));
    if (page.length < PAGE) return all;
    from = page.at(-1)?.key.sort;
  }
}

const PAGE = 500;
