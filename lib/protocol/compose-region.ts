/**
 * What the processes of a region are composed of: the one place that puts the parts of the protocol together.
 * A composition root hands over the ports of its world, and serves what comes back.
 */

import { LogAppends } from "./log/log-appends.ts";
import type { LogPorts, Settler } from "./log/log-ports.ts";
import { LogReads } from "./log/log-reads.ts";
import type { ReadOperations } from "./log/operations.ts";
import { Auditor } from "./log/upkeep/audit.ts";
import type { AskAdmission } from "./placement/admission.ts";
import type { Placement } from "./placement/placement.ts";
import { regionAware } from "./placement/region-aware.ts";
import { type RegionOperations, RegisteredRegions, Registry } from "./placement/registry.ts";
import type { Topology } from "./ports.ts";
import { BookieHealths } from "./reads/bookie-health.ts";
import { ReadPolicy } from "./reads/read-policy.ts";
import type { BookieAddress } from "./replication.ts";
import { boundedMetadata } from "./update-item.ts";

/** What only the world can give to a process of a region. `metadata` may hang: its calls are bounded here. */
export interface ProcessWorld extends Omit<LogPorts, "topology" | "placement" | "reads" | "health"> {
  /** The bookies that the process uses until it has read the registry. */
  readonly bookiesAtStart: readonly BookieAddress[];
  /** Which of the registered bookies the process may use; absent: all. */
  readonly topology?: (registry: Registry) => Topology;
  /** Absent: the shipped policy. */
  readonly placement?: Placement;
}

export interface ProcessPorts extends LogPorts {
  /** Behind `topology`. */
  readonly registry: Registry;
}

/** Adds what each process has of its own, once: what it knows of the registry, of reading and of bookies. */
export function processPorts(world: ProcessWorld): ProcessPorts {
  const { bookiesAtStart, topology = (all) => all, placement = regionAware, ...given } = world;
  const { clock, random, region, trace } = given;
  const metadata = boundedMetadata(given.metadata, clock);
  const registry = new Registry({ metadata, clock, trace }, bookiesAtStart);
  const health = new BookieHealths({ clock, random });
  return {
    ...given,
    metadata,
    registry,
    topology: topology(registry),
    placement,
    reads: new ReadPolicy({ clock, random, place: { region }, health }),
    health,
  };
}

export interface RegionFields {
  /** How tails are settled for readers; absent: by this process itself, as `own` does. */
  readonly settler?: (own: LogAppends) => Settler;
  /** Absent: the shipped rule, which refuses some quorum sizes that the protocol is safe with. */
  readonly askAdmission?: AskAdmission;
}

export interface ComposedRegion {
  readonly append: LogAppends;
  readonly read: ReadOperations;
  readonly auditor: Auditor;
  readonly operators: RegionOperations;
}

/** What a region does, on warm writers and caches of its own. A process serves all of it or a part. */
export function composeRegion(ports: LogPorts, fields: RegionFields = {}): ComposedRegion {
  const append = new LogAppends(ports, fields.askAdmission);
  const { settler = (own): Settler => ({ settle: (_, log) => own.settle(log) }) } = fields;
  return {
    append,
    read: new LogReads(ports, settler(append)),
    auditor: new Auditor(ports, (log, to) => append.transferOwner(log, to)),
    operators: new RegisteredRegions(ports),
  };
}
