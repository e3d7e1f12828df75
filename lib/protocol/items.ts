/**
 * What the metadata store holds: one union of item kinds, and the one place that builds their
 * keys. Each decision is one conditional write to one item.
 */
import { assert } from "./assert.ts";
import type {
  BookieId,
  LedgerId,
  LogIncarnation,
  LogName,
  Region,
  SegmentNumber,
  SeqNum,
  WriteToken,
} from "./ids.ts";
import type { LedgerMetadata } from "./ledger-metadata.ts";
import type { BookieAddress, BookieState, RegionState, Replication } from "./replication.ts";

export interface ItemKey {
  readonly partition: string;
  readonly sort: string;
}

/** What a conditional write depends on. Both parts count: a re-created item never looks like the old one. */
export interface Version {
  readonly revision: number;
  readonly token: WriteToken;
}

export function isSameVersion(one: Version, other: Version): boolean {
  return one.revision === other.revision && one.token === other.token;
}

/** Name -> the present life of the log of that name. */
export interface LogNameItem {
  readonly kind: "log-name";
  readonly name: LogName;
  readonly incarnation: LogIncarnation;
}

export interface LogConfig {
  readonly replication: Replication;
  readonly digest: "crc32" | "hmac-sha256";
  /** A segment is rolled when its payload has reached this many bytes. */
  readonly segmentBytesMax: number;
  /**
   * An append to a segment that is this many ms old rolls it first, by the clock of who appends. Absent:
   * limits.segmentAgeMaxMsDefault.
   */
  readonly segmentAgeMaxMs?: number;
}

/** One life of a log. Trim, seal and delete change `trimPoint` and `state` (rules 25, 29, 30). */
export interface LogItem {
  readonly kind: "log";
  readonly name: LogName;
  readonly incarnation: LogIncarnation;
  readonly config: LogConfig;
  readonly state: "active" | "deleting";
  /** Records below this seq_num are gone. */
  readonly trimPoint: SeqNum;
  readonly createdAtMs: number;
  /** Where it should be owned. Absent: wherever it is. */
  readonly preferredRegion?: Region;
}

/** What a completed segment's item says of its end: a cache that nothing depends on (rules 22, 34). */
export interface SegmentCompletion {
  readonly end: SeqNum;
  readonly lastEntry: number;
  readonly lastTimestampMs: number;
  readonly bytes: number;
}

/** One log segment, keyed by the first seq_num that it may hold (rules 22 to 35). */
export interface SegmentItem {
  readonly kind: "segment";
  readonly number: SegmentNumber;
  readonly ledgerId: LedgerId;
  readonly ownerRegion: Region;
  readonly createdAtMs: number;
  readonly completion?: SegmentCompletion;
}

/** The end of a sealed log, keyed by its end (rule 29). It is a last item like a segment, and no segment. */
export interface EndItem {
  readonly kind: "end";
  readonly number: SegmentNumber;
}

/** An entry of the directory by which logs are listed. */
export interface DirectoryItem {
  readonly kind: "directory";
  readonly name: LogName;
}

/**
 * A ledger of a log, listed for the auditor of the region that made it: from its creation until nothing of it
 * is left.
 */
export interface LedgerListing {
  readonly kind: "ledger-listing";
  readonly ledgerId: LedgerId;
  readonly region: Region;
  readonly createdAtMs: number;
  /** When its entries were collected. Absent: they are there, as far as anybody knows. */
  readonly sweptAtMs?: number;
}

/** How this deployment was made; each writer checks it before its first write. */
export interface DeploymentItem {
  readonly kind: "deployment";
  readonly metadataMode: "strong" | "home";
  readonly homeRegion?: Region;
}

/** What an operator says of a region; one that has no item is accepting. */
export interface RegionItem {
  readonly kind: "region";
  readonly region: Region;
  readonly state: RegionState;
}

/** A bookie that new ensembles may use, and what an operator says of it. */
export interface BookieItem {
  readonly kind: "bookie";
  readonly address: BookieAddress;
  readonly state: BookieState;
}

export type Item =
  | LedgerMetadata
  | LogNameItem
  | LogItem
  | SegmentItem
  | EndItem
  | DirectoryItem
  | LedgerListing
  | DeploymentItem
  | RegionItem
  | BookieItem;

/** Partitions that the directory is spread over, so that no one key takes every creation. */
export const DIRECTORY_SHARDS = 16;

const SEQ_NUM_DIGITS = 16;

export const ledgerKey = (id: LedgerId): ItemKey => ({ partition: `ledger#${id}`, sort: "ledger" });
export const logNameKey = (name: LogName): ItemKey => ({ partition: `name#${name}`, sort: "name" });
export const logKey = (log: LogIncarnation): ItemKey => ({ partition: `log#${log}`, sort: "log" });
export const segmentsPartition = (log: LogIncarnation): string => `segments#${log}`;
export const segmentKey = (log: LogIncarnation, first: SeqNum): ItemKey => ({
  partition: segmentsPartition(log),
  sort: segmentSort(first),
});
export const segmentSort = (first: SeqNum): string => String(first).padStart(SEQ_NUM_DIGITS, "0");
export const deploymentKey: ItemKey = { partition: "deployment", sort: "deployment" };
export const REGIONS_PARTITION = "regions";
export const regionKey = (region: Region): ItemKey => ({ partition: REGIONS_PARTITION, sort: region });
export const BOOKIES_PARTITION = "bookies";
export const bookieKey = (id: BookieId): ItemKey => ({ partition: BOOKIES_PARTITION, sort: id });
export const directoryPartition = (shard: number): string => `directory#${shard}`;
export const directoryKey = (name: LogName): ItemKey => ({
  partition: directoryPartition(directoryShard(name)),
  sort: name,
});

export const ledgerListingPartition = (region: Region, shard: number): string => `ledgers#${region}#${shard}`;
export const ledgerListingKey = (region: Region, id: LedgerId): ItemKey => ({
  partition: ledgerListingPartition(region, id % DIRECTORY_SHARDS),
  sort: String(id).padStart(SEQ_NUM_DIGITS, "0"),
});

/** The first seq_num that a segment or END item's key stands for. */
export function seqNumOfKey(key: ItemKey): SeqNum {
  const value = Number(key.sort);
  assert(key.sort.length === SEQ_NUM_DIGITS && Number.isSafeInteger(value), `not a segment key: ${key.sort}`);
  return value as SeqNum;
}

function directoryShard(name: LogName): number {
  let hash = 0;
  for (let index = 0; index < name.length; index++) hash = (hash * 31 + name.charCodeAt(index)) % 65_521;
  return hash % DIRECTORY_SHARDS;
}
