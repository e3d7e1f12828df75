/**
 * Recovery: makes a ledger end, whatever its writer is doing (rules 10 to 12). Any number of processes may
 * run it at once, each step may run twice; they all come to the one end that the metadata then names.
 *
 * RL1 Metadata says IN_RECOVERY before any bookie is fenced: no ensemble changes under recovery (rule 10).
 * RL2 Recovery reads go to the write sets of the ensemble that the metadata named then; bookies that recovery
 *     itself put in the place of failed ones are never asked for negatives (rule 11, S06).
 * RL3 An entry of which any copy was found is written back to an ACK set before the ledger is closed at or
 *     behind it; only a negative quorum ends the ledger; neither leaves it IN_RECOVERY (rule 11).
 * RL4 End, length and local fragments become visible in one compare-and-set; a process that loses it adopts
 *     what is there (rule 12).
 */
import { assert } from "../assert.ts";
import { isGenuine, sameBytes } from "../entry.ts";
import {
  type BookieVerdict,
  FencelineError,
  insufficientRegions,
  messageOf,
  notReady,
  type Unknown,
  unavailable,
  verdictOf,
} from "../errors.ts";
import {
  type EntryId,
  entryId,
  type LedgerId,
  NO_ENTRY,
  previousEntry,
  type Region,
  type Tenure,
} from "../ids.ts";
import { ledgerKey } from "../items.ts";
import {
  type ClosedLedger,
  closeLedger,
  type DeletedLedger,
  fragmentAt,
  type LedgerInRecovery,
  type LedgerMetadata,
  lastFragment,
  sameFragment,
  startRecovery,
} from "../ledger-metadata.ts";
import { limits } from "../limits.ts";
import type { ReadAnswer, RecoveryReadAnswer, SealedEntry } from "../ports.ts";
import { type Part, quorumRead } from "../reads/speculative-read.ts";
import {
  type BookieAddress,
  coversEveryWriteSet,
  isAckSet,
  provesAbsence,
  type Replication,
  writeSet,
} from "../replication.ts";
import { changeItem, readItem } from "../update-item.ts";
import { CALL_MS_MAX, callBookie, type LedgerPorts } from "./ledger-ports.ts";
import { confirmedBy, judgeSlot, readEntry } from "./read-slots.ts";
import { WriteBack } from "./write-back.ts";

/**
 * Fences the ledger, finds its end and closes it. Undefined: there is no such ledger. Throws
 * `insufficient_regions` when too few bookies answer to say where it ends; it then stays IN_RECOVERY and a
 * later call goes on.
 */
export async function recoverLedger(
  ports: LedgerPorts,
  id: LedgerId,
): Promise<ClosedLedger | DeletedLedger | undefined> {
  const started = await enterRecovery(ports, id);
  if (started === undefined || started.state !== "IN_RECOVERY") return started;
  try {
    const hint = await fenceEnsemble(ports, started);
    const firstEntry = entryId(Math.max(hint, previousEntry(lastFragment(started).firstEntry)) + 1);
    ports.trace.emit({ event: "recovery-started", ledgerId: id, firstEntry });
    const tail = await recoverTail(ports, started, firstEntry);
    return await close(ports, started, tail);
  } catch (error) {
    ports.trace.emit({ event: "recovery-failed", ledgerId: id, reason: messageOf(error) });
    throw error;
  }
}

/** Rule 10: OPEN -> IN_RECOVERY, then a read of its own. */
async function enterRecovery(
  ports: LedgerPorts,
  id: LedgerId,
): Promise<LedgerInRecovery | ClosedLedger | DeletedLedger | undefined> {
  const start = (ledger: LedgerMetadata) => (ledger.state === "OPEN" ? startRecovery(ledger) : undefined);
  await changeItem(ports, ledgerKey(id), "ledger", start);
  const ledger = await readItem(ports.metadata, ledgerKey(id), "ledger");
  assert(ledger?.state !== "OPEN", "RL1: a ledger never goes back to OPEN");
  return ledger;
}

