/**
 * What is deleted may be deleted: slots only of a ledger whose metadata says DELETED, fences and whatever
 * lies behind the end only when the seal age is over (rules 1, 15). A missing item authorises nothing. The age
 * counts from the moment at which the metadata said DELETED, whatever time its writer noted.
 */
import type { LedgerId } from "../../../lib/protocol/ids.ts";
import { ledgerKey } from "../../../lib/protocol/items.ts";
import { limits } from "../../../lib/protocol/limits.ts";
import type { Plan } from "../plan.ts";
import type { Checker } from "./checker.ts";

/** Between a look at the clock and the write that carries it. */
const WRITE_MS = 60_000;

/** By how much two clocks of this plan can differ, and a writer's time from the moment of its write. */
function errorMs({ faults }: Plan): number {
  const wrong = new Map<string, number>();
  for (const fault of faults) {
    if (fault.kind !== "clock-skewed" && fault.kind !== "clock-jumped") continue;
    wrong.set(fault.target, (wrong.get(fault.target) ?? 0) + Math.abs(fault.amount ?? 0));
  }
  return 2 * Math.max(0, ...wrong.values()) + WRITE_MS;
}

export const sealsKept: Checker = {
  name: "seals-kept",
  watch(world, report) {
    const deletedAtMs = new Map<LedgerId, number>();
    const leastMs = limits.sealAgeMs - errorMs(world.plan);
    const ageMs = (ledgerId: LedgerId) =>
      world.scheduler.nowMs - (deletedAtMs.get(ledgerId) ?? Number.POSITIVE_INFINITY);
    return {
      metadataChanged({ before, after }) {
        const item = before?.item;
        if (after?.item.kind === "ledger" && after.item.state === "DELETED") {
          const { ledgerId } = after.item;
          deletedAtMs.set(ledgerId, deletedAtMs.get(ledgerId) ?? world.scheduler.nowMs);
        }
        if (item?.kind !== "ledger" || after !== undefined) return;
        if (item.state !== "DELETED") report(`its item is removed while ${item.state}`, item.ledgerId);
        else if (ageMs(item.ledgerId) < leastMs) {
          report(`its item is removed ${ageMs(item.ledgerId)} ms after it was deleted`, item.ledgerId);
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
        const age = ageMs(key.ledgerId);
        if (belongsToSeal && age < leastMs) {
          report(`${bookie} lost ${what} ${age} ms after the ledger was deleted`, key.ledgerId);
        }
      },
    };
  },
};
