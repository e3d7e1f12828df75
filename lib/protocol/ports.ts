/**
 * Every seam between the protocol and the world, on one page, but for those in log-ports.ts, of calls between
 * regions. `Clock` and `Random` have files of their own.
 *
 *      LogWriter / LogReader            lib/protocol/log
 *        LedgerWriter / LedgerReader    lib/protocol/ledger
 *          Bookie ......................port: StoredBookie itself, or one reached over a network
 *            EntryStore ................port: write-once slots in an object store
 *          MetadataStore ...............port: compare-and-set items, global
 *          LeaseStore ..................port: compare-and-set leases and failures, one region's own
 *
 * A call that resolves states a fact. A call that rejects states nothing: its effect may have happened or
 * not (rule 21: unknown is never a negative). Every call may be made twice, or by two processes at once.
 * A `signal` says that the call was cancelled: it rejects and leaves no timer behind.
 */

import type { BookieId, EntryId, LedgerId, LogIncarnation, Region, Tenure, WriteToken } from "./ids.ts";
import type { Item, ItemKey, Version } from "./items.ts";
import type { Lease, OwnerFailures } from "./lease.ts";
import type { BookieAddress, LedgerDigest, TopologyStates } from "./replication.ts";
import type { TraceEvent } from "./trace-events.ts";
import type { CallSignal } from "./waiting.ts";

/** Travels with each entry; covered by its digest, encoded once, never changed (rules 4, 5). */
export interface EntryHeader {
  readonly ledgerId: LedgerId;
  readonly entryId: EntryId;
  /** At most the last acknowledged id when the entry was encoded (rule 5). */
  readonly lastAddConfirmed: EntryId;
  /** Payload bytes of the ledger up to and including this entry. */
  readonly length: number;
  /** Distinguishes two holders of one ledger (rule 20). */
  readonly tenure: Tenure;
}

export interface SealedEntry {
  readonly header: EntryHeader;
  readonly payload: Uint8Array;
  readonly digest: Uint8Array;
}

export interface Digest {
  /** The digest of the header's canonical bytes followed by the payload. Pure and synchronous. */
  compute(digest: LedgerDigest, header: EntryHeader, payload: Uint8Array): Uint8Array;
}

export interface Trace {
  /** Takes note of something that happened. Must not throw. */
  emit(event: TraceEvent): void;
}

// ---------- Entry store: what one bookie keeps. Operations are atomic for a key; acknowledged is durable.

export type StoreKey =
  | { readonly kind: "incarnation" }
  | { readonly kind: "fence"; readonly ledgerId: LedgerId }
  | { readonly kind: "slot"; readonly ledgerId: LedgerId; readonly entryId: EntryId };

export type StoreValue =
  /** The identity of this storage, written once when it is set up (rule 21). */
  | { readonly kind: "incarnation"; readonly storage: string }
  | { readonly kind: "fence" }
  | { readonly kind: "original"; readonly entry: SealedEntry }
  | { readonly kind: "recovered"; readonly entry: SealedEntry }
  | { readonly kind: "tombstone" };

export interface StoreListRequest {
  /** Only this ledger's: its slots, highest first, then its fence. Without: every key but the incarnation. */
  readonly ledgerId?: LedgerId;
  /** `next` of the page before. */
  readonly after?: string;
  /** Keys in this page, at most. */
  readonly limit: number;
}

export interface StorePage {
  readonly keys: readonly StoreKey[];
  /** Where the next page starts; absent when this was the last one. */
  readonly next?: string;
}

export interface EntryStore {
  /** Stores `value` if the key is absent. Of any number of racers exactly one gets "stored". */
  putIfAbsent(key: StoreKey, value: StoreValue): Promise<"stored" | "occupied">;
  /** Stores `value`, whatever was there. */
  put(key: StoreKey, value: StoreValue): Promise<void>;
  /** Resolves to undefined only if the key is certainly absent. An unreadable value rejects. */
  get(key: StoreKey, signal?: CallSignal): Promise<StoreValue | undefined>;
  /** Removes the key; an absent one is fine. */
  delete(key: StoreKey): Promise<void>;
  /** Lists keys in pages. A hint: it may miss recent keys and name deleted ones. Safety never rests on it. */
  list(request: StoreListRequest): Promise<StorePage>;
}

// ---------- Bookie: rules 1 to 4 and 21. A fence, once answered, holds for every add that arrives later.

export type AddAnswer = { readonly kind: "ok" } | { readonly kind: "fenced" };

export type ReadAnswer =
  | { readonly kind: "entry"; readonly copy: "original" | "recovered"; readonly entry: SealedEntry }
  | { readonly kind: "tombstone" }
  | { readonly kind: "nothing" };

export type SlotAnswers = readonly (ReadAnswer | undefined)[];

export type RecoveryReadAnswer = Exclude<ReadAnswer, { readonly kind: "nothing" }>;

/**
 * `conflict`: an Original of other content holds the slot; it is never replaced (rule 4). It is shown so that
 * the caller can distinguish a damaged copy from a second writer's entry.
 */
export type RecoveryAddAnswer =
  | { readonly kind: "ok" }
  | { readonly kind: "conflict"; readonly occupant: SealedEntry };

