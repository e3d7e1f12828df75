/**
 * One owner for each segment: the region that its ledger names. Only processes of that region acknowledge
 * entries of it, each only entries that stand there in its own tenure (S25), and its appender gets
 * that owner.
 */
import type {
  EntryId,
  LedgerId,
  LogIncarnation,
  Region,
  SegmentNumber,
  Tenure,
} from "../../../lib/protocol/ids.ts";
import { ledgerKey } from "../../../lib/protocol/items.ts";
import type { SimulatedProcess } from "../simulated-process.ts";
import type { World } from "../world.ts";
import type { Checker } from "./checker.ts";

export const oneOwner: Checker = {
  name: "one-owner",
  watch(world, report) {
    const holders = new Map<Tenure, SimulatedProcess>();
    /** Of segment numbers, in whatever life of the name. */
    const owners = new Map<string, Map<SegmentNumber, Set<Region>>>();
    return {
      leaseChanged({ before, after, process }) {
        if (before?.tenure !== after.tenure) holders.set(after.tenure, process);
      },
      metadataChanged({ key, after }) {
        if (after?.item.kind !== "segment") return;
        const { ledgerId, ownerRegion, number } = after.item;
        const origin = originOf(world, ledgerId);
        if (origin === undefined) return;
        if (origin.ownerRegion !== ownerRegion) {
          report(`its item says ${ownerRegion} owns it; its ledger says ${origin.ownerRegion}`, ledgerId);
        }
        const log = nameOf(world, key.partition.replace("segments#", "") as LogIncarnation);
        const ofName = owners.get(log) ?? new Map<SegmentNumber, Set<Region>>();
        owners.set(log, ofName.set(number, (ofName.get(number) ?? new Set()).add(ownerRegion)));
      },
      emitted(event, process) {
        if (event.event !== "entry-acknowledged") return;
        const { ledgerId, entryId } = event;
        const origin = originOf(world, ledgerId);
        if (origin === undefined) return;
        if (origin.ownerRegion !== process.region) {
          report(
            `${process.name} of ${process.region} acknowledges entry ${entryId} of ${origin.ownerRegion}'s`,
            ledgerId,
          );
        }
        for (const tenure of tenuresAt(world, ledgerId, entryId)) {
          const holder = holders.get(tenure);
          if (holder === undefined || holder === process) continue;
          report(`${process.name} acknowledges entry ${entryId}, which ${holder.name} wrote`, ledgerId);
        }
      },
      appended(log, contents, ack) {
        if (ack.duplicate) return; // it went there long ago
        const found = owners.get(log)?.get(ack.epoch) ?? new Set();
        if (found.has(ack.ownerRegion) && ack.epoch === ack.start.dlsn.segment) return;
        const told = `segment ${ack.epoch} of ${ack.ownerRegion}`;
        report(
          `${contents[0]} is said to be in ${told}; its owner is ${[...found].join(" or ") || "nobody"}`,
          log,
        );
      },
    };
  },
};

function originOf(world: World, ledgerId: LedgerId) {
  const ledger = world.table.get(ledgerKey(ledgerId))?.item;
  return ledger?.kind === "ledger" ? ledger.origin : undefined;
}

function nameOf(world: World, log: LogIncarnation): string {
  const found = world.table.itemsOf("log").find(({ item }) => item.incarnation === log);
  return found?.item.name ?? "";
}

/** The tenures whose Original of this entry some bookie with sound storage holds. */
function tenuresAt(world: World, ledgerId: LedgerId, entryId: EntryId): Set<Tenure> {
  const found = new Set<Tenure>();
  for (const { storage } of world.bookies.values()) {
    const value = storage.damaged ? undefined : storage.get({ kind: "slot", ledgerId, entryId });
    if (value?.kind === "original") found.add(value.entry.header.tenure);
  }
  return found;
}
