/**
 * What a region's functions are composed of, over the services of AWS: the same parts as on a laptop
 * (lib/local/region-functions.ts), each function with its own clients, caches and warm writers. Made once per
 * process, outside of any call.
 */
import {
  type AwsClients,
  awsClients,
  BOOKIE_WAITS,
  type ClientWaits,
  FORWARD_WAITS,
  HOME_WAITS,
  LEASE_WAITS,
  METADATA_WAITS,
} from "../adapters/aws/aws-clients.ts";
import { CheckedDeployment } from "../adapters/aws/checked-deployment.ts";
import { DynamoDbLeaseStore } from "../adapters/aws/dynamodb-lease-store.ts";
import { DynamoDbMetadataStore } from "../adapters/aws/dynamodb-metadata-store.ts";
import { DynamoDbMetadataTable } from "../adapters/aws/dynamodb-metadata-table.ts";
import { LambdaAppends } from "../adapters/aws/lambda-appends.ts";
import { LambdaBookies } from "../adapters/aws/lambda-bookies.ts";
import type { LambdaFunction } from "../adapters/aws/lambda-call.ts";
import { NodeDigest } from "../adapters/node/node-digest.ts";
import { SystemClock } from "../adapters/node/system-clock.ts";
import { SystemRandom } from "../adapters/node/system-random.ts";
import type { RegionSettings } from "../environment.ts";
import { boundedMetadata } from "../protocol/bounded-metadata.ts";
import { bookieId, type Region, region as regionOf } from "../protocol/ids.ts";
import type { DeploymentItem, LogConfig } from "../protocol/items.ts";
import type { LedgerPorts } from "../protocol/ledger/ledger-ports.ts";
import { limits } from "../protocol/limits.ts";
import type { BookieAddress } from "../protocol/place.ts";
import { Quarantine } from "../protocol/placement/quarantine.ts";
import { regionAware } from "../protocol/placement/region-aware.ts";
import { Registry } from "../protocol/placement/registry.ts";
import type { LeaseStore, MetadataStore, Topology } from "../protocol/ports.ts";
import { ReadPolicy } from "../protocol/reads/read-policy.ts";
import { FunctionTrace } from "./function-trace.ts";

export interface RegionWorld {
  readonly settings: RegionSettings;
  readonly region: Region;
  readonly trace: FunctionTrace;
  readonly ports: LedgerPorts;
  /** Behind the topology of the ports. */
  readonly registry: Pick<Registry, "whenCurrent" | "load">;
  readonly leases: LeaseStore;
  readonly appends: LambdaAppends;
  /** Bookies by region, as the deployment has them. */
  readonly bookies: readonly BookieAddress[];
  /** Each replica by itself, for what is said of their health. */
  readonly replicas: readonly { readonly region: Region; readonly store: MetadataStore }[];
  readonly defaultConfig: LogConfig;
}

/** `stage`: which of the region's functions this is. */
export function regionWorld(
  settings: RegionSettings,
  regionName: string,
  stage: string,
  clients: AwsClients = awsClients,
): RegionWorld {
  const region = regionOf(regionName);
  const clock = new SystemClock();
  const random = new SystemRandom();
  const trace = new FunctionTrace(settings, stage, region);
  const replicas = metadataReplicas(settings, region, { clients, clock, random });
  const metadata = boundedMetadata(metadataOf(settings, replicas, { clock, random }), clock);
  const bookies = settings.bookies.map((one): BookieAddress => {
    return { id: bookieId(one.id), place: { region: regionOf(one.region), rack: one.rack } };
  });
  const registry = new Registry({ metadata, clock, trace }, bookies);
  const ports: LedgerPorts = {
    clock,
    random,
    digest: new NodeDigest(),
    trace,
    metadata,
    bookies: lambdaBookies(settings, clients, trace),
    topology: reachable(registry, bookies),
    placement: regionAware,
    reads: new ReadPolicy({ clock, random, place: { region } }),
    quarantine: new Quarantine({ clock, random }),
    region,
  };
  const leaseTable = { client: clients.dynamoDb(region, LEASE_WAITS), name: settings.leaseTable, region };
  return {
    settings,
    region,
    trace,
    ports,
    registry,
    leases: new DynamoDbLeaseStore({ ...leaseTable, clock, random }),
    appends: lambdaAppends(settings, clients, trace),
    bookies,
    replicas,
    defaultConfig: {
      replication: settings.defaultReplication,
      digest: "crc32",
      segmentBytesMax: limits.segmentBytesMaxDefault,
    },
  };
}