/**
 * Fences the bookies of the last fragment and collects their hints for where the tail begins (rule 10). The
 * hint is the highest last add confirmed that a genuine entry carries, or NO_ENTRY; it saves reading, nothing
 * more, so waiting stops as soon as no write set could have acknowledged on the silent bookies alone.
 */
function fenceEnsemble(ports: LedgerPorts, ledger: LedgerInRecovery): Promise<EntryId> {
  const { ledgerId, replication } = ledger;
  const { ensemble } = lastFragment(ledger);
  const known = new Set<number>();
  let silent = 0;
  let highest: EntryId = NO_ENTRY;
  return new Promise((resolve) => {
    ensemble.forEach((bookie, position) => {
      void callBookie(ports, { ledgerId, bookie, what: "fence" }, (port) => port.fence(ledgerId)).then(
        (answer) => {
          if ("kind" in answer) silent += 1;
          else {
            known.add(position);
            const confirmed = confirmedBy(ports, ledger, answer);
            if (confirmed > highest) highest = confirmed;
          }
          const done = known.size + silent === ensemble.length || coversEveryWriteSet(known, replication);
          if (done) resolve(highest);
        },
      );
    });
  });
}

interface RecoveredTail {
  readonly lastEntry: EntryId;
  /** The last entry, if recovery had it in hand. */
  readonly last: SealedEntry | undefined;
  readonly writeBack: WriteBack;
}

/**
 * Rule 11: entries are read many at a time, decided in order, written back, until a negative quorum ends the
 * ledger.
 */
async function recoverTail(
  ports: LedgerPorts,
  ledger: LedgerInRecovery,
  firstEntry: EntryId,
): Promise<RecoveredTail> {
  const writeBack = new WriteBack(ports, ledger);
  let next = firstEntry;
  let last: SealedEntry | undefined;
  // Few at first: most tails are short, and each empty slot that is read costs a Tombstone.
  let width: number = limits.recoveryReadWindowFirst;
  while (true) {
    const window = Array.from({ length: width }, (_, offset) => entryId(next + offset));
    const reads = window.map((entry) => recoveryRead(ports, ledger, entry));
    for (const read of reads) read.catch(() => undefined); // each is judged in its turn below, or left behind
    const found: SealedEntry[] = [];
    let end: Exclude<RecoveryDecision, { readonly kind: "found" }> | undefined;
    for (const read of reads) {
      const decision = await read;
      // Entries found behind this one stay behind: a gap ends the ledger, an undecided entry the attempt.
      if (decision.kind !== "found") {
        end = decision;
        break;
      }
      found.push(decision.entry);
    }
    await writeBack.hold(found);
    last = found.at(-1) ?? last;
    next = entryId(next + found.length);
    if (end?.kind === "absent") return { lastEntry: previousEntry(next), last, writeBack };
    if (end?.kind === "undecided") {
      const what = `ledger ${ledger.ledgerId}: entry ${next} was neither found nor ruled out`;
      throw insufficientRegions(what, end.verdicts, "possible");
    }
    width = Math.min(2 * width, limits.recoveryReadWindow);
  }
}

type RecoveryDecision =
  | { readonly kind: "found"; readonly entry: SealedEntry }
  | { readonly kind: "absent" }
  | { readonly kind: "undecided"; readonly verdicts: readonly BookieVerdict[] };

type Proof = Exclude<RecoveryDecision, { readonly kind: "undecided" }>;

/**
 * Reads one entry from its whole write set, fencing each bookie and occupying empty slots on the way (rules
 * 3, 11). One genuine copy is enough to keep the entry; a negative quorum ends the ledger; anything unknown
 * counts as neither, in whatever order the answers come (H29).
 *
 * The read policy gets to know how bookies do and cancels what is no longer needed. It has nothing to choose:
 * all are asked at once, since appends wait for the end of recovery.
 */
