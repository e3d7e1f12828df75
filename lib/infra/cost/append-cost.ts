/** What a million appends cost, counted request by request; each append is one batch, whatever is in it. */
import type { StorageClass } from "../../environment.ts";
import { SMALL_BYTES } from "../topology/storage-class.ts";
import { prices } from "./prices.ts";

/** Requests of one append to a log that this region owns, its segment open and its lease free. */
interface AppendRequests {
  readonly leaseReads: number;
  readonly leaseWrites: number;
  readonly metadataReads: number;
  readonly metadataWrites: number;
  readonly bookieCalls: number;
  readonly slotPuts: number;
  readonly slotGets: number;
}

/** Test/infra/cost.test.ts counts the same on the shipped protocol. */
export function appendRequests(writeQuorum: number): AppendRequests {
  return {
    // Looked at, taken, and given back clean: a function holds no lease while it is frozen.
    leaseReads: 1,
    leaseWrites: 2,
    metadataReads: 0,
    metadataWrites: 0,
    bookieCalls: writeQuorum,
    slotPuts: writeQuorum,
    // The fence and the marker, beside each put (rules 2 and 21).
    slotGets: 2 * writeQuorum,
  };
}

export interface AppendCase {
  readonly writeQuorum: number;
  /** Copies in other regions than the writer's. */
  readonly remoteCopies: number;
  /** Of one batch as it is stored. */
  readonly batchBytes: number;
  readonly storageClass: StorageClass;
  readonly withGateway: boolean;
  /** Time that an append function and a bookie function take, in ms; estimates until they are measured. */
  readonly appendMs: number;
  readonly bookieMs: number;
}

export interface CostLine {
  readonly what: string;
  /** For a million appends. */
  readonly dollars: number;
}

/** Memory of the functions as they are deployed, in GB. */
export const APPEND_GB = 1_769 / 1_024;
export const BOOKIE_GB = 1;
/** Bytes travel between functions in base 64. */
const ON_THE_WIRE = 4 / 3;
export const MILLION = 1_000_000;
const GB = 2 ** 30;

/** Of a million calls. */
export function functionTime(ms: number, gb: number): number {
  return MILLION * (ms / 1_000) * gb * prices.lambdaGbSecond;
}

export function appendCost(one: AppendCase): readonly CostLine[] {
  const requests = appendRequests(one.writeQuorum);
  const remoteGb = (MILLION * one.remoteCopies * one.batchBytes * ON_THE_WIRE) / GB;
  return [
    { what: "REST API, 1 request", dollars: one.withGateway ? prices.restApiRequest : 0 },
    {
      what: `append function, 1 request of ${one.appendMs} ms`,
      dollars: prices.lambdaRequest + functionTime(one.appendMs, APPEND_GB),
    },
    {
      what: `lease table, ${requests.leaseReads} read and ${requests.leaseWrites} writes`,
      dollars: requests.leaseReads * prices.tableRead + requests.leaseWrites * prices.tableWrite,
    },
    { what: "metadata table, nothing while a segment lasts", dollars: 0 },
    {
      what: `bookie functions, ${requests.bookieCalls} requests of ${one.bookieMs} ms`,
      dollars: requests.bookieCalls * (prices.lambdaRequest + functionTime(one.bookieMs, BOOKIE_GB)),
    },
    { what: `S3, ${requests.slotPuts} PUT`, dollars: requests.slotPuts * prices.s3Put[one.storageClass] },
    { what: `S3, ${requests.slotGets} GET`, dollars: requests.slotGets * prices.s3Get },
    {
      what: `${one.remoteCopies} copies of ${one.batchBytes} bytes to other regions`,
      dollars: remoteGb * prices.regionTransferGb,
    },
  ];
}

/** Keeping what a million appends stored, for the first month; not part of what the appends cost. */
export function storageCost({ writeQuorum, batchBytes, storageClass }: AppendCase): CostLine {
  const isSmall = batchBytes < SMALL_BYTES;
  const billedBytes = storageClass === "STANDARD_IA" && isSmall ? SMALL_BYTES : batchBytes;
  const watched = storageClass === "INTELLIGENT_TIERING" && !isSmall ? writeQuorum * prices.s3Watched : 0;
  const stored = ((MILLION * writeQuorum * billedBytes) / GB) * prices.s3Gb[storageClass];
  const what = `${writeQuorum} copies in ${storageClass}, billed as ${billedBytes} bytes each`;
  return { what, dollars: stored + watched };
}

export function totalOf(lines: readonly CostLine[]): number {
  return lines.reduce((sum, { dollars }) => sum + dollars, 0);
}
