/**
 * What a deployed function knows of its deployment: the one contract between the infrastructure, which
 * writes these variables, and the functions, which read them. Nothing else is read from the environment, save
 * what Lambda and the SDK define themselves (AWS_REGION, AWS_ENDPOINT_URL and the like).
 *
 * EV1 What is written here is read here: `…Variables` and `read…` are each other's inverse. Its custom
 *     resources: one whose ServiceToken is a bookie function marks that bookie's new bucket; one whose
 *     ServiceToken is an `auditor` function then registers its region's bookies. Both act on Create alone.
 * EV2 A function with a variable that is missing or wrong does not start; the error names it and what is
 *     allowed.
 */
import {
  EnvironmentError,
  type GivenVariables,
  isName,
  object,
  oneOf,
  rows,
  text,
  wrong,
} from "./given-variables.ts";

export const logLevels = ["DEBUG", "INFO", "WARN", "ERROR"] as const;
export type LogLevel = (typeof logLevels)[number];

/** What a bookie function serves: every call, or those that change nothing. */
export const bookieAccesses = ["write", "read"] as const;
export type BookieAccess = (typeof bookieAccesses)[number];

/** Attribute names of the tables' keys; all are strings. The lease table has a partition key alone. */
export const tableKeys = { partition: "pk", sort: "sk" } as const;

/** Of the inbox table: when a row may go, in seconds. */
export const inboxExpiry = "expires";

/** How API Gateway takes a function's answers: whole, or as they come. */
export const responseTransfers = ["buffered", "stream"] as const;
export type ResponseTransfer = (typeof responseTransfers)[number];

/** How S3 keeps entries; lib/infra/topology/storage-class.ts says why no other. */
export const storageClasses = ["STANDARD", "INTELLIGENT_TIERING", "STANDARD_IA"] as const;
export type StorageClass = (typeof storageClasses)[number];

/** One bookie, its bucket's identity being part of its id: `region.name~storage` (rule 21). */
export interface BookieEntry {
  readonly id: string;
  readonly region: string;
  /** Availability zone id, or any other name of what fails together. */
  readonly rack: string;
  /** Name of its Lambda function in its region: the one that a function with these settings may call. */
  readonly functionName: string;
}

interface RegionEntry {
  readonly region: string;
  /** Name of the region's `append` function. */
  readonly appendFunction: string;
}

interface MetadataEntry {
  readonly table: string;
  readonly mode: "strong" | "home";
  /** In mode `home`, and only there. */
  readonly homeRegion?: string;
  /**
   * Regions in which the table can be read, the preferred ones first; the function's own goes first anyway.
   * Only regions that really hold the table: an emulator has it in the home alone.
   */
  readonly replicas: readonly string[];
  /** Mode `strong` with two replicas: the third vote. */
  readonly witnessRegion?: string;
}

/** Quorum sizes of logs whose creator chooses none. */
interface ReplicationEntry {
  readonly ensembleSize: number;
  readonly writeQuorum: number;
  readonly ackQuorum: number;
  readonly minRegions: number;
}

/** Of every function. */
export interface CommonSettings {
  /** Names the deployment in logs and metrics. */
  readonly deployment: string;
  readonly logLevel: LogLevel;
}

/** Of the `append`, `read` and `auditor` functions. */
export interface RegionSettings extends CommonSettings {
  readonly regions: readonly RegionEntry[];
  readonly bookies: readonly BookieEntry[];
  readonly metadata: MetadataEntry;
  /** The lease table of the function's own region. */
  readonly leaseTable: string;
  /** The inbox table of the function's own region. */
  readonly inboxTable: string;
  readonly defaultReplication: ReplicationEntry;
  /** Of the `read` function's answers; those of the others are small. */
  readonly reads: ResponseTransfer;
  /** Origins whose pages are served; the gateway answers their preflights. */
  readonly allowedOrigins: readonly string[];
}

/** Of a bookie function. */
export interface BookieSettings extends CommonSettings {
  readonly bookieId: string;
  /** The bucket that holds its slots, and nothing else. */
  readonly bucket: string;
  readonly access: BookieAccess;
  /** Of entries that are written from now on; those that are there stay as they are. */
  readonly storageClass: StorageClass;
}

/** Variables by name, as Lambda takes them. All of a function's together may have 4 KB. */
type Variables = Record<string, string>;

const names = {
  deployment: "FENCELINE_DEPLOYMENT",
  logLevel: "FENCELINE_LOG_LEVEL",
  regions: "FENCELINE_REGIONS",
  bookies: "FENCELINE_BOOKIES",
  metadata: "FENCELINE_METADATA",
  leaseTable: "FENCELINE_LEASE_TABLE",
  inboxTable: "FENCELINE_INBOX_TABLE",
  defaultReplication: "FENCELINE_DEFAULT_REPLICATION",
  reads: "FENCELINE_READS",
  allowedOrigins: "FENCELINE_ALLOWED_ORIGINS",
  bookieId: "FENCELINE_BOOKIE_ID",
  bucket: "FENCELINE_BUCKET",
  access: "FENCELINE_ACCESS",
  storageClass: "FENCELINE_STORAGE_CLASS",
} as const;

