/**
 * The registry of regions and bookies as one process knows it: a copy of the metadata store's items. Its age
 * counts from before its reading began, by both clocks, so a process that was frozen has an old copy.
 *
 * RG1 `bookies` and `states` answer at once, from the last copy that was read.
 * RG2 A copy that is older than the refresh interval is read anew beside the requests of a process at work,
 *     so that its requests never wait.
 * RG3 A request that finds the copy older than ten seconds waits for a reading, but not long. So operators'
 *     words reach a process that was frozen between requests with its first request.
 * RG4 A copy never takes the place of one whose reading began later.
 * RG5 All requests that wait at one time wait for one reading. A reading that failed, or is late, leaves the
 *     old copy in use, and no request waits again before the refresh interval has passed. Where there is no
 *     copy at all, the next request begins another reading.
 * RG6 Nothing about safety rests on the age of a copy. It decides where new copies go; what moves logs judges
 *     its age by itself.
 */
import { Age, type Clock, Deadline } from "../deadline.ts";
import { FencelineError, unavailable } from "../errors.ts";
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
import type { MetadataStore, Topology, Trace, Versioned } from "../ports.ts";
import type { BookieAddress, BookieState, RegionState, TopologyStates } from "../replication.ts";
import { changeItem, type UpdatePorts, updateItem } from "../update-item.ts";

interface Reading {
  readonly age: Age;
  readonly done: Promise<void>;
}

export class Registry implements Topology {
  #bookies: readonly BookieAddress[];
  #states: TopologyStates = { bookies: new Map(), regions: new Map() };
  #begun = 0;
  #newest = 0;
  /** The last reading that was begun, until it has succeeded. */
  #reading: (Reading & { hasFailed: boolean }) | undefined;

  /** `initial`: the bookies that the process knew when it started, used until the first copy is read. */
  constructor(
    private readonly ports: {
      readonly metadata: MetadataStore;
      readonly clock: Clock;
      readonly trace?: Trace;
    },
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
    await this.#read("consistent", new Age(this.ports.clock));
  }

