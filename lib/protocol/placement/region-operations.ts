/** What operators say of regions and bookies, and what they see, on the registry's items. */
import { FencelineError, unavailable } from "../errors.ts";
import type { BookieId, Region } from "../ids.ts";
import type { BookieItem } from "../items.ts";
import type { BookieAddress, BookieState, RegionState } from "../place.ts";
import type { UpdatePorts } from "../update-item.ts";
import { regionNotFound } from "./known-region.ts";
import { readRegistry, setBookieState, setRegionState } from "./registry.ts";

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
    const { regions, bookies } = await this.#read();
    const states = new Map(regions.map((item) => [item.region, item.state]));
    const names = new Set([...states.keys(), ...bookies.map((item) => item.address.place.region)]);
    return [...names].sort().map((region) => ({
      region,
      state: states.get(region) ?? "accepting",
      bookies: bookies.filter((item) => item.address.place.region === region).map(describe),
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

  /** Reading comes before any write, so its failure has changed nothing. */
  async #read() {
    try {
      return await readRegistry(this.ports.metadata, "consistent");
    } catch (error) {
      throw unavailable("the registry of regions and bookies could not be read", "none", error);
    }
  }
}

function describe({ address, state }: BookieItem): BookieDescription {
  return { ...address, state };
}
