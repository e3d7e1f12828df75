/**
 * The end of a ledger. May run twice, and in several processes at once.
 *
 * The writer's close (rule 9): first the seal, Tombstones at the slot after the last entry on NEG bookies of
 * its write set, so that no stale reader takes that empty slot for a tail; then the metadata, OPEN -> CLOSED.
 * Where either does not go through, the writer recovers its own ledger like anybody else.
 *
 * Then CLOSED -> DELETED, the abandonment of a ledger that was never written to (rules 15, 27), and the
 * collection of a DELETED one in two sweeps:
 *
 * CL1 Only metadata that says DELETED, read consistently, authorises any deletion; a missing item never does.
 * CL2 The first sweep deletes entries up to the end. Fences, the seal and everything behind the end stay, so
 *     that an add that was under way for weeks still finds its slot taken or its ledger fenced.
 * CL3 The second sweep, after the seal age, removes the rest, and the metadata last: while a bookie does not
 *     answer the item stays, for it is the only memory of what is left.
 * CL4 Nothing goes before the slot behind the end is sealed. Where two recoveries met, one that found nothing
 *     there and closed the ledger, and one that found a copy, Recovered copies may have taken the place of
 *     the Tombstones (rule 4). They seal as well: an add finds the slot taken (rule 2), and no reader counts
 *     them.
 */
import { FencelineError } from "../errors.ts";
import { type BookieId, type EntryId, type LedgerId, nextEntry } from "../ids.ts";
import { ledgerKey } from "../items.ts";
import {
  type ClosedLedger,
  closeLedger,
  type DeletedLedger,
  deleteLedger,
  fragmentAt,
  type LedgerMetadata,
  lastFragment,
  type OpenLedger,
  sameFragment,
} from "../ledger-metadata.ts";
import { limits } from "../limits.ts";
import type { Bookie, SealAnswer, Versioned } from "../ports.ts";
import { type BookieAddress, negativeQuorum, writeSet } from "../replication.ts";
import { changeItem, readItem, removeItem } from "../update-item.ts";
import { callBookie, type LedgerPorts } from "./ledger-ports.ts";
import { recoverLedger } from "./recover-ledger.ts";

/** Without `end` something is outstanding, and only recovery may say where the ledger ends. */
export async function closeCleanly(
  ports: LedgerPorts,
  ledger: Versioned<OpenLedger>,
  end: { readonly lastEntry: EntryId; readonly length: number } | undefined,
): Promise<ClosedLedger> {
  const { ledgerId } = ledger.item;
  if (end !== undefined && (await sealEnd(ports, ledger.item, end.lastEntry))) {
    const { stored, wrote } = await changeItem(ports, ledger.key, "ledger", (item) => {
      // The seal is on the bookies that this writer knows: where others have taken their place, it is none.
      const isOurs = item.state === "OPEN" && sameFragment(lastFragment(item), lastFragment(ledger.item));
      return isOurs ? closeLedger(item, end) : undefined;
    });
    if (wrote) ports.trace.emit({ event: "ledger-closed", ledgerId, lastEntry: end.lastEntry, by: "writer" });
    if (stored?.item.state === "CLOSED") return stored.item;
  }
  const recovered = await recoverLedger(ports, ledgerId);
  if (recovered?.state === "CLOSED") return recovered;
  throw new FencelineError("fenced", {
    message: `ledger ${ledgerId} was deleted while its writer closed it`,
    retryable: false,
  });
}

/** Seals one bookie's slot and says if it is sealed then. */
type SealSlot = (bookie: Bookie, ledgerId: LedgerId, slot: EntryId) => Promise<SealAnswer>;

/** SEAL(l): true once NEG bookies of the next entry's write set hold a Tombstone there. */
export async function sealEnd(
  ports: LedgerPorts,
  ledger: LedgerMetadata,
  lastEntry: EntryId,
  sealSlot: SealSlot = (bookie, ledgerId, slot) => bookie.seal(ledgerId, slot),
): Promise<boolean> {
  const { ledgerId, replication } = ledger;
  const slot = nextEntry(lastEntry);
  const set = writeSet(slot, fragmentAt(ledger, slot), replication);
  return await new Promise<boolean>((resolve) => {
    let sealed = 0;
    let answered = 0;
    for (const bookie of set) {
      void callBookie(ports, { ledgerId, bookie, what: `seal ${slot}` }, (port) =>
        sealSlot(port, ledgerId, slot),
      ).then((answer) => {
        answered += 1;
        if (answer.kind === "sealed") sealed += 1;
        if (sealed >= negativeQuorum(replication)) resolve(true);
        else if (answered === set.length) resolve(false);
      });
    }
  });
}

// ---------- DELETED, and collected