export function regionVariables(settings: RegionSettings): Variables {
  return checked(readRegionSettings, {
    ...commonVariables(settings),
    [names.regions]: JSON.stringify(settings.regions.map((one) => [one.region, one.appendFunction])),
    [names.bookies]: JSON.stringify(
      settings.bookies.map((one) => [one.id, one.region, one.rack, one.functionName]),
    ),
    [names.metadata]: JSON.stringify(settings.metadata),
    [names.leaseTable]: settings.leaseTable,
    [names.inboxTable]: settings.inboxTable,
    [names.defaultReplication]: JSON.stringify(settings.defaultReplication),
    [names.reads]: settings.reads,
    // Absent if there are none, as in most deployments: all variables together have 4 KB.
    ...(settings.allowedOrigins.length === 0
      ? {}
      : { [names.allowedOrigins]: settings.allowedOrigins.join(" ") }),
  });
}

export function bookieVariables(settings: BookieSettings): Variables {
  return checked(readBookieSettings, {
    ...commonVariables(settings),
    [names.bookieId]: settings.bookieId,
    [names.bucket]: settings.bucket,
    [names.access]: settings.access,
    [names.storageClass]: settings.storageClass,
  });
}

/** Throws EnvironmentError. */
export function readRegionSettings(given: GivenVariables): RegionSettings {
  const regions = rows(given, names.regions, 2);
  const bookies = rows(given, names.bookies, 4);
  for (const [id = ""] of bookies) storageOf(id);
  return {
    ...readCommon(given),
    regions: regions.map(([region = "", appendFunction = ""]) => ({ region, appendFunction })),
    bookies: bookies.map(([id = "", region = "", rack = "", functionName = ""]) => {
      return { id, region, rack, functionName };
    }),
    metadata: readMetadata(given),
    leaseTable: text(given, names.leaseTable),
    inboxTable: text(given, names.inboxTable),
    defaultReplication: readReplication(given),
    reads: oneOf(given, names.reads, responseTransfers),
    allowedOrigins: given[names.allowedOrigins]?.split(" ") ?? [],
  };
}

/** Throws EnvironmentError. */
export function readBookieSettings(given: GivenVariables): BookieSettings {
  const bookieId = text(given, names.bookieId);
  storageOf(bookieId);
  return {
    ...readCommon(given),
    bookieId,
    bucket: text(given, names.bucket),
    access: oneOf(given, names.access, bookieAccesses),
    storageClass: oneOf(given, names.storageClass, storageClasses),
  };
}

/** The identity of the storage that a bookie's id names (rule 21). Throws EnvironmentError. */
export function storageOf(bookieId: string): string {
  const [, storage] = /^[^~]+~([^~]+)$/.exec(bookieId) ?? [];
  if (storage !== undefined) return storage;
  throw new EnvironmentError(`a bookie's id reads region.name~storage, got ${JSON.stringify(bookieId)}`);
}

function commonVariables(settings: CommonSettings): Variables {
  return { [names.deployment]: settings.deployment, [names.logLevel]: settings.logLevel };
}

function readCommon(given: GivenVariables): CommonSettings {
  const logLevel = oneOf(given, names.logLevel, logLevels);
  return { deployment: text(given, names.deployment), logLevel };
}

function readMetadata(given: GivenVariables): MetadataEntry {
  const fields = object(given, names.metadata);
  const { table, mode, homeRegion, replicas, witnessRegion } = fields;
  const refuse = (allowed: string) => wrong(names.metadata, text(given, names.metadata), allowed);
  if (!isName(table)) throw refuse("an object with the name of a table");
  if (mode !== "strong" && mode !== "home") throw refuse("mode strong or home");
  if (!Array.isArray(replicas) || replicas.length === 0 || !replicas.every(isName)) {
    throw refuse("a list of one replica or more");
  }
  if (mode === "home" ? !isName(homeRegion) : homeRegion !== undefined) {
    throw refuse("a homeRegion in mode home, and only there");
  }
  if (witnessRegion !== undefined && (mode !== "strong" || !isName(witnessRegion))) {
    throw refuse("a witnessRegion in mode strong only");
  }
  return {
    table,
    mode,
    ...(isName(homeRegion) ? { homeRegion } : {}),
    replicas,
    ...(isName(witnessRegion) ? { witnessRegion } : {}),
  };
}

function readReplication(given: GivenVariables): ReplicationEntry {
  const fields = object(given, names.defaultReplication);
  const size = (name: keyof ReplicationEntry): number => {
    const value = fields[name];
    if (typeof value === "number" && Number.isSafeInteger(value) && value >= 1) return value;
    throw wrong(names.defaultReplication, JSON.stringify(fields), `${name} to be an integer from 1 on`);
  };
  return {
    ensembleSize: size("ensembleSize"),
    writeQuorum: size("writeQuorum"),
    ackQuorum: size("ackQuorum"),
    minRegions: size("minRegions"),
  };
}

/** EV1: what the functions would refuse is refused when it is written. */
function checked(read: (given: GivenVariables) => unknown, variables: Variables): Variables {
  read(variables);
  return variables;
}
