/**
 * Collection of a DELETED ledger in two sweeps (rule 15). May run twice, and in several processes at once.
 *
 * C1 Only metadata that says DELETED, read consistently, authorises any deletion; a missing item never does.
 * C2 The first sweep deletes entries up to the end. Fences, the seal and everything behind the end stay, so
 *    that an add that was under way for weeks still finds its slot taken or its ledger fenced.
 * C3 The second sweep, after the seal age, removes the rest, and the metadata last: while a bookie does not
 *    answer the item stays, for it is the only memory of what is left.
 * C4 Nothing goes before the slot behind the end is sealed. Where two recoveries met, one that found nothing
 *    there and closed the ledger, and one that found a copy, Recovered copies may have taken the place of the
 *    Tombstones (rule 4). They seal as well: an add finds the slot taken (rule 2), and no reader counts them.
 */
import { type BookieId, type LedgerId, nextEntry } from "../ids.ts";
import { ledgerKey } from "../items.ts";
import { limits } from "../limits.ts";
import type { BookieAddress } from "../place.ts";
import type { Bookie } from "../ports.ts";
import { removeItem } from "../update-item.ts";
import { askBookie, entryCall } from "./ask-bookie.ts";
import { type DeletedLedger, fragmentAt } from "./ledger-metadata.ts";
import type { LedgerPorts } from "./ledger-ports.ts";
import { negativeQuorum, writeSet } from "./write-set.ts";

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
  if (!(await isSealed(ports, ledger))) return { kind: "not-sealed" };
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

/** C4. Seals the end where nothing does yet. */
async function isSealed(ports: LedgerPorts, ledger: DeletedLedger): Promise<boolean> {
  const { ledgerId, replication } = ledger;
  const slot = nextEntry(ledger.lastEntry);
  const ask = (bookie: BookieAddress) =>
    askBookie(ports, {
      ledgerId,
      bookie,
      what: entryCall("seal", slot),
      call: async (port) => {
        if ((await port.seal(ledgerId, slot)).kind === "sealed") return { kind: "sealed" } as const;
        const there = await port.recoveryRead(ledgerId, slot);
        const isTaken = there.kind === "tombstone" || there.copy === "recovered";
        return isTaken ? ({ kind: "sealed" } as const) : ({ kind: "open" } as const);
      },
    });
  const answers = await Promise.all(writeSet(slot, fragmentAt(ledger, slot), replication).map(ask));
  return answers.filter(({ kind }) => kind === "sealed").length >= negativeQuorum(replication);
}

/** C1. */
async function readDeleted(ports: LedgerPorts, id: LedgerId): Promise<DeletedLedger | undefined> {
  const item = (await ports.metadata.get(ledgerKey(id), "consistent"))?.item;
  return item?.kind === "ledger" && item.state === "DELETED" ? item : undefined;
}

/** Asks every bookie that ever was a member; returns those that did not answer. */
async function sweep(
  ports: LedgerPorts,
  ledger: DeletedLedger,
  what: string,
  call: (bookie: Bookie) => Promise<void>,
): Promise<BookieId[]> {
  const members = new Map<BookieId, BookieAddress>();
  for (const fragment of ledger.fragments)
    for (const member of fragment.ensemble) members.set(member.id, member);
  const silent: BookieId[] = [];
  const ids = new Set<BookieId>([...members.keys(), ...ledger.retired]);
  await Promise.all(
    [...ids].map(async (id) => {
      const bookie = members.get(id) ?? { id, place: { region: ports.region, rack: "" } };
      const answer = await askBookie(ports, {
        ledgerId: ledger.ledgerId,
        bookie,
        what,
        call: async (port) => {
          await call(port);
          return { kind: "done" } as const;
        },
      });
      if (answer.kind === "unknown") silent.push(id);
    }),
  );
  return silent;
}
