/**
 * A ledger is closed whole: every entry up to its end is on an ACK set of the write set that the metadata
 * assigns to it, all copies alike (TLA+: AllCommittedEntriesReachAckQuorum). Storage that was damaged counts
 * as what it was given.
 */
import type { EntryId } from "../../../lib/protocol/ids.ts";
import type { ClosedLedger } from "../../../lib/protocol/ledger-metadata.ts";
import { areAckSet, bookiesOf, copyOf } from "../quorums.ts";
import type { World } from "../world.ts";
import type { Checker } from "./checker.ts";

export const closedWhole: Checker = {
  name: "closed-whole",
  watch(world, report) {
    return {
      metadataChanged({ before, after }) {
        const item = after?.item;
        if (item?.kind !== "ledger" || item.state !== "CLOSED") return;
        if (before?.item.kind === "ledger" && before.item.state === "CLOSED") return;
        for (let entry = 0; entry <= item.lastEntry; entry++) {
          const wrong = wrongEntry(world, item, entry as EntryId);
          if (wrong !== undefined) return report(wrong, item.ledgerId);
        }
      },
    };
  },
};

function wrongEntry(world: World, ledger: ClosedLedger, entry: EntryId): string | undefined {
  const contents = new Set<string>();
  const holders = bookiesOf(ledger, entry).filter(({ id }) => {
    const storage = world.bookies.get(id)?.storage;
    const value = storage?.get({ kind: "slot", ledgerId: ledger.ledgerId, entryId: entry });
    if (storage?.damaged === true) return true;
    if (value?.kind !== "original" && value?.kind !== "recovered") return false;
    contents.add(copyOf(value.entry));
    return true;
  });
  if (contents.size > 1) return `entry ${entry} has ${contents.size} contents`;
  if (areAckSet(holders, ledger.replication)) return undefined;
  const names = holders.map(({ id }) => id).join(", ") || "no bookie";
  return `closed at ${ledger.lastEntry} with entry ${entry} on ${names} only`;
}
