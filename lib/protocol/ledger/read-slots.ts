/**
 * What readers, which change nothing, learn from bookies: an entry that is known to exist, of which any
 * genuine copy will do; at the tail how far the ledger is confirmed, and what is in a slot behind that.
 * Order, hedging and failover are the read policy's; what counts as an answer is said here.
 *
 * Any bookie's answer to how far is a lower bound (rule 13, T1), so one bookie will do where speed is all;
 * each poll begins at the next one of the ensemble, so that of bookies equally near no one gets all the
 * polls, and none that lags holds back every reader.
 */

import { isGenuine, sameContent } from "../entry.ts";
import { type BookieVerdict, insufficientRegions, type SideEffects, verdictOf } from "../errors.ts";
import { type EntryId, type LedgerId, NO_ENTRY } from "../ids.ts";
import { fragmentAt, type LedgerMetadata, lastFragment } from "../ledger-metadata.ts";
import { limits } from "../limits.ts";
import type { ReadAnswer, SealedEntry, TailAnswer } from "../ports.ts";
import type { GatheredReads } from "../reads/gathered-reads.ts";
import type { ReadCounters } from "../reads/read-counters.ts";
import {
  type Judgement,
  type Part,
  type QuorumAnswer,
  type QuorumRead,
  quorumRead,
  speculativeRead,
} from "../reads/speculative-read.ts";
import {
  ackSetFirst,
  type BookieAddress,
  coversEveryWriteSet,
  isAckSet,
  positionsOf,
  provesAbsence,
  type Replication,
  writeSet,
} from "../replication.ts";
import type { CallSignal } from "../waiting.ts";
import { callOnce, type LedgerPorts } from "./ledger-ports.ts";

type TailParts = readonly Part<EntryId>[];

interface TailGoal {
  readonly isEnough: (parts: TailParts) => boolean;
  /** One at a time, the next when it is slow or fails; else all at once. */
  readonly isPaced: boolean;
  readonly cost: ReadCounters | undefined;
}

/** What the nearest bookie that answers names; NO_ENTRY if none answers. `poll` counts the caller's polls. */
export async function nearestConfirmed(
  ports: LedgerPorts,
  ledger: LedgerMetadata,
  poll: number,
  cost?: ReadCounters,
): Promise<EntryId> {
  const { ensemble } = lastFragment(ledger);
  const at = poll % ensemble.length;
  const asked = [...ensemble.slice(at), ...ensemble.slice(0, at)];
  return highestOf(
    await askTails(ports, ledger, asked, { isEnough: (parts) => parts.length > 0, isPaced: true, cost }),
  );
}

/**
 * The highest that bookies name, enough of them to leave no write set that could have reached its ack quorum
 * on the silent ones alone; fewer if no more answer.
 */
export async function highestConfirmed(
  ports: LedgerPorts,
  ledger: LedgerMetadata,
  cost?: ReadCounters,
): Promise<EntryId> {
  const fragment = lastFragment(ledger);
  const isEnough = (parts: TailParts) => {
    const heard = positionsOf(fragment, new Set(parts.map(({ bookie }) => bookie.id)));
    return coversEveryWriteSet(new Set(heard), ledger.replication);
  };
  const goal = { isEnough, isPaced: false, cost };
  return highestOf(await askTails(ports, ledger, fragment.ensemble, goal));
}

/** The last add confirmed that a bookie's answer proves. */
export function confirmedBy(ports: LedgerPorts, ledger: LedgerMetadata, { highest }: TailAnswer): EntryId {
  // A damaged entry still proves a fence; its header proves nothing (H22).
  if (highest === undefined || !isGenuine(ports.digest, ledger, highest)) return NO_ENTRY;
  return highest.header.lastAddConfirmed;
}

function askTails(
  ports: LedgerPorts,
  ledger: LedgerMetadata,
  ensemble: readonly BookieAddress[],
  { isEnough, isPaced, cost }: TailGoal,
): Promise<QuorumAnswer<EntryId, TailParts>> {
  const read: QuorumRead<TailAnswer, EntryId, TailParts> = {
    kind: "tail",
    writeSet: ensemble,
    cost,
    call: (bookie, signal) =>
      callOnce(ports, bookie, "tail", (port) => port.tail(ledger.ledgerId, signal), signal),
    judge: (answer) => {
      const isDamaged = answer.highest !== undefined && !isGenuine(ports.digest, ledger, answer.highest);
      if (isDamaged) return { usable: false, said: "has a damaged tail" };
      return { usable: true, value: confirmedBy(ports, ledger, answer) };
    },
    conclude: (parts) => (isEnough(parts) ? { value: parts } : undefined),
    couldConclude: () => isPaced,
  };
  return quorumRead(ports.reads, read);
}

