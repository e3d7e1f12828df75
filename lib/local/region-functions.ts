/**
 * One region's `append` and `read` functions, as they would be two Lambda functions: each with its own ports,
 * caches and warm writers, sharing no memory with the other nor with another region.
 *
 * RF1 Functions live until their region is lost. What they still do afterwards ends at their gate: calls that
 *     began take their effect and lose their replies, new ones are refused.
 */
import { NodeDigest } from "../adapters/node/node-digest.ts";
import { SystemRandom } from "../adapters/node/system-random.ts";
import {
  type ComposedRegion,
  composeRegion,
  type ProcessPorts,
  processPorts,
} from "../protocol/compose-region.ts";
import type { Clock } from "../protocol/deadline.ts";
import { unavailable } from "../protocol/errors.ts";
import type { Region } from "../protocol/ids.ts";
import type { RegionLeases, Settler } from "../protocol/log/log-ports.ts";
import type { LeaseStore, MetadataStore, Trace } from "../protocol/ports.ts";
import type { Distances } from "./distances.ts";
import { gatedLeases, gatedMetadata } from "./gated-ports.ts";
import { metadataReplicas } from "./metadata-replicas.ts";
import { cloudAppends, type Peer } from "./region-appends.ts";
import { type LocalBookie, RegionBookies } from "./region-bookies.ts";
import type { Gate, RegionSwitch } from "./region-switch.ts";

/** What all regions' functions reach, each through its own gates. */
interface SharedWorld {
  readonly clock: Clock;
  readonly trace: Trace;
  readonly metadata: MetadataStore;
  readonly replicas: readonly RegionSwitch[];
  /** All there are; those that are added later are found here, too. */
  readonly bookies: readonly LocalBookie[];
  /** Each region's lease table. */
  readonly leases: (region: Region) => LeaseStore;
  /** Each region as the others call it. */
  readonly peer: (region: Region) => Peer | undefined;
  readonly distances: Distances;
}

/** `settler` lets the read function reach the append functions of regions. */
export function startFunctions(
  world: SharedWorld,
  home: RegionSwitch,
  settler: (outgoing: Gate) => Settler,
): ComposedRegion {
  const outgoing = lifelong(home);
  const { read } = composeRegion(portsOf(world, home, outgoing), { settler: () => settler(outgoing) });
  return { ...composeRegion(portsOf(world, home, outgoing)), read };
}

/** The region's own table, which is lost with it. */
function leasesOf(world: SharedWorld, { region }: RegionSwitch, outgoing: Gate): RegionLeases {
  return { store: gatedLeases(world.leases(region), outgoing), holder: `append ${region} ${process.pid}` };
}

/** RF1 */
function lifelong(home: RegionSwitch): Gate {
  const born = home.losses;
  return (what, call, signal) => {
    if (home.losses === born) return home.call(what, call, signal);
    const gone = `${what}: this function of region ${home.region} was lost with its region`;
    return Promise.reject(unavailable(gone, "none"));
  };
}

function portsOf(world: SharedWorld, home: RegionSwitch, outgoing: Gate): ProcessPorts {
  const { clock, trace, bookies, distances, replicas, metadata: store } = world;
  const replica = metadataReplicas({ store, replicas, region: home.region, clock, distances });
  return processPorts({
    clock,
    random: new SystemRandom(),
    digest: new NodeDigest(),
    trace,
    metadata: gatedMetadata(replica, outgoing),
    bookies: new RegionBookies({ bookies, from: home, outgoing, clock, distances }),
    bookiesAtStart: bookies.map((one) => one.address),
    leases: leasesOf(world, home, outgoing),
    regions: cloudAppends({ ...world, from: home.region, outgoing }),
    region: home.region,
  });
}
