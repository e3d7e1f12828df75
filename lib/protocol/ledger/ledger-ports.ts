/** What every ledger operation is given, from the most general to the most specific. */
import type { Region } from "../ids.ts";
import type { Placement } from "../placement/placement.ts";
import type { Bookies, Clock, Digest, MetadataStore, Random, Topology, Trace } from "../ports.ts";
import type { Suspects } from "../reads/suspects.ts";

export interface LedgerPorts {
  readonly clock: Clock;
  readonly random: Random;
  readonly digest: Digest;
  readonly trace: Trace;
  readonly metadata: MetadataStore;
  readonly bookies: Bookies;
  readonly topology: Topology;
  readonly placement: Placement;
  /** Bookies that failed this process lately: asked last, chosen last. */
  readonly suspects: Suspects;
  /** Where this process runs. */
  readonly region: Region;
}