/**
 * Marks a CLOSED ledger as DELETED. Undefined: there is no such ledger, or it is not closed yet. From here on
 * its entries may be collected; its fences and seal stay for the seal age.
 */
export async function markDeleted(ports: LedgerPorts, id: LedgerId): Promise<DeletedLedger | undefined> {
  const { stored } = await changeItem(ports, ledgerKey(id), "ledger", (item) =>
    item.state === "CLOSED" ? deleteLedger(item, ports.clock.nowMs()) : undefined,
  );
  return stored?.item.state === "DELETED" ? stored.item : undefined;
}

/**
 * Rule 27, only for a process that sent nothing to this ledger and never will: closes it with its seal, then
 * marks it DELETED. Recovery does both halves of the close, and finds the truth should somebody have written
 * after all: a ledger that turns out not to be empty is closed and kept.
 */
export async function abandonLedger(ports: LedgerPorts, id: LedgerId, reason: string): Promise<void> {
  ports.trace.emit({ event: "ledger-abandoned", ledgerId: id, reason });
  const recovered = await recoverLedger(ports, id);
  if (recovered?.state === "CLOSED" && recovered.lastEntry < 0) await markDeleted(ports, id);
}

export type SweepAnswer =
  | { readonly kind: "swept" }
  /** Nothing was touched. */
  | { readonly kind: "not-deleted" }
  | { readonly kind: "too-early"; readonly notBeforeMs: number }
  | { readonly kind: "not-sealed" }
  /** These bookies did not answer; sweep again later. */
  | { readonly kind: "incomplete"; readonly silent: readonly BookieId[] };

/** Deletes the entries of a DELETED ledger. */
export async function sweepEntries(ports: LedgerPorts, id: LedgerId): Promise<SweepAnswer> {
  const ledger = await readDeleted(ports, id);
  if (ledger === undefined) return { kind: "not-deleted" };
  if (!(await sealEnd(ports, ledger, ledger.lastEntry, sealOrFind))) return { kind: "not-sealed" };
  const silent = await sweep(ports, ledger, "sweep entries", (bookie) =>
    bookie.deleteEntries(id, ledger.lastEntry),
  );
  if (silent.length > 0) return { kind: "incomplete", silent };
  ports.trace.emit({ event: "ledger-swept", ledgerId: id, sweep: "first" });
  return { kind: "swept" };
}

/** Removes what the first sweep kept, and then the metadata, once the seal age is over. */
export async function sweepSeal(
  ports: LedgerPorts,
  id: LedgerId,
  sealAgeMs: number = limits.sealAgeMs,
): Promise<SweepAnswer> {
  const ledger = await readDeleted(ports, id);
  if (ledger === undefined) return { kind: "not-deleted" };
  const notBeforeMs = ledger.deletedAtMs + Math.max(sealAgeMs, limits.sealAgeMinMs);
  if (ports.clock.nowMs() < notBeforeMs) return { kind: "too-early", notBeforeMs };
  const silent = await sweep(ports, ledger, "forget", (bookie) => bookie.forget(id));
  if (silent.length > 0) return { kind: "incomplete", silent };
  await removeItem(ports, ledgerKey(id), ({ item }) => item.kind === "ledger" && item.state === "DELETED");
  ports.trace.emit({ event: "ledger-swept", ledgerId: id, sweep: "second" });
  return { kind: "swept" };
}

/** CL4. A slot that holds a seal, or a copy that seals as well. */
const sealOrFind: SealSlot = async (bookie, ledgerId, slot) => {
  const answer = await bookie.seal(ledgerId, slot);
  if (answer.kind === "sealed") return answer;
  const there = await bookie.recoveryRead(ledgerId, slot);
  return { kind: there.kind === "tombstone" || there.copy === "recovered" ? "sealed" : "occupied" };
};

/** CL1. */
async function readDeleted(ports: LedgerPorts, id: LedgerId): Promise<DeletedLedger | undefined> {
  const item = await readItem(ports.metadata, ledgerKey(id), "ledger");
  return item?.state === "DELETED" ? item : undefined;
}

/** Asks every bookie that ever was a member; returns those that did not answer. */
async function sweep(
  ports: LedgerPorts,
  { ledgerId, fragments, retired }: DeletedLedger,
  what: string,
  call: (bookie: Bookie) => Promise<void>,
): Promise<BookieId[]> {
  const members = new Map<BookieId, BookieAddress>();
  for (const member of fragments.flatMap(({ ensemble }) => ensemble)) members.set(member.id, member);
  for (const id of retired) {
    if (!members.has(id)) members.set(id, { id, place: { region: ports.region, rack: "" } });
  }
  const answers = [...members.values()].map(async (bookie) => {
    const unknown = await callBookie(ports, { ledgerId, bookie, what }, call);
    return unknown === undefined ? [] : [bookie.id];
  });
  return (await Promise.all(answers)).flat();
}
