/**
 * A clean release is the last word of its tenure (rules 17, 18): no entry that carries the tenure ever stands
 * behind the tail that it left, whichever of the two comes first; and when it takes effect nobody's entry does.
 * And only who acquired a clean lease goes on in a ledger that another tenure has written to (18, 19).
 */
import type { LedgerId, Tenure } from "../../../lib/protocol/ids.ts";
import type { LedgerTail } from "../../../lib/protocol/lease.ts";
import type { World } from "../world.ts";
import type { Checker } from "./checker.ts";

export const leasesTellTails: Checker = {
  name: "leases-tell-tails",
  watch(world, report) {
    const left = new Map<Tenure, LedgerTail>();
    /** Tenures that began with a lease that was not clean. */
    const unclean = new Set<Tenure>();
    const writers = new Map<LedgerId, Set<Tenure>>();
    return {
      leaseChanged({ before, after, process }) {
        if (before?.tenure !== after.tenure && before?.clean !== true) unclean.add(after.tenure);
        if (!after.clean || after.tail === undefined || before?.clean === true) return;
        left.set(after.tenure, after.tail);
        const { ledgerId, lastAddConfirmed } = after.tail;
        const highest = highestOriginal(world, ledgerId);
        if (highest > lastAddConfirmed) {
          report(
            `${process.name} leaves it clean at ${lastAddConfirmed}; entry ${highest} is there`,
            ledgerId,
          );
        }
      },
      storeChanged({ bookie, key, after }) {
        if (key.kind !== "slot" || after?.kind !== "original") return;
        const { tenure } = after.entry.header;
        const tenures = writers.get(key.ledgerId) ?? new Set();
        if (unclean.has(tenure) && tenures.size > 0 && !tenures.has(tenure)) {
          report(
            `${bookie} stores ${key.entryId} of a tenure that goes on, after one that was not clean`,
            key.ledgerId,
          );
        }
        writers.set(key.ledgerId, tenures.add(tenure));
        const tail = left.get(tenure);
        if (tail === undefined || tail.ledgerId !== key.ledgerId) return;
        if (key.entryId <= tail.lastAddConfirmed) return; // a straggler of an acknowledged add
        const { lastAddConfirmed } = tail;
        report(
          `${bookie} stores ${key.entryId} of a tenure that was released at ${lastAddConfirmed}`,
          key.ledgerId,
        );
      },
    };
  },
};

function highestOriginal(world: World, ledgerId: LedgerId): number {
  let highest = -1;
  for (const { storage } of world.bookies.values()) {
    for (const [entry, value] of storage.slotsOf(ledgerId)) {
      if (value.kind === "original") highest = Math.max(highest, entry);
    }
  }
  return highest;
}
