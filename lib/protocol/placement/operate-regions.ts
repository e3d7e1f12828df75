/** What operators say of regions and bookies, on the registry's items: `RegionOperations`. */
import { FencelineError, unavailable } from "../errors.ts";
import type { BookieId, Region } from "../ids.ts";
import type { BookieItem } from "../items.ts";
import type { BookieState, RegionState } from "../place.ts";
import type { UpdatePorts } from "../update-item.ts";
import type { BookieDescription, RegionDescription, RegionOperations } from "./region-operations.ts";
import { readRegistry, setBookieState, setRegionState } from "./registry.ts";

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
    const names = all.map((one) => one.region).join(", ") || "none";
    throw new FencelineError("region_not_found", {
      message: `there is no region ${JSON.stringify(region)}; known regions: ${names}`,
    });
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
