/**
 * What the log of a story promised to its callers and did not keep. Empty is a good end. The checks look at
 * the stores and the metadata themselves, not through the code under test.
 */
import { type EntryId, entryId, type LedgerId } from "../../lib/protocol/ids.ts";
import { ledgerKey } from "../../lib/protocol/items.ts";
import { type ClosedLedger, fragmentAt, type LedgerMetadata } from "../../lib/protocol/ledger-metadata.ts";
import { isAckSet, writeSet } from "../../lib/protocol/replication.ts";
import { textOf, type World } from "./world.ts";

/** An add that was answered with its place. */
export interface Acknowledged {
  readonly ledgerId: LedgerId;
  readonly entry: EntryId;
  readonly text: string;
}

/** What a strong reader said, and what had happened when it was asked. */
export interface ReaderSaid {
  readonly ledgerId: LedgerId;
  readonly entry: EntryId;
  readonly said: string;
  /** The payload, if it was an entry. */
  readonly text?: string;
  readonly acknowledgedBefore: readonly EntryId[];
  readonly stateBefore: LedgerMetadata["state"] | "missing";
}

/** The end that a recovery came back with. */
export interface RecoveryEnd {
  readonly ledgerId: LedgerId;
  readonly lastEntry: EntryId;
}

export async function brokenPromises(w: World): Promise<string[]> {
  const ledgerId = w.theLedger();
  const item = (await w.metadata.get(ledgerKey(ledgerId), "consistent"))?.item;
  const lies = nothingYetLies(w.readerSaid.filter((one) => one.ledgerId === ledgerId));
  const ends = w.ends.filter((end) => end.ledgerId === ledgerId);
  const ledger =
    item?.kind === "ledger" && (item.state === "CLOSED" || item.state === "DELETED") ? item : undefined;
  // Once the item is removed, what recovery said when it was there is all that is known of the end.
  const lastEntry = ledger?.lastEntry ?? (item === undefined ? ends.at(-1)?.lastEntry : undefined);
  if (lastEntry === undefined) return lies;
  const beyond = [
    ...promisedEntries(w, ledgerId)
      .filter(({ entry }) => entry > lastEntry)
      .map(({ entry, how }) => `entry ${entry} was ${how}, the ledger ends at ${lastEntry}`),
    ...ends
      .filter((end) => end.lastEntry !== lastEntry)
      .map((end) => `a recovery ended at ${end.lastEntry}, the ledger at ${lastEntry}`),
  ];
  const kept = ledger?.state === "CLOSED" ? await closedEntries(w, ledger) : [];
  return [...new Set([...lies, ...beyond, ...kept])];
}

/** Rule 14: said of an entry that was there, or of a ledger that had ended. */
function nothingYetLies(said: readonly ReaderSaid[]): string[] {
  return said
    .filter((one) => one.said === "nothing-yet")
    .flatMap(({ entry, acknowledgedBefore, stateBefore }) => [
      ...(acknowledgedBefore.some((one) => one >= entry)
        ? [`"nothing yet" of entry ${entry}, acknowledged before`]
        : []),
      ...(stateBefore === "CLOSED" ? [`"nothing yet" of entry ${entry}, closed before`] : []),
    ]);
}

function promisedEntries(w: World, ledgerId: LedgerId): { entry: EntryId; text: string; how: string }[] {
  const returned = w.readerSaid.flatMap(({ text, ...one }) => (text === undefined ? [] : [{ ...one, text }]));
  return [
    ...w.acknowledged.map((one) => ({ ...one, how: "acknowledged" })),
    ...returned.map((one) => ({ ...one, how: "returned" })),
  ].filter((one) => one.ledgerId === ledgerId);
}

/** Each entry up to the end is on an ACK set of its write set, with the bytes that were promised. */
async function closedEntries(w: World, ledger: ClosedLedger): Promise<string[]> {
  const broken: string[] = [];
  for (let number = 0; number <= ledger.lastEntry; number++) {
    const entry = entryId(number);
    const { holders, texts } = await copiesOf(w, ledger, entry);
    if (!isAckSet(holders, ledger.replication)) {
      const names = holders.map((holder) => holder.id).join(" ") || "no bookie";
      broken.push(`entry ${entry} of the closed ledger is held by ${names}`);
    }
    if (texts.size > 1) broken.push(`entry ${entry} has ${texts.size} contents`);
    for (const promised of promisedEntries(w, ledger.ledgerId)) {
      if (promised.entry !== entry || texts.size === 0 || texts.has(promised.text)) continue;
      broken.push(`entry ${entry} was ${promised.how} as ${promised.text}, and is ${[...texts].join(" ")}`);
    }
  }
  return broken;
}

async function copiesOf(w: World, ledger: ClosedLedger, entry: EntryId) {
  const texts = new Set<string>();
  const set = writeSet(entry, fragmentAt(ledger, entry), ledger.replication);
  const holders: typeof set = [];
  for (const member of set) {
    const store = w.stores.get(member.id);
    const value = await store?.get({ kind: "slot", ledgerId: ledger.ledgerId, entryId: entry });
    if (value?.kind !== "original" && value?.kind !== "recovered") continue;
    holders.push(member);
    texts.add(textOf(value.entry));
  }
  return { holders, texts };
}