export async function recoveryRead(
  ports: LedgerPorts,
  ledger: LedgerInRecovery,
  entry: EntryId,
): Promise<RecoveryDecision> {
  const { ledgerId, replication } = ledger;
  const set = writeSet(entry, fragmentAt(ledger, entry), replication);
  const read = await quorumRead<RecoveryReadAnswer, RecoveryReadAnswer, Proof>(ports.reads, {
    kind: "recovery-read",
    writeSet: set,
    // One lost message is not yet a failure.
    timeoutMs: CALL_MS_MAX,
    call: async (bookie, signal) => {
      const what = `recovery read ${entry}`;
      const answer = await callBookie(ports, { ledgerId, bookie, what, signal }, (port) =>
        port.recoveryRead(ledgerId, entry, signal),
      );
      if (answer.kind === "unknown") throw unavailable(answer.reason);
      return answer;
    },
    judge: (answer, bookie) => judgeSlot(ports, ledger, entry, answer, bookie),
    conclude: (parts) => provenBy(parts, set, replication),
    couldConclude: () => false,
  });
  if (read.kind === "answer") return read.value;
  const negatives = read.parts.map(({ bookie }) => {
    return verdictOf(bookie, { kind: "answered", said: "does not have it" });
  });
  return { kind: "undecided", verdicts: [...read.verdicts, ...negatives] };
}

function provenBy(
  parts: readonly Part<RecoveryReadAnswer>[],
  set: readonly BookieAddress[],
  replication: Replication,
): { readonly value: Proof } | undefined {
  const negatives: BookieAddress[] = [];
  for (const { bookie, value } of parts) {
    if (value.kind === "entry") return { value: { kind: "found", entry: value.entry } };
    negatives.push(bookie);
  }
  return provesAbsence(negatives, set, replication) ? { value: { kind: "absent" } } : undefined;
}

/** Rule 12. */
async function close(
  ports: LedgerPorts,
  started: LedgerInRecovery,
  tail: RecoveredTail,
): Promise<ClosedLedger | DeletedLedger | undefined> {
  const { ledgerId } = started;
  const { lastEntry } = tail;
  const length = await lengthThrough(ports, started, tail);
  const { stored, wrote } = await changeItem(ports, ledgerKey(ledgerId), "ledger", (item) => {
    if (item.state !== "IN_RECOVERY") return undefined;
    assertSameLastFragment(item, started);
    const older = item.fragments.slice(0, -1);
    return closeLedger(item, { lastEntry, length }, [...older, ...tail.writeBack.localFragments]);
  });
  const item = stored?.item;
  if (item === undefined) return undefined;
  if (item.state === "OPEN" || item.state === "IN_RECOVERY") {
    throw notReady(`ledger ${ledgerId} is still ${item.state}`);
  }
  if (wrote) ports.trace.emit({ event: "ledger-closed", ledgerId, lastEntry, by: "recovery" });
  else ports.trace.emit({ event: "recovery-adopted", ledgerId, lastEntry: item.lastEntry });
  return item;
}

/** H43: nobody may add a fragment to a ledger in recovery; closing over one would lose what it holds. */
function assertSameLastFragment(item: LedgerInRecovery, started: LedgerInRecovery): void {
  const same = sameFragment(lastFragment(item), lastFragment(started));
  assert(same, `M4: the last fragment of ledger ${item.ledgerId} changed while it was in recovery`);
}

/** The cumulative length is in the last entry's header; one that recovery did not read itself is read now. */
async function lengthThrough(
  ports: LedgerPorts,
  ledger: LedgerInRecovery,
  tail: RecoveredTail,
): Promise<number> {
  const { lastEntry, last } = tail;
  if (lastEntry < 0) return 0;
  if (last !== undefined) return last.header.length;
  const unread = `ledger ${ledger.ledgerId}: its last entry ${lastEntry} cannot be read`;
  return (await readEntry(ports, ledger, lastEntry, unread, "possible")).header.length;
}

// ---------- What became of entries that were sent and not acknowledged

interface EntryInDoubt {
  readonly entryId: EntryId;
  readonly payload: Uint8Array;
}