  /**
   * Before a request uses the copy, and when a process starts. Undefined: the copy may be used at once.
   * Otherwise resolves when there is a newer copy, or the old one is to be used all the same (RG3, RG5).
   */
  whenCurrent(): Promise<void> | undefined {
    const { clock } = this.ports;
    this.#refreshIfOld();
    if (this.#states.readAt?.isWithin(limits.registryAgeMaxMs) === true) return undefined;
    if (this.#newest === 0 && this.#reading?.hasFailed === true) this.#refresh();
    const reading = this.#reading;
    const leftMs = reading === undefined ? 0 : reading.age.leftMs(limits.registryWaitMs);
    if (reading === undefined || reading.hasFailed || leftMs === 0) return undefined;
    const late = () => unavailable("the registry is not read yet", "none");
    return new Deadline(clock, leftMs, late).ask(() => reading.done).catch(() => {});
  }

  /** RG2. A reading that was begun before a freeze counts as little as a copy that was. */
  #refreshIfOld(): void {
    const isYoung = (age: Age | undefined) => age?.isWithin(limits.registryRefreshMs) === true;
    if (!isYoung(this.#states.readAt) && !isYoung(this.#reading?.age)) this.#refresh();
  }

  #refresh(): void {
    const age = new Age(this.ports.clock);
    const reading = { age, hasFailed: false, done: this.#read("stale", age) };
    this.#reading = reading;
    reading.done.catch((error) => {
      reading.hasFailed = true;
      this.ports.trace?.emit({ event: "registry-not-read", reason: String(error) });
    });
  }

  async #read(consistency: "consistent" | "stale", readAt: Age): Promise<void> {
    this.#begun++;
    const ordinal = this.#begun;
    const { regions, bookies } = await readRegistry(this.ports.metadata, consistency);
    if (ordinal < this.#newest) return; // RG4
    this.#newest = ordinal;
    this.#bookies = bookies.map((item) => item.address);
    this.#states = {
      readAt,
      bookies: new Map<BookieId, BookieState>(bookies.map((item) => [item.address.id, item.state])),
      regions: new Map<Region, RegionState>(regions.map((item) => [item.region, item.state])),
    };
  }
}

interface RegistryItems {
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
  await updateItem(ports, bookieKey(address.id), (current) => (current === undefined ? item : undefined));
}

/** Says of a region what it is to be. Twice the same is once. */
export async function setRegionState(ports: UpdatePorts, region: Region, state: RegionState): Promise<void> {
  await updateItem(ports, regionKey(region), (current) => {
    const isSaid = current?.item.kind === "region" && current.item.state === state;
    return isSaid ? undefined : { kind: "region", region, state };
  });
}

/** Says of a bookie what it is to be. False: no such bookie is known. */
export async function setBookieState(ports: UpdatePorts, id: BookieId, state: BookieState): Promise<boolean> {
  const { stored } = await changeItem(ports, bookieKey(id), "bookie", (item) =>
    item.state === state ? undefined : { ...item, state },
  );
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

// ---------- What operators say of regions and bookies, and what they see

export interface RegionDescription {
  readonly region: Region;
  readonly state: RegionState;
  readonly bookies: readonly BookieDescription[];
}

export interface BookieDescription extends BookieAddress {
  readonly state: BookieState;
}

/**
 * What operators say of regions and bookies. It moves new copies only; what is stored stays where it is.
 * Functions at work know within ten seconds, one that was idle asks with its first request. Each change may
 * be made twice.
 */
export interface RegionOperations {
  /** Every known region in order of name, read consistently. */
  regions(): Promise<readonly RegionDescription[]>;
  /** Throws `region_not_found`. */
  setRegionState(region: Region, state: RegionState): Promise<RegionDescription>;
  /** Throws `region_not_found`, or `bookie_not_found` if the region has no such bookie. */
  setBookieState(region: Region, bookie: BookieId, state: BookieState): Promise<BookieDescription>;
}

export class RegisteredRegions implements RegionOperations {
  constructor(private readonly ports: UpdatePorts) {}

  async regions(): Promise<readonly RegionDescription[]> {
    // Reading comes before any write, so its failure has changed nothing.
    const { regions, bookies } = await readRegistry(this.ports.metadata, "consistent").catch((error) => {
      throw unavailable("the registry of regions and bookies could not be read", "none", error);
    });
    const states = new Map(regions.map((item) => [item.region, item.state]));
    const names = new Set([...states.keys(), ...bookies.map((item) => item.address.place.region)]);
    return [...names].sort().map((region) => ({
      region,
      state: states.get(region) ?? "accepting",
      bookies: bookies
        .filter(({ address }) => address.place.region === region)
        .map(({ address, state }) => ({ ...address, state })),
    }));
  }

  /** Only of a region that is known: a misspelt name would otherwise be written and change nothing. */
  async setRegionState(region: Region, state: RegionState): Promise<RegionDescription> {
    const found = await this.#find(region);
    await setRegionState(this.ports, region, state);
    return { ...found, state };
  }

  async setBookieState(region: Region, bookie: BookieId, state: BookieState): Promise<BookieDescription> {
    const { bookies } = await this.#find(region);
    const found = bookies.find(({ id }) => id === bookie);
    if (found === undefined || !(await setBookieState(this.ports, bookie, state))) {
      const names = bookies.map(({ id }) => id).join(", ") || "none";
      throw new FencelineError("bookie_not_found", {
        message: `region ${region} has no bookie ${JSON.stringify(bookie)}; it has ${names}`,
      });
    }
    return { ...found, state };
  }

  async #find(region: Region): Promise<RegionDescription> {
    const all = await this.regions();
    const found = all.find((one) => one.region === region);
    if (found !== undefined) return found;
    throw regionNotFound(
      region,
      all.map((one) => one.region),
    );
  }
}

// ---------- Which regions there are

/** Regions that have bookies, in order of name. */
export function knownRegions(topology: Topology): readonly Region[] {
  return [...new Set(topology.bookies().map(({ place }) => place.region))].sort();
}

/** Throws `region_not_found`. */
export function checkRegion(topology: Topology, region: Region): void {
  const known = knownRegions(topology);
  if (!known.includes(region)) throw regionNotFound(region, known);
}

function regionNotFound(region: Region, known: readonly Region[]): FencelineError {
  const names = known.join(", ") || "none";
  return new FencelineError("region_not_found", {
    message: `there is no region ${JSON.stringify(region)}; known regions: ${names}`,
    details: { regions: known },
  });
}
