/**
 * Where bookies stand; how a ledger's entries are spread over them and sealed; which bookies hold an entry,
 * and what their answers prove. Pure arithmetic on positions.
 *
 * Entry e goes to ensemble positions (e + i) mod E for i in 0 .. Qw-1. The absolute entry id counts, so a
 * replacement takes the very position of the bookie it replaces.
 */
import { assert, present } from "./assert.ts";
import type { Age } from "./deadline.ts";
import { type BookieId, type EntryId, type Region, region } from "./ids.ts";

/** Where a bookie stands: `/region/rack`. */
export interface Place {
  readonly region: Region;
  readonly rack: string;
}

/**
 * The region of a bookie that could not be resolved. All such bookies together count as one place that may
 * be any region, so they never help an ack quorum to span regions; they may hold copies all the same.
 */
export const UNKNOWN_REGION: Region = region("unknown");

export function isKnownRegion(candidate: Region): boolean {
  return candidate !== UNKNOWN_REGION && candidate !== "";
}

/**
 * A bookie as placement and metadata know it. A member's place comes from the ledger's metadata, never from
 * the live topology.
 */
export interface BookieAddress {
  readonly id: BookieId;
  readonly place: Place;
}

/** Only an accepting region takes new copies; `draining` and `lost` differ for repair. */
export type RegionState = "accepting" | "draining" | "lost";

/** Only a writable bookie takes new copies; a read-only one still serves what it holds. */
export type BookieState = "writable" | "read-only" | "lost";

/** Every other region is a class of its own: 15 ms and 150 ms do not belong in one pool. */
export type DistanceClass = "same-rack" | "same-region" | `region ${string}`;

/** What operators say, as far as a process knows. */
export interface TopologyStates {
  readonly bookies: ReadonlyMap<BookieId, BookieState>;
  readonly regions: ReadonlyMap<Region, RegionState>;
  /** Counted from when the reading of it began. Absent: it is never old. */
  readonly readAt?: Age;
}

/** How a ledger's entries are sealed; part of its metadata. The HMAC key is the ledger's own, in base 16. */
export type LedgerDigest =
  | { readonly type: "crc32" }
  | { readonly type: "hmac-sha256"; readonly keyHex: string };

export interface Replication {
  /** Bookies that a fragment is striped over. */
  readonly ensembleSize: number;
  /** Bookies that each entry is sent to. */
  readonly writeQuorum: number;
  /** Bookies that must hold an entry before it is acknowledged. */
  readonly ackQuorum: number;
  /** Regions that those bookies must span: minRegionsForDurability. */
  readonly minRegions: number;
}

/** From `firstEntry` on, entries are striped over `ensemble`, whose order is part of the protocol. */
export interface Fragment {
  readonly firstEntry: EntryId;
  readonly ensemble: readonly BookieAddress[];
}

/** Positions of the entry's write set, in order. */
export function writeSetPositions(entry: EntryId, replication: Replication): number[] {
  assert(entry >= 0, `entry ${entry} has no write set`);
  const { ensembleSize, writeQuorum } = replication;
  // Only % on safe integers: bitwise operators would cut ids to 32 bits.
  return Array.from({ length: writeQuorum }, (_, offset) => ((entry % ensembleSize) + offset) % ensembleSize);
}

/** The bookies of the entry's write set, in order: WS(e). */
export function writeSet(entry: EntryId, fragment: Fragment, replication: Replication): BookieAddress[] {
  return writeSetPositions(entry, replication).map((position) => memberAt(fragment, position));
}

export function memberAt(fragment: Fragment, position: number): BookieAddress {
  return present(fragment.ensemble[position], `position ${position} is outside the ensemble`);
}

/** The positions of those bookies in the ensemble. */
export function positionsOf({ ensemble }: Fragment, bookies: ReadonlySet<BookieId>): number[] {
  return ensemble.flatMap((member, position) => (bookies.has(member.id) ? [position] : []));
}

/**
 * Whether distinct bookies of one write set are an ACK set: at least Qa of them, in at least minRegions
 * regions.
 */
export function isAckSet(holders: readonly BookieAddress[], replication: Replication): boolean {
  const distinct = new Map(holders.map((holder) => [holder.id, holder.place.region]));
  return distinct.size >= replication.ackQuorum && new Set(distinct.values()).size >= replication.minRegions;
}

/** The same bookies: first an ACK set, if there is one, then the rest. Both parts keep their order. */
export function ackSetFirst(order: readonly BookieAddress[], replication: Replication): BookieAddress[] {
  const chosen: BookieAddress[] = [];
  const regions = new Set<string>();
  for (const bookie of order) {
    const places = replication.ackQuorum - chosen.length;
    const isNew = !regions.has(bookie.place.region);
    // The last places are kept for the regions that are still missing.
    if (places <= 0 || (!isNew && places <= replication.minRegions - regions.size)) continue;
    chosen.push(bookie);
    regions.add(bookie.place.region);
  }
  return [...chosen, ...order.filter((bookie) => !chosen.includes(bookie))];
}

/** NEG = Qw - Qa + 1: so many negatives leave too few bookies for an ack quorum. */
export function negativeQuorum(replication: Replication): number {
  return replication.writeQuorum - replication.ackQuorum + 1;
}

/**
 * Whether negatives prove that the entry can never be acknowledged: NEG distinct bookies of its write set.
 *
 * Regions do not count here, though they do in an ACK set. A writer's replacement keeps the number of copies
 * of an unacknowledged entry, not their regions: Originals that a reader returned from two regions may stand
 * in one after the change, and a rest of the write set that "contains no ACK set" then proves nothing. Where
 * every ack quorum spans minRegions, as placement sees to, both tests are the same.
 */
export function provesAbsence(
  negatives: readonly BookieAddress[],
  set: readonly BookieAddress[],
  replication: Replication,
): boolean {
  const missing = set.filter((member) => negatives.some((negative) => negative.id === member.id));
  return missing.length >= negativeQuorum(replication);
}

/**
 * Whether answers from `known` positions leave no write set of the ensemble that could have reached its ack
 * quorum on silent bookies alone: in each of the E windows fewer than Qa are unknown. Recovery uses it to
 * stop waiting for LAC hints; safety does not rest on it (rule 10).
 */
export function coversEveryWriteSet(known: ReadonlySet<number>, replication: Replication): boolean {
  for (let start = 0; start < replication.ensembleSize; start++) {
    const positions = writeSetPositions(start as EntryId, replication);
    const unknown = positions.filter((position) => !known.has(position)).length;
    if (unknown >= replication.ackQuorum) return false;
  }
  return true;
}

/** Whether the holders, members of the present ensemble, are an ack quorum but no ACK set (rule 5). */
export function waitsForRegions(holders: readonly BookieAddress[], replication: Replication): boolean {
  const distinct = new Set(holders.map(({ id }) => id)).size;
  return distinct >= replication.ackQuorum && !isAckSet(holders, replication);
}
