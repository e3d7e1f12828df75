/**
 * What a bookie answers is true of its storage at that moment (rules 2 to 4): OK to an add means an Original
 * in the slot, OK to a write-back a copy, a negative or a seal something that keeps every later add out, and
 * a conflict an Original. A ledger that is being collected is left out, and so is damaged storage.
 */
import { ledgerKey } from "../../../lib/protocol/items.ts";
import type { BookieOperation } from "../observations.ts";
import type { Checker } from "./checker.ts";

type Slot = "nothing" | "original" | "recovered" | "tombstone" | "fence" | "incarnation";

/** For each answer that claims something of a slot, what may then be in it. */
const truths: Partial<Record<BookieOperation, Readonly<Record<string, readonly Slot[]>>>> = {
  add: { ok: ["original"] },
  recoveryAdd: { ok: ["original", "recovered"], conflict: ["original"] },
  recoveryRead: { tombstone: ["tombstone", "recovered"], entry: ["original", "recovered"] },
  seal: { sealed: ["tombstone", "recovered"] },
};

export const bookieAnswersTrue: Checker = {
  name: "bookie-answers-true",
  watch(world, report) {
    return {
      bookieAnswered({ bookie, operation, ledgerId, entryId }, answer) {
        const allowed = truths[operation]?.[(answer as { kind: string }).kind];
        const storage = world.bookies.get(bookie)?.storage;
        if (allowed === undefined || entryId === undefined || storage === undefined || storage.damaged)
          return;
        const found: Slot = storage.get({ kind: "slot", ledgerId, entryId })?.kind ?? "nothing";
        if (allowed.includes(found)) return;
        const item = world.table.get(ledgerKey(ledgerId))?.item;
        if (item?.kind !== "ledger" || item.state === "DELETED") return;
        const said = (answer as { kind: string }).kind;
        report(`${bookie} answers ${said} to ${operation} ${entryId}; its slot holds ${found}`, ledgerId);
      },
    };
  },
};
