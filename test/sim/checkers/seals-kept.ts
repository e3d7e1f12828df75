/**
 * What is deleted may be deleted: slots only of a ledger whose metadata says DELETED, fences and whatever
 * lies behind the end only when the seal age is over (rules 1, 15). A missing item authorises nothing.
 */
import { ledgerKey } from "../../../lib/protocol/items.ts";
import { limits } from "../../../lib/protocol/limits.ts";
import { WALL_START_MS } from "../simulated-process.ts";
import type { Checker } from "./checker.ts";

/** Clocks of collectors may be wrong by so much. */
const SKEW_MS = 24 * 3_600_000;

export const sealsKept: Checker = {
  name: "seals-kept",
  watch(world, report) {
    const ageMs = (deletedAtMs: number) => WALL_START_MS + world.scheduler.nowMs - deletedAtMs;
    return {
      metadataChanged({ before, after }) {
        const item = before?.item;
        if (item?.kind !== "ledger" || after !== undefined) return;
        if (item.state !== "DELETED") report(`its item is removed while ${item.state}`, item.ledgerId);
        else if (ageMs(item.deletedAtMs) < limits.sealAgeMinMs - SKEW_MS) {
          report(`its item is removed ${ageMs(item.deletedAtMs)} ms after it was deleted`, item.ledgerId);
        }
      },
      storeChanged({ bookie, key, after }) {
        if (key.kind === "incarnation" || after !== undefined) return;
        const item = world.table.get(ledgerKey(key.ledgerId))?.item;
        const what = key.kind === "fence" ? "its fence" : `slot ${key.entryId}`;
        if (item?.kind !== "ledger" || item.state !== "DELETED") {
          const state = item?.kind === "ledger" ? item.state : "missing";
          return report(`${bookie} lost ${what} while the metadata is ${state}`, key.ledgerId);
        }
        const belongsToSeal = key.kind === "fence" || key.entryId > item.lastEntry;
        const age = ageMs(item.deletedAtMs);
        if (belongsToSeal && age < limits.sealAgeMinMs - SKEW_MS) {
          report(`${bookie} lost ${what} ${age} ms after the ledger was deleted`, key.ledgerId);
        }
      },
    };
  },
};
