/** The settings of a region's functions: the contract in lib/environment.ts, filled in from the topology. */
import {
  type BookieAccess,
  type BookieSettings,
  type LogLevel,
  logLevels,
  type RegionSettings,
} from "../environment.ts";
import type { Names } from "./names.ts";
import { metadataRegions } from "./topology/metadata-regions.ts";
import { nearestFirst } from "./topology/region-sets.ts";
import { defaultReplication } from "./topology/replication.ts";
import type { Topology, TopologyBookie } from "./topology/topology.ts";

/** `access`: which of each bookie's functions the settings name. */
export function regionSettings(
  topology: Topology,
  names: Names,
  region: string,
  access: BookieAccess,
): RegionSettings {
  const { metadata } = topology;
  const replicas = nearestFirst(region, metadataRegions(topology));
  return {
    deployment: names.deployment,
    logLevel: logLevelOf(topology),
    regions: topology.regions.map(({ name }) => ({ region: name, appendFunction: names.function("append") })),
    bookies: topology.regions.flatMap(({ name, bookies }) =>
      bookies.map((bookie) => ({
        id: names.bookieId(name, bookie),
        region: name,
        rack: bookie.rack,
        functionName: access === "read" ? names.readerFunction(bookie) : names.bookieFunction(bookie),
      })),
    ),
    metadata: {
      table: names.metadataTable,
      mode: metadata.mode,
      replicas,
      ...(metadata.mode === "home" ? { homeRegion: metadata.home } : {}),
      ...(metadata.mode === "strong" && metadata.witness !== undefined
        ? { witnessRegion: metadata.witness }
        : {}),
    },
    leaseTable: names.leaseTable,
    inboxTable: names.inboxTable,
    defaultReplication: defaultReplication(topology),
    reads: topology.reads,
    allowedOrigins: topology.allowedOrigins,
  };
}

/** Of the `read` function: the readers of bookies, and the restored table if metadata is read from one. */
export function readSettings(topology: Topology, names: Names, region: string): RegionSettings {
  const settings = regionSettings(topology, names, region, "read");
  const { restored } = topology;
  if (restored === undefined) return settings;
  const { mode, homeRegion } = settings.metadata;
  return {
    ...settings,
    metadata: {
      table: restored.table,
      mode,
      ...(homeRegion === undefined ? {} : { homeRegion }),
      replicas: [restored.region],
    },
  };
}

export function bookieSettings(
  topology: Topology,
  names: Names,
  bookie: {
    readonly region: string;
    readonly bookie: TopologyBookie;
    readonly bucket: string;
    readonly access: BookieAccess;
  },
): BookieSettings {
  return {
    deployment: names.deployment,
    logLevel: logLevelOf(topology),
    bookieId: names.bookieId(bookie.region, bookie.bookie),
    bucket: bookie.bucket,
    access: bookie.access,
    storageClass: topology.storageClass,
  };
}

function logLevelOf({ logLevel }: Topology): LogLevel {
  const found = logLevels.find((one) => one.toLowerCase() === logLevel);
  if (found === undefined) throw new RangeError(`no log level ${logLevel}`);
  return found;
}
