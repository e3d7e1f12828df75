/**
 * Ids as branded types: two of them cannot be swapped by mistake. Constructors check once; after that
 * only typed values travel.
 */
import { assert } from "./assert.ts";
import { type Random, randomSafeInteger, randomToken } from "./random.ts";

declare const brand: unique symbol;
type Brand<T, B extends string> = T & { readonly [brand]: B };

/** Random 53-bit number, never used again (rule 15). */
export type LedgerId = Brand<number, "LedgerId">;
/** Position of an entry in its ledger, dense from 0; -1 stands for "before the first". */
export type EntryId = Brand<number, "EntryId">;
/**
 * Names one bookie: `region.name~storage`, where `storage` is the identity of its storage (rule 21).
 * Other storage is another bookie, also at the same place.
 */
export type BookieId = Brand<string, "BookieId">;
/** Name of a region, such as `us-east-1`. */
export type Region = Brand<string, "Region">;
/** Random token that distinguishes one writer's tenure of a ledger from another's (rule 20). */
export type Tenure = Brand<string, "Tenure">;
/** Random token written with each metadata change; distinguishes one's own write from a rival's. */
export type WriteToken = Brand<string, "WriteToken">;
/** Random token of one life of a lease item: one that was lost and made anew has another (rule 36). */
export type LeaseBirth = Brand<string, "LeaseBirth">;
/** Random part of a ticket, by which an answer is found (rule 36). */
export type TicketId = Brand<string, "TicketId">;
/** What a user calls a log. */
export type LogName = Brand<string, "LogName">;
/** Random identity of one life of a log name: a deleted and re-created name has another one. */
export type LogIncarnation = Brand<string, "LogIncarnation">;
/** Dense position of a record in its log, from 0. */
export type SeqNum = Brand<number, "SeqNum">;
/** Ordinal of a log segment, from 1. */
export type SegmentNumber = Brand<number, "SegmentNumber">;

/** Before the first entry of a ledger. */
export const NO_ENTRY = -1 as EntryId;

const integer =
  <T extends number>(what: string, min: number) =>
  (value: number): T => {
    assert(Number.isSafeInteger(value) && value >= min, `${what} must be an integer >= ${min}, got ${value}`);
    return value as T;
  };

export const entryId = integer<EntryId>("entry id", NO_ENTRY);
export const ledgerId = integer<LedgerId>("ledger id", 0);
export const seqNum = integer<SeqNum>("seq_num", 0);
export const segmentNumber = integer<SegmentNumber>("segment number", 1);

/** The entry after `id`. */
export const nextEntry = (id: EntryId): EntryId => entryId(id + 1);
/** The entry before `id`; the one before 0 is NO_ENTRY. */
export const previousEntry = (id: EntryId): EntryId => entryId(id - 1);

export const region = (value: string): Region => value as Region;
export const bookieId = (value: string): BookieId => value as BookieId;
export const logName = (value: string): LogName => value as LogName;
export const logIncarnation = (value: string): LogIncarnation => value as LogIncarnation;
export const tenure = (value: string): Tenure => value as Tenure;
export const leaseBirth = (value: string): LeaseBirth => value as LeaseBirth;
export const ticketId = (value: string): TicketId => value as TicketId;
export const writeToken = (value: string): WriteToken => value as WriteToken;

export const newLedgerId = (random: Random): LedgerId => ledgerId(randomSafeInteger(random));
export const newTenure = (random: Random): Tenure => tenure(randomToken(random));
export const newLeaseBirth = (random: Random): LeaseBirth => leaseBirth(randomToken(random));
export const newTicketId = (random: Random): TicketId => ticketId(randomToken(random));
export const newWriteToken = (random: Random): WriteToken => writeToken(randomToken(random));
export const newLogIncarnation = (random: Random): LogIncarnation => logIncarnation(randomToken(random));