function highestOf(read: QuorumAnswer<EntryId, TailParts>): EntryId {
  const parts = read.kind === "answer" ? read.value : read.parts;
  let highest = NO_ENTRY;
  for (const { value } of parts) if (value > highest) highest = value;
  return highest;
}

type TailSlot =
  /** T2's half: Originals of the entry were read from an ACK set. */
  | { readonly kind: "on-ack-set"; readonly entry: SealedEntry }
  /** A negative quorum of `nothing`: the slots' half of rule 14. */
  | { readonly kind: "nothing" }
  /** A Tombstone or a Recovered copy: the ledger was or is being recovered; metadata knows more. */
  | { readonly kind: "ask-metadata"; readonly verdicts: readonly BookieVerdict[] }
  | { readonly kind: "undecided"; readonly verdicts: readonly BookieVerdict[] };

type Proof = Extract<TailSlot, { readonly kind: "on-ack-set" | "nothing" }>;

/**
 * Asks a write set for an entry that is not known to be confirmed, and says what the answers prove (rules 13,
 * 14). As many bookies are asked at first, the nearest, as could prove either; the others when those are
 * slow, fail, or disagree. What is proven rests on the answers alone, never on whom the policy asked.
 */
export async function readTailSlot(
  ports: LedgerPorts,
  ledger: LedgerMetadata,
  entry: EntryId,
  cost?: ReadCounters,
): Promise<TailSlot> {
  const { ledgerId, replication } = ledger;
  const set = writeSet(entry, fragmentAt(ledger, entry), replication);
  // Where it is not known how long an answer takes, no silence proves anything: all are asked at once.
  const isPaced = set.every((bookie) => ports.reads.isPaced(bookie));
  const read = await quorumRead<ReadAnswer, ReadAnswer, Proof>(ports.reads, {
    writeSet: set,
    cost,
    arrange: (order) => ackSetFirst(order, replication),
    timeoutMs: limits.bookieCallTimeoutMs,
    call: (bookie, signal) => readSlot(ports, ledgerId, entry, bookie, signal),
    judge: (answer, bookie) => judgeSlot(ports, ledger, entry, answer, bookie),
    conclude: (parts) => provenBy(parts, set, replication),
    couldConclude: (parts, open) => isPaced && couldProve(parts, open, set, replication),
  });
  if (read.kind === "answer") return read.value;
  const said = read.parts.map(({ bookie, value }) => {
    return verdictOf(bookie, { kind: "answered", said: saidBy(value) });
  });
  const isRecovered = read.parts.some(({ value }) => isOfRecovery(value));
  return { kind: isRecovered ? "ask-metadata" : "undecided", verdicts: [...read.verdicts, ...said] };
}

function provenBy(
  parts: readonly Part<ReadAnswer>[],
  set: readonly BookieAddress[],
  replication: Replication,
): { readonly value: Proof } | undefined {
  for (const one of originals(parts)) {
    if (isAckSet(holdersOf(one, parts), replication)) return { value: { kind: "on-ack-set", entry: one } };
  }
  if (provesAbsence(withNothing(parts), set, replication)) return { value: { kind: "nothing" } };
  return undefined;
}

/** The bookies that are asked at first should be able to prove the one as well as the other. */
function couldProve(
  parts: readonly Part<ReadAnswer>[],
  open: readonly BookieAddress[],
  set: readonly BookieAddress[],
  replication: Replication,
): boolean {
  const couldBeAbsent = provesAbsence([...withNothing(parts), ...open], set, replication);
  if (parts.length === 0) return couldBeAbsent && isAckSet(open, replication);
  const couldHold = (holders: readonly BookieAddress[]) => isAckSet([...holders, ...open], replication);
  const mayBeThere = originals(parts).some((one) => couldHold(holdersOf(one, parts)));
  return couldBeAbsent || mayBeThere || couldHold([]);
}

