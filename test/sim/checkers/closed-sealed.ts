/**
 * A ledger's end is sealed before it is closed: the slot behind it can no longer take an add on any ACK set
 * (rules 9, 12; SEAL). A Recovered copy over a Tombstone keeps an add out just as well.
 */
import { nextEntry } from "../../../lib/protocol/ids.ts";
import { bookiesOf, leaveNoAckQuorum } from "../quorums.ts";
import type { Checker } from "./checker.ts";

export const closedSealed: Checker = {
  name: "closed-sealed",
  watch(world, report) {
    return {
      metadataChanged({ before, after }) {
        const item = after?.item;
        const old = before?.item;
        if (item?.kind !== "ledger" || item.state !== "CLOSED" || old?.kind !== "ledger") return;
        if (old.state === "CLOSED") return;
        const slot = nextEntry(item.lastEntry);
        const sealed = bookiesOf(old, slot).filter(({ id }) => {
          const storage = world.bookies.get(id)?.storage;
          if (storage?.damaged === true) return true;
          const value = storage?.get({ kind: "slot", ledgerId: item.ledgerId, entryId: slot });
          return value?.kind === "tombstone" || value?.kind === "recovered";
        });
        if (leaveNoAckQuorum(sealed, item.replication)) return;
        const names = sealed.map(({ id }) => id).join(", ") || "no bookie";
        report(`closed at ${item.lastEntry}, and slot ${slot} is sealed on ${names} only`, item.ledgerId);
      },
    };
  },
};
