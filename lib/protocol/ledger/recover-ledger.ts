/**
 * Recovery: makes a ledger end, whatever its writer is doing (rules 10 to 12). Any number of processes may
 * run it at once, each step may run twice; they all come to the one end that the metadata then names.
 *
 * RL1 Metadata says IN_RECOVERY before any bookie is fenced: no ensemble changes under recovery (rule 10).
 * RL2 Recovery reads go to the write sets of the ensemble that the metadata named then; bookies that recovery
 *     itself put in the place of failed ones are never asked for negatives (rule 11, S06).
 * RL3 An entry of which any copy was found is written back to an ACK set before the ledger is closed at or
 *     behind it; only a negative quorum ends the ledger; neither leaves it IN_RECOVERY (rule 11).
 * RL4 End, length and local fragments become visible in one compare-and-set; whoever loses it adopts (rule
 * 12).
 */
import { assert } from "../assert.ts";
import { insufficientRegions, notReady } from "../errors.ts";
import { type EntryId, entryId, type LedgerId, previousEntry } from "../ids.ts";
import { ledgerKey } from "../items.ts";
import {
  type ClosedLedger,
  closeLedger,
  type DeletedLedger,
  fragmentAt,
  type LedgerInRecovery,
  lastFragment,
  sameFragment,
  startRecovery,
} from "../ledger-metadata.ts";
import { limits } from "../limits.ts";
import type { SealedEntry } from "../ports.ts";
import { updateItem } from "../update-item.ts";
import { writeSet } from "../write-set.ts";
import { fenceEnsemble } from "./fence-ensemble.ts";
import type { LedgerPorts } from "./ledger-ports.ts";
import { readAnyCopy } from "./read-any-copy.ts";
import { recoveryRead } from "./recovery-read.ts";
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
    const reason = error instanceof Error ? error.message : String(error);
    ports.trace.emit({ event: "recovery-failed", ledgerId: id, reason });
    throw error;
  }
}

/** Rule 10: OPEN -> IN_RECOVERY, then a read of its own. */
async function enterRecovery(
  ports: LedgerPorts,
  id: LedgerId,
): Promise<LedgerInRecovery | ClosedLedger | DeletedLedger | undefined> {
  await updateItem(ports, ledgerKey(id), (current) => {
    const item = current?.item;
    if (item?.kind !== "ledger" || item.state !== "OPEN") return { kind: "keep" };
    return { kind: "write", item: startRecovery(item) };
  });
  const item = (await ports.metadata.get(ledgerKey(id), "consistent"))?.item;
  if (item === undefined) return undefined;
  assert(item.kind === "ledger" && item.state !== "OPEN", "RL1: a ledger never goes back to OPEN");
  return item;
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
    let ended = false;
    for (const [offset, read] of reads.entries()) {
      const decision = await read;
      if (decision.kind === "found") {
        found.push(decision.entry);
        continue;
      }
      // Entries found behind this one stay behind: a gap ends the ledger, an undecided entry ends the
      // attempt.
      if (decision.kind === "undecided") {
        await writeBack.hold(found);
        const what = `ledger ${ledger.ledgerId}: entry ${next + offset} was neither found nor ruled out`;
        throw insufficientRegions(what, decision.verdicts, "possible");
      }
      ended = true;
      break;
    }
    await writeBack.hold(found);
    last = found.at(-1) ?? last;
    next = entryId(next + found.length);
    width = Math.min(2 * width, limits.recoveryReadWindow);
    if (ended) return { lastEntry: previousEntry(next), last, writeBack };
  }
}

/** Rule 12. */
async function close(
  ports: LedgerPorts,
  started: LedgerInRecovery,
  tail: RecoveredTail,
): Promise<ClosedLedger | DeletedLedger | undefined> {
  const { lastEntry } = tail;
  const length = await lengthThrough(ports, started, tail);
  const { stored, wrote } = await updateItem(ports, ledgerKey(started.ledgerId), (current) => {
    const item = current?.item;
    if (item?.kind !== "ledger" || item.state !== "IN_RECOVERY") return { kind: "keep" };
    assertSameLastFragment(item, started);
    const older = item.fragments.slice(0, -1);
    return {
      kind: "write",
      item: closeLedger(item, { lastEntry, length }, [...older, ...tail.writeBack.localFragments]),
    };
  });
  const item = stored?.item;
  if (item === undefined) return undefined;
  assert(item.kind === "ledger", "a ledger's key holds a ledger");
  if (item.state === "OPEN" || item.state === "IN_RECOVERY") {
    throw notReady(`ledger ${started.ledgerId} is still ${item.state}`);
  }
  const ledgerId = item.ledgerId;
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
  if (tail.lastEntry < 0) return 0;
  if (tail.last !== undefined) return tail.last.header.length;
  const fragment = fragmentAt(ledger, tail.lastEntry);
  const copy = await readAnyCopy(
    ports,
    ledger,
    tail.lastEntry,
    writeSet(tail.lastEntry, fragment, ledger.replication),
  );
  if (copy.kind === "entry") return copy.entry.header.length;
  const what = `ledger ${ledger.ledgerId}: its last entry ${tail.lastEntry} cannot be read`;
  throw insufficientRegions(what, copy.verdicts, "possible");
}