type Chance = Pick<LedgerPorts, "clock" | "random">;

/** The function's own region first, then as the deployment prefers. */
function metadataReplicas(
  { metadata }: RegionSettings,
  own: Region,
  { clients, ...chance }: Chance & { readonly clients: AwsClients },
) {
  const waits = metadata.mode === "home" ? HOME_WAITS : METADATA_WAITS;
  const named = new Set([...(metadata.homeRegion === undefined ? [] : [metadata.homeRegion])]);
  const regions = [...new Set([...metadata.replicas, ...named])];
  const nearestFirst = [...regions.filter((one) => one === own), ...regions.filter((one) => one !== own)];
  return nearestFirst.map((name) => {
    const table = { client: clients.dynamoDb(name, waits), name: metadata.table, region: name };
    return { region: regionOf(name), store: new DynamoDbMetadataTable({ ...table, ...chance }) };
  });
}

function metadataOf({ metadata }: RegionSettings, replicas: RegionWorld["replicas"], chance: Chance) {
  const { mode, homeRegion } = metadata;
  const home = homeRegion === undefined ? undefined : regionOf(homeRegion);
  const asked = home === undefined ? ({ kind: "strong" } as const) : ({ kind: "home", home } as const);
  const wanted: DeploymentItem = {
    kind: "deployment",
    metadataMode: mode,
    ...(home === undefined ? {} : { homeRegion: home }),
  };
  const store = new DynamoDbMetadataStore({ replicas, mode: asked, clock: chance.clock });
  return new CheckedDeployment(store, wanted, chance.random);
}

function lambdaBookies({ bookies }: RegionSettings, aws: AwsClients, trace: FunctionTrace): LambdaBookies {
  const reach = functionsBy(aws, BOOKIE_WAITS, trace);
  const known = new Map(bookies.map((one) => [bookieId(one.id), reach(one.region, one.functionName)]));
  return new LambdaBookies((id) => known.get(id));
}

function lambdaAppends({ regions }: RegionSettings, aws: AwsClients, trace: FunctionTrace): LambdaAppends {
  const reach = functionsBy(aws, FORWARD_WAITS, trace);
  const known = new Map(regions.map((one) => [regionOf(one.region), reach(one.region, one.appendFunction)]));
  return new LambdaAppends((region) => known.get(region));
}

/** One client per region: a connection to another region costs two to three round trips. */
function functionsBy(
  aws: AwsClients,
  waits: ClientWaits,
  trace: FunctionTrace,
): (region: string, name: string) => LambdaFunction {
  const clients = new Map<string, LambdaFunction["client"]>();
  return (region, name) => {
    const client = clients.get(region) ?? aws.lambda(region, waits);
    clients.set(region, client);
    return { client, name, region, onDenied: (denied) => trace.denied(denied) };
  };
}

/**
 * What is registered, less what this function was not told of: while a region is being added its bookies are
 * registered before every function can reach them.
 */
function reachable(registry: Registry, known: readonly BookieAddress[]): Topology {
  const ids = new Set(known.map((one) => one.id));
  return {
    bookies: () => registry.bookies().filter((one) => ids.has(one.id)),
    states: () => registry.states(),
    whenCurrent: () => registry.whenCurrent(),
  };
}
