/** What every ledger operation is given, from the most general to the most specific. */
import type { Clock } from "../clock.ts";
import type { Region } from "../ids.ts";
import type { Placement } from "../placement/placement.ts";
import type { Bookies, Digest, MetadataStore, Topology, Trace } from "../ports.ts";
import type { Random } from "../random.ts";
import type { BookieHealths } from "../reads/bookie-health.ts";
import type { ReadPolicy } from "../reads/read-policy.ts";

export interface LedgerPorts {
  readonly clock: Clock;
  readonly random: Random;
  readonly digest: Digest;
  readonly trace: Trace;
  readonly metadata: MetadataStore;
  readonly bookies: Bookies;
  readonly topology: Topology;
  readonly placement: Placement;
  /** What this process knows about reading: order, hedges, failover and their budgets. */
  readonly reads: ReadPolicy;
  /** How bookies do, as this process sees it; behind `reads` as well. */
  readonly health: BookieHealths;
  /** Where this process runs. */
  readonly region: Region;
}
