/** Wrong collections: rule 15. */
import type { Mutant } from "./mutant.ts";

export const collectionMutants: readonly Mutant[] = [
  {
    name: "collection-drops-the-seal",
    breaks: "S17, S19, rule 15: fence and seal are kept",
    patches: [
      { in: "sweepEntries", from: "bookie.deleteEntries(id, ledger.lastEntry)", to: "bookie.forget(id)" },
    ],
    profiles: ["collection"],
  },
  {
    name: "collection-sweeps-the-seal-early",
    breaks: "S19, rule 15: the seal age",
    patches: [
      {
        in: "sweepSeal",
        from: `if (ports.clock.nowMs() < notBeforeMs) return { kind: "too-early", notBeforeMs };`,
        to: "",
      },
    ],
    profiles: ["collection"],
  },
  {
    name: "collection-on-a-missing-item",
    breaks: "rule 15: a missing item never authorises deletion",
    patches: [
      {
        in: "readDeleted",
        from: `readItem(ports.metadata, ledgerKey(id), "ledger")`,
        to: `readItem(ports.metadata, ledgerKey(id), "ledger", "stale")`,
      },
      {
        in: "readDeleted",
        from: `return item?.state === "DELETED" ? item : undefined;`,
        to: `if (item === undefined) {
  const ensemble = ports.topology.bookies();
  const fragments = [{ firstEntry: 0, ensemble }];
  const replication = { ensembleSize: 1, writeQuorum: 1, ackQuorum: 1, minRegions: 1 };
  return { ledgerId: id, fragments, retired: [], lastEntry: 1_000_000, replication } as unknown as DeletedLedger;
}
return item?.state === "DELETED" ? item : undefined;`,
      },
    ],
    profiles: ["collection"],
  },
  {
    name: "collection-of-a-closed-ledger",
    breaks: "rule 15: DELETED authorises, CLOSED does not",
    patches: [
      {
        in: "readDeleted",
        from: `item?.state === "DELETED" ? item : undefined`,
        to: `item?.state === "DELETED" || item?.state === "CLOSED" ? (item as DeletedLedger) : undefined`,
      },
    ],
    profiles: ["collection"],
  },
  {
    name: "an-open-ledger-is-deleted",
    breaks: "rule 15: DELETED is set from CLOSED",
    patches: [
      {
        in: "markDeleted",
        from: `item.state === "CLOSED" ? deleteLedger(item, ports.clock.nowMs()) : undefined`,
        to: `item.state === "DELETED"
  ? undefined
  : deleteLedger({ lastEntry: -1, length: 0, ...item } as never, ports.clock.nowMs())`,
      },
    ],
    profiles: ["collection"],
  },
  {
    name: "old-metadata-is-never-read-again",
    breaks: "rule 15: the one clock assumption",
    patches: [
      {
        in: "isFresh",
        from: "readAt?.isWithin(limits.metadataAgeMaxMs) === true",
        to: "limits.metadataAgeMaxMs > 0",
      },
    ],
    profiles: ["collection"],
  },
  {
    name: "what-another-read-read-counts-as-fresh",
    breaks: "LR4, rule 15: the metadata that this very read went by",
    patches: [
      {
        in: "LedgerReader.#mayAnswerFrom",
        from: "isFresh(known.readAt)",
        to: "isFresh(this.lastReadAt ?? known.readAt)",
      },
      {
        in: "LedgerReader.#refresh",
        from: "this.#known = read === undefined ? undefined : { ...read, readAt };",
        to: `this.lastReadAt = readAt;
this.#known = read === undefined ? undefined : { ...read, readAt };`,
      },
      {
        in: "LedgerReader",
        from: "readonly #hedges: GatheredReads;",
        to: `lastReadAt: Age | undefined;
readonly #hedges: GatheredReads;`,
      },
    ],
    profiles: ["collection"],
  },
];