export type EntryVerdict =
  | { readonly kind: "recorded"; readonly regions: readonly Region[] }
  | { readonly kind: "not-recorded" };

/**
 * Recovery closes the ledger, and its end and its entries decide (rules 8, 12, 20). An entry behind the
 * closed end is certainly not recorded and never will be; one up to it is ours if its tenure and its payload
 * are.
 *
 * One verdict for each entry, in order. Throws if it cannot say: `insufficient_regions` while too few
 * bookies answer, `unknown_outcome` if the ledger is gone for good.
 */
export async function decideEntries(
  ports: LedgerPorts,
  id: LedgerId,
  tenure: Tenure,
  entries: readonly EntryInDoubt[],
): Promise<readonly EntryVerdict[]> {
  const ledger = await recoverLedger(ports, id);
  const verdictOn = async (entry: EntryInDoubt): Promise<EntryVerdict> => {
    if (ledger === undefined) throw gone(id, "missing");
    if (entry.entryId > ledger.lastEntry) return { kind: "not-recorded" };
    if (ledger.state === "DELETED") throw gone(id, "DELETED");
    return await readVerdict(ports, ledger, tenure, entry);
  };
  const verdicts: EntryVerdict[] = [];
  for (let start = 0; start < entries.length; start += limits.recoveryReadWindow) {
    const window = entries.slice(start, start + limits.recoveryReadWindow);
    verdicts.push(...(await Promise.all(window.map(verdictOn))));
  }
  return verdicts;
}

async function readVerdict(
  ports: LedgerPorts,
  ledger: ClosedLedger,
  tenure: Tenure,
  { entryId, payload }: EntryInDoubt,
): Promise<EntryVerdict> {
  const { copy, holders } = await readCopies(ports, ledger, entryId);
  if (copy.header.tenure !== tenure || !sameBytes(copy.payload, payload)) return { kind: "not-recorded" };
  return { kind: "recorded", regions: [...new Set(holders.map((holder) => holder.place.region))].sort() };
}

interface Copies {
  readonly copy: SealedEntry;
  /** Bookies that showed a copy: an ACK set of them, or all that answered. */
  readonly holders: readonly BookieAddress[];
}

/** Asks the whole write set, so that the answer can also say where the entry is. */
function readCopies(ports: LedgerPorts, ledger: LedgerMetadata, entry: EntryId): Promise<Copies> {
  const { ledgerId, replication } = ledger;
  const set = writeSet(entry, fragmentAt(ledger, entry), replication);
  const holders: BookieAddress[] = [];
  const verdicts: BookieVerdict[] = [];
  let copy: SealedEntry | undefined;
  return new Promise((resolve, reject) => {
    const judge = (bookie: BookieAddress, answer: ReadAnswer | Unknown) => {
      const held = answer.kind === "entry" && isGenuine(ports.digest, ledger, answer.entry, entry);
      const said = held ? "has it" : "does not have it";
      verdicts.push(verdictOf(bookie, answer.kind === "unknown" ? answer : { kind: "answered", said }));
      if (held) {
        assert(
          copy === undefined || sameBytes(copy.payload, answer.entry.payload),
          "rule 20: one content an entry",
        );
        copy = answer.entry;
        holders.push(bookie);
        if (isAckSet(holders, replication)) return resolve({ copy, holders });
      }
      if (verdicts.length < set.length) return;
      if (copy !== undefined) return resolve({ copy, holders });
      reject(insufficientRegions(`ledger ${ledgerId}: entry ${entry} cannot be read`, verdicts, "none"));
    };
    for (const bookie of set) {
      callBookie(ports, { ledgerId, bookie, what: `read ${entry}` }, (port) => port.read(ledgerId, entry))
        .then((answer) => judge(bookie, answer))
        .catch(reject);
    }
  });
}

function gone(id: LedgerId, state: string): FencelineError {
  return new FencelineError("unknown_outcome", {
    message: `ledger ${id}, which the append was sent to, is ${state}`,
  });
}
