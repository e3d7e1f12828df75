/** What a story does behind its clients' backs: to the metadata, and to what bookies have stored. */
import { NodeDigest } from "../../../lib/adapters/node/node-digest.ts";
import { StoredBookie } from "../../../lib/protocol/bookie/stored-bookie.ts";
import { sealEntry } from "../../../lib/protocol/entry.ts";
import { bookieId, entryId, tenure, writeToken } from "../../../lib/protocol/ids.ts";
import { ledgerKey } from "../../../lib/protocol/items.ts";
import type { LedgerMetadata } from "../../../lib/protocol/ledger-metadata.ts";
import type { SealedEntry } from "../../../lib/protocol/ports.ts";
import type { BookieAddress, Fragment } from "../../../lib/protocol/replication.ts";
import type { Adder, World } from "../world.ts";

/** Writes the story's ledger anew, whatever its clients are doing. */
export async function changeLedger(
  w: World,
  change: (ledger: LedgerMetadata) => LedgerMetadata,
): Promise<void> {
  const key = ledgerKey(w.theLedger());
  const stored = await w.metadata.get(key, "consistent");
  if (stored?.item.kind !== "ledger") throw new Error("no ledger to change");
  const answer = await w.metadata.write(key, stored.version, change(stored.item), writeToken("meddler"));
  if (answer.kind !== "written") throw new Error("somebody got ahead of the story");
}

/** Addresses by name: `members(w, "B0 B1 B3")`. */
export function members(w: World, names: string): BookieAddress[] {
  return names.split(" ").map((name) => {
    const address = w.addresses.find((one) => one.id === name);
    if (address === undefined) throw new Error(`no bookie ${name}`);
    return address;
  });
}

export function fragment(w: World, firstEntry: number, names: string): Fragment {
  return { firstEntry: entryId(firstEntry), ensemble: members(w, names) };
}

export interface EntryFields {
  readonly entry: number;
  readonly lastAddConfirmed?: number;
  readonly length?: number;
  readonly text?: string;
  readonly tenure?: string;
}

/** An entry of the story's ledger as its writer would have sealed it. */
export function sealed(w: World, fields: EntryFields): SealedEntry {
  const { entry, lastAddConfirmed = -1, text = `e${entry}`, length = text.length, tenure: by = "T" } = fields;
  const header = {
    ledgerId: w.theLedger(),
    entryId: entryId(entry),
    lastAddConfirmed: entryId(lastAddConfirmed),
    length,
    tenure: tenure(by),
  };
  return sealEntry(new NodeDigest(), w.digest, header, new TextEncoder().encode(text));
}

/** The entry with its payload rotted: its digest does not fit any more. */
export function damaged(entry: SealedEntry): SealedEntry {
  return { ...entry, payload: entry.payload.map((byte, index) => (index === 0 ? byte ^ 0xff : byte)) };
}

/** Puts a copy into a bookie's slot, whatever is there. */
export async function store(
  w: World,
  name: string,
  entry: SealedEntry,
  kind: "original" | "recovered" = "original",
): Promise<void> {
  const { ledgerId, entryId: id } = entry.header;
  await w.store(name).put({ kind: "slot", ledgerId, entryId: id }, { kind, entry });
}

/** The entry that a bookie holds in a slot of the story's ledger. */
export async function stored(w: World, name: string, entry: number): Promise<SealedEntry> {
  const key = { kind: "slot", ledgerId: w.theLedger(), entryId: entryId(entry) } as const;
  const value = await w.store(name).get(key);
  if (value?.kind === "original" || value?.kind === "recovered") return value.entry;
  throw new Error(`${name} has no copy of ${entry}: ${value?.kind}`);
}

export async function isFenced(w: World, name: string): Promise<boolean> {
  return (await w.store(name).get({ kind: "fence", ledgerId: w.theLedger() })) !== undefined;
}

/** A new process that acts as the bookie, without any memory, past all faults. */
export function freshProcess(w: World, name: string): StoredBookie {
  const fields = { id: bookieId(name), storage: `storage-${name}`, store: w.store(name), clock: w.clock };
  return new StoredBookie(fields);
}

/** Every slot's kind over bookies: `slots(w, 2, "B0 B1 B2")` gives "original tombstone nothing". */
export async function slots(w: World, entry: number, names: string): Promise<string> {
  const kinds: string[] = [];
  for (const name of names.split(" ")) kinds.push(await w.slot(name, entry));
  return kinds.join(" ");
}

/** Sends entries e{first}, e{first + 1}, ... without waiting. */
export function sendMany(adder: Adder, first: number, count: number): Promise<string>[] {
  return Array.from({ length: count }, (_, offset) => adder.send(`e${first + offset}`));
}

/** Where a closed ledger ends. */
export function endOf(ledger: LedgerMetadata | undefined): number {
  if (ledger?.state === "CLOSED" || ledger?.state === "DELETED") return ledger.lastEntry;
  throw new Error(`it has no end: ${ledger?.state}`);
}

/** Whether the promise has settled, without waiting for it. */
export async function isSettled(w: World, promise: Promise<unknown>): Promise<boolean> {
  let settled = false;
  const note = () => {
    settled = true;
  };
  promise.then(note, note);
  await w.idle();
  return settled;
}

/** The entries acknowledged so far, in the order in which they were. */
export function acknowledged(w: World): number[] {
  return w.trace.flatMap((event) => (event.event === "entry-acknowledged" ? [event.entryId as number] : []));
}

/** How the promise failed: the code of a FencelineError, or the name of another error. */
export async function failure(promise: Promise<unknown>): Promise<string> {
  return await promise.then(
    () => "it did not fail",
    (error) => error.code ?? error.name,
  );
}