export type SealAnswer = { readonly kind: "sealed" } | { readonly kind: "occupied" };

/** The entry with the highest id that the bookie could name. A hint for speed, never evidence of an end. */
export interface TailAnswer {
  readonly highest?: SealedEntry;
}

export interface Bookie {
  readonly id: BookieId;
  /** Stores the writer's entry unless the ledger is fenced or the slot taken (rule 2). Durable when "ok". */
  add(entry: SealedEntry): Promise<AddAnswer>;
  /** Reads a slot without changing anything. */
  read(ledgerId: LedgerId, entryId: EntryId, signal?: CallSignal): Promise<ReadAnswer>;
  /**
   * Reads several slots in one message and answers in their order; undefined is an unknown, for one that did
   * not fit as well. A bookie without it is asked for one slot at a time.
   */
  readSeveral?(ledgerId: LedgerId, entryIds: readonly EntryId[], signal?: CallSignal): Promise<SlotAnswers>;
  /** Names the highest entry; changes nothing. */
  tail(ledgerId: LedgerId, signal?: CallSignal): Promise<TailAnswer>;
  /** Puts the fence, durable before any answer, then names the highest entry. */
  fence(ledgerId: LedgerId): Promise<TailAnswer>;
  /** Fences, then reads the slot and occupies it with a Tombstone if it is empty (rule 3). */
  recoveryRead(ledgerId: LedgerId, entryId: EntryId, signal?: CallSignal): Promise<RecoveryReadAnswer>;
  /** Writes back an entry that recovery found (rule 4). */
  recoveryAdd(entry: SealedEntry): Promise<RecoveryAddAnswer>;
  /** Puts a Tombstone if the slot is empty (rule 9). */
  seal(ledgerId: LedgerId, entryId: EntryId): Promise<SealAnswer>;
  /** Deletes the slots up to `through`; keeps fence and seal. Only for a DELETED ledger (rule 15). */
  deleteEntries(ledgerId: LedgerId, through: EntryId): Promise<void>;
  /** Deletes every slot, then the fence. Only for a DELETED ledger past its seal age (rule 15). */
  forget(ledgerId: LedgerId): Promise<void>;
}

/** Where the process finds bookies. */
export interface Bookies {
  /** The bookie with this id; one that cannot be reached is a bookie whose calls reject. */
  bookie(id: BookieId): Bookie;
}

/** The bookies that new ensembles may use, as this process knows. Never asked for a member's place. */
export interface Topology {
  bookies(): readonly BookieAddress[];
  /** What operators say. Without a word a bookie is writable, a region accepting. Absent: no words. */
  states?(): TopologyStates;
  /** Before a request uses it: resolves when it is current, or as current as can be had. Never rejects. */
  whenCurrent?(): Promise<void> | undefined;
}

// ---------- Metadata: items in partitions, each changed by one conditional write.

export interface Versioned<T extends Item = Item> {
  readonly key: ItemKey;
  readonly item: T;
  readonly version: Version;
}

/**
 * `consistent`: sees every write that was answered before the read began. `stale`: any earlier state, for
 * each item on its own.
 */
export type MetadataConsistency = "consistent" | "stale";

type Conflict = { readonly kind: "conflict" };
export type WriteAnswer = { readonly kind: "written"; readonly version: Version } | Conflict;
type RemoveAnswer = { readonly kind: "removed" } | Conflict;

export interface ItemQuery {
  readonly partition: string;
  /** Only sort keys >= this one. */
  readonly from?: string;
  /** Only sort keys <= this one. */
  readonly to?: string;
  readonly order: "ascending" | "descending";
  /** Items, at most; what lies beyond is found by asking again from there. */
  readonly limit: number;
}

export interface MetadataStore {
  get(key: ItemKey, consistency: MetadataConsistency): Promise<Versioned | undefined>;
  /**
   * Writes if the item's version is `expected`, or if there is no item and `expected` is "absent". Exactly
   * one of two racers gets "written". After a rejection the write may take effect at any later time.
   */
  write(key: ItemKey, expected: Version | "absent", item: Item, token: WriteToken): Promise<WriteAnswer>;
  remove(key: ItemKey, expected: Version): Promise<RemoveAnswer>;
  /** Items of one partition in the order of their sort keys (by code unit). */
  query(query: ItemQuery, consistency: MetadataConsistency): Promise<readonly Versioned[]>;
}

export interface VersionedLease {
  readonly lease: Lease;
  readonly version: Version;
}

export interface VersionedFailures {
  readonly failures: OwnerFailures;
  readonly version: Version;
}

/**
 * One region's own table: the writer leases of logs (rules 16 to 20), and what its processes counted of the
 * failures of other regions. Reads are consistent.
 */
export interface LeaseStore {
  read(log: LogIncarnation): Promise<VersionedLease | undefined>;
  write(
    log: LogIncarnation,
    expected: Version | "absent",
    lease: Lease,
    token: WriteToken,
  ): Promise<WriteAnswer>;
  readFailures(owner: Region): Promise<VersionedFailures | undefined>;
  writeFailures(
    owner: Region,
    expected: Version | "absent",
    failures: OwnerFailures,
    token: WriteToken,
  ): Promise<WriteAnswer>;
}
