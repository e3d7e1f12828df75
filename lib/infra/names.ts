/**
 * Physical names. They follow from the topology alone, so that each region's stack can name what is in the
 * others without a reference to them: any of the stacks can be deployed by itself.
 */
import type { Topology, TopologyBookie } from "./topology/topology.ts";

const functionRoles = ["append", "read", "auditor"] as const;
/** Functions of which a region has one each. */
export type FunctionRole = (typeof functionRoles)[number];

export class Names {
  readonly #prefix: string;

  constructor({ namePrefix }: Topology) {
    this.#prefix = namePrefix;
  }

  get deployment(): string {
    return this.#prefix;
  }

  get metadataTable(): string {
    return `${this.#prefix}-metadata`;
  }

  get leaseTable(): string {
    return `${this.#prefix}-leases`;
  }

  get inboxTable(): string {
    return `${this.#prefix}-inbox`;
  }

  get topologyGuard(): string {
    return `${this.#prefix}-topology-guard`;
  }

  stack(part: string): string {
    return `${this.#prefix}-${part}`;
  }

  function(role: FunctionRole): string {
    return `${this.#prefix}-${role}`;
  }

  bookieFunction({ name }: TopologyBookie): string {
    return `${this.#prefix}-bookie-${name}`;
  }

  /** The bookie's other function, which only reads. No longer than the first: environments are small. */
  readerFunction({ name }: TopologyBookie): string {
    return `${this.#prefix}-reader-${name}`;
  }

  /** `region.name~storage`. */
  bookieId(region: string, { name, storage }: TopologyBookie): string {
    return `${region}.${name}~${storage}`;
  }

  /** Buckets of all accounts share one space of names, of 63 characters; these have 60 at most. */
  bucket(account: string, region: string, { name, storage }: TopologyBookie): string {
    return `${this.#prefix}-${account}-${region}-${name}-${storage}`;
  }

  /** Roles are not regional, so their names say the region. */
  role(region: string, what: string): string {
    return `${this.#prefix}-${region}-${what}`;
  }
}
