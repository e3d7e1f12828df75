/**
 * A writer's ensemble change, at the moment at which the metadata takes it (rule 6): the new fragment starts
 * right behind the last add confirmed (H54, H55), and whatever any member holds of an entry that is not
 * confirmed is on the replacements in its write set as well (S09).
 */
import type { EntryId, LedgerId } from "../../../lib/protocol/ids.ts";
import { lastFragment, type OpenLedger } from "../../../lib/protocol/ledger-metadata.ts";
import { bookiesOf } from "../quorums.ts";
import type { World } from "../world.ts";
import type { Checker } from "./checker.ts";

export const ensembleChanges: Checker = {
  name: "ensemble-changes",
  watch(world, report) {
    const confirmed = new Map<LedgerId, number>();
    return {
      emitted(event) {
        if (event.event === "entry-acknowledged") confirmed.set(event.ledgerId, event.entryId);
      },
      metadataChanged({ before, after }) {
        const item = after?.item;
        const old = before?.item;
        if (item?.kind !== "ledger" || item.state !== "OPEN") return;
        if (old?.kind !== "ledger" || old.state !== "OPEN") return;
        const first = lastFragment(item).firstEntry;
        const last = confirmed.get(item.ledgerId) ?? -1;
        if (first !== last + 1) {
          report(`its new fragment starts at ${first}; ${last} is the last add confirmed`, item.ledgerId);
        }
        const wrong = missingCopy(world, old, item, first);
        if (wrong !== undefined) report(wrong, item.ledgerId);
      },
    };
  },
};

function missingCopy(world: World, old: OpenLedger, item: OpenLedger, first: EntryId): string | undefined {
  const storageOf = (id: string) =>
    [...world.bookies.values()].find(({ address }) => address.id === id)?.storage;
  const members = lastFragment(old).ensemble;
  const sent = new Set<EntryId>();
  for (const { id } of members) {
    for (const [entry, value] of storageOf(id)?.slotsOf(item.ledgerId) ?? []) {
      if (entry >= first && value.kind === "original") sent.add(entry);
    }
  }
  for (const entry of [...sent].sort((one, other) => one - other)) {
    for (const { id } of bookiesOf(item, entry)) {
      const storage = storageOf(id);
      if (members.some((member) => member.id === id) || storage === undefined || storage.damaged) continue;
      if (storage.slotsOf(item.ledgerId).has(entry)) continue;
      return `${id} joins the ensemble without entry ${entry}, which is sent and not confirmed`;
    }
  }
  return undefined;
}
