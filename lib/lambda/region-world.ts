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
import { LambdaBookies } from "../adapters/aws/lambda-bookie.ts";
import type { LambdaFunction } from "../adapters/aws/lambda-call.ts";
import { NodeDigest } from "../adapters/node/node-digest.ts";
import { SystemClock } from "../adapters/node/system-clock.ts";
import { SystemRandom } from "../adapters/node/system-random.ts";
import type { RegionSettings } from "../environment.ts";
import { type ProcessPorts, processPorts } from "../protocol/compose-region.ts";
import type { Clock } from "../protocol/deadline.ts";
import { bookieId, type Region, region as regionOf } from "../protocol/ids.ts";
import type { DeploymentItem, LogConfig } from "../protocol/items.ts";
import { limits } from "../protocol/limits.ts";
import type { RegionAppends } from "../protocol/log/log-ports.ts";
import type { MetadataStore, Topology } from "../protocol/ports.ts";
import type { Random } from "../protocol/random.ts";
import type { BookieAddress } from "../protocol/replication.ts";
import { FunctionTrace } from "./function-trace.ts";

export interface RegionWorld {
  readonly settings: RegionSettings;
  readonly region: Region;
  readonly trace: FunctionTrace;
  readonly ports: ProcessPorts;
  /** Behind what the ports have of other regions, where it is counted. */
  readonly appends: LambdaAppends;
  /** Bookies by region, as the deployment has them. */
  readonly bookies: readonly BookieAddress[];
  /** Each replica by itself, for what is said of their health. */
  readonly replicas: readonly { readonly region: Region; readonly store: MetadataStore }[];
  readonly defaultConfig: LogConfig;
}

/** Which of the deployment's functions this process is. */
interface FunctionIdentity {
  readonly region: string;
  readonly stage: string;
  /** Names the process in leases, for people. */
  readonly instance?: string;
}

export function regionWorld(
  settings: RegionSettings,
  { region: regionName, stage, instance = "local" }: FunctionIdentity,
  clients: AwsClients = awsClients,
): RegionWorld {
  const region = regionOf(regionName);
  const clock = new SystemClock();
  const random = new SystemRandom();
  const trace = new FunctionTrace(settings, stage, region);
  const replicas = metadataReplicas(settings, region, { clients, clock, random });
  const bookies = settings.bookies.map((one): BookieAddress => {
    return { id: bookieId(one.id), place: { region: regionOf(one.region), rack: one.rack } };
  });
  const leaseTable = { client: clients.dynamoDb(region, LEASE_WAITS), name: settings.leaseTable, region };
  const appends = lambdaAppends(settings, clients, trace);
  return {
    settings,
    region,
    trace,
    ports: processPorts({
      clock,
      random,
      digest: new NodeDigest(),
      trace,
      metadata: metadataOf(settings, replicas, { clock, random }),
      bookies: lambdaBookies(settings, clients, trace),
      bookiesAtStart: bookies,
      topology: (registered) => reachable(registered, bookies),
      leases: {
        store: new DynamoDbLeaseStore({ ...leaseTable, clock, random }),
        holder: `${stage} ${region} ${instance}`,
      },
      regions: countedAppends(appends, trace),
      region,
    }),
    appends,
    bookies,
    replicas,
    defaultConfig: {
      replication: settings.defaultReplication,
      digest: "crc32",
      segmentBytesMax: limits.segmentBytesMaxDefault,
    },
  };
}

interface Chance {
  readonly clock: Clock;
  readonly random: Random;
}

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

/**
 * What a region's functions ask of other regions', counted where it leaves. Forwards carry records, and each
 * is a caller's append to a log that another region owns. Owner requests carry none: a tail to settle for a
 * strong read, or a log that changes hands. `canOwn` is a look at the other side's health on the way to a
 * takeover, and is not counted: nothing is done there.
 */
export function countedAppends(appends: LambdaAppends, trace: FunctionTrace): RegionAppends {
  return {
    append: (region, request) => {
      trace.count("forwards");
      return appends.append(region, request);
    },
    canOwn: (region, log) => appends.canOwn(region, log),
    ask: (region, request) => {
      trace.count("ownerRequests");
      return appends.ask(region, request);
    },
  };
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
 * What is registered, less what this function's environment does not name: while a region is being added
 * its bookies are registered before every function can reach them.
 */
function reachable(registered: Required<Topology>, known: readonly BookieAddress[]): Topology {
  const ids = new Set(known.map((one) => one.id));
  return {
    bookies: () => registered.bookies().filter((one) => ids.has(one.id)),
    states: () => registered.states(),
    whenCurrent: () => registered.whenCurrent(),
  };
}