function originals(parts: readonly Part<ReadAnswer>[]): SealedEntry[] {
  return parts.flatMap(({ value }) => {
    return value.kind === "entry" && value.copy === "original" ? [value.entry] : [];
  });
}

function holdersOf(one: SealedEntry, parts: readonly Part<ReadAnswer>[]): BookieAddress[] {
  return parts.filter(({ value }) => isOriginalOf(value, one)).map(({ bookie }) => bookie);
}

function withNothing(parts: readonly Part<ReadAnswer>[]): BookieAddress[] {
  return parts.filter(({ value }) => value.kind === "nothing").map(({ bookie }) => bookie);
}

function isOriginalOf(answer: ReadAnswer, entry: SealedEntry): boolean {
  return answer.kind === "entry" && answer.copy === "original" && sameContent(answer.entry, entry);
}

function isOfRecovery(answer: ReadAnswer): boolean {
  return answer.kind === "tombstone" || (answer.kind === "entry" && answer.copy === "recovered");
}

function saidBy(answer: ReadAnswer): string {
  switch (answer.kind) {
    case "nothing":
      return "has nothing there";
    case "tombstone":
      return "has a Tombstone there";
    case "entry":
      return `has a copy (${answer.copy})`;
  }
}

// ---------- Any copy

type SlotEntry = Extract<ReadAnswer, { readonly kind: "entry" }>;

type AnyCopy =
  | { readonly kind: "entry"; readonly entry: SealedEntry }
  | { readonly kind: "none"; readonly verdicts: readonly BookieVerdict[] };

/** What reads of one ledger share. */
interface ReadBatch {
  /** Sends hedges to one replica together. */
  readonly hedges?: GatheredReads;
  readonly cost?: ReadCounters | undefined;
}

/** Asks the entry's write set by this metadata. */
export async function readAnyCopy(
  ports: LedgerPorts,
  ledger: LedgerMetadata,
  entry: EntryId,
  { hedges, cost }: ReadBatch = {},
): Promise<AnyCopy> {
  const read = await speculativeRead<ReadAnswer, SlotEntry>(ports.reads, {
    writeSet: writeSet(entry, fragmentAt(ledger, entry), ledger.replication),
    cost,
    call: (bookie, signal, lane) =>
      lane === "hedge" && hedges !== undefined
        ? hedges.read(bookie, entry, signal)
        : readSlot(ports, ledger.ledgerId, entry, bookie, signal),
    judge: (answer, bookie) => {
      if (answer.kind === "entry") return judgeSlot(ports, ledger, entry, answer, bookie);
      return { usable: false, said: "does not have it" };
    },
  });
  return read.kind === "answer" ? { kind: "entry", entry: read.value.entry } : read;
}

/**
 * The same of an entry that the ledger certainly holds. Throws `insufficient_regions` if no copy can be read:
 * `unread` says so for people, `sideEffects` what the caller has done before.
 */
export async function readEntry(
  ports: LedgerPorts,
  ledger: LedgerMetadata,
  entry: EntryId,
  unread: string,
  sideEffects: SideEffects = "none",
): Promise<SealedEntry> {
  const copy = await readAnyCopy(ports, ledger, entry);
  if (copy.kind === "entry") return copy.entry;
  throw insufficientRegions(unread, copy.verdicts, sideEffects);
}

/** One read of one slot, bounded in time, as the read policy sends it. */
function readSlot(
  ports: LedgerPorts,
  ledgerId: LedgerId,
  entry: EntryId,
  bookie: BookieAddress,
  signal: CallSignal,
): Promise<ReadAnswer> {
  return callOnce(ports, bookie, `read ${entry}`, (port) => port.read(ledgerId, entry, signal), signal);
}

/** What an answer about a slot is worth: a damaged copy is no copy, and is traced. */
export function judgeSlot<A extends ReadAnswer>(
  ports: LedgerPorts,
  ledger: LedgerMetadata,
  entry: EntryId,
  answer: A,
  bookie: BookieAddress,
): Judgement<A> {
  if (answer.kind !== "entry" || isGenuine(ports.digest, ledger, answer.entry, entry)) {
    return { usable: true, value: answer };
  }
  ports.trace.emit({ event: "corrupt-entry", ledgerId: ledger.ledgerId, entryId: entry, bookie: bookie.id });
  return { usable: false, said: "has a damaged copy" };
}
