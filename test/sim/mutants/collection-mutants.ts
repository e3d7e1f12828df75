/** Wrong collections: rule 15. */
import type { Mutant } from "./mutant.ts";

const COLLECT = "lib/protocol/ledger/collect-ledger.ts";
const DELETE = "lib/protocol/ledger/delete-ledger.ts";
const READER = "lib/protocol/ledger/ledger-reader.ts";
const AGE = "lib/protocol/ledger/metadata-age.ts";

const READS_DELETED = `  return item?.kind === "ledger" && item.state === "DELETED" ? item : undefined;`;

export const collectionMutants: readonly Mutant[] = [
  {
    name: "collection-drops-the-seal",
    breaks: "S17, S19, rule 15: fence and seal are kept",
    patches: [
      {
        file: COLLECT,
        from: "    bookie.deleteEntries(id, ledger.lastEntry),",
        to: "    bookie.forget(id),",
      },
    ],
    profiles: ["collection"],
  },
  {
    name: "collection-sweeps-the-seal-early",
    breaks: "S19, rule 15: the seal age",
    patches: [
      {
        file: COLLECT,
        from: `  if (ports.clock.nowMs() < notBeforeMs) return { kind: "too-early", notBeforeMs };`,
        to: "  void notBeforeMs;",
      },
    ],
    profiles: ["collection"],
  },
  {
    name: "collection-on-a-missing-item",
    breaks: "rule 15: a missing item never authorises deletion",
    patches: [
      {
        file: COLLECT,
        from: `(await ports.metadata.get(ledgerKey(id), "consistent"))`,
        to: `(await ports.metadata.get(ledgerKey(id), "stale"))`,
      },
      {
        file: COLLECT,
        from: READS_DELETED,
        to: `  if (item === undefined) {
    const ensemble = ports.topology.bookies();
    const fragments = [{ firstEntry: 0, ensemble }];
    const replication = { ensembleSize: 1, writeQuorum: 1, ackQuorum: 1, minRegions: 1 };
    return { ledgerId: id, fragments, retired: [], lastEntry: 1_000_000, replication } as unknown as DeletedLedger;
  }
${READS_DELETED}`,
      },
    ],
    profiles: ["collection"],
  },
  {
    name: "collection-of-a-closed-ledger",
    breaks: "rule 15: DELETED authorises, CLOSED does not",
    patches: [
      {
        file: COLLECT,
        from: READS_DELETED,
        to: `  return item?.kind === "ledger" && (item.state === "DELETED" || item.state === "CLOSED") ? (item as DeletedLedger) : undefined;`,
      },
    ],
    profiles: ["collection"],
  },
  {
    name: "an-open-ledger-is-deleted",
    breaks: "rule 15: DELETED is set from CLOSED",
    patches: [
      {
        file: DELETE,
        from: `    if (item?.kind !== "ledger" || item.state !== "CLOSED") return { kind: "keep" };`,
        to: `    if (item?.kind !== "ledger" || item.state === "DELETED") return { kind: "keep" };
    if (item.state !== "CLOSED") return { kind: "write", item: { ...item, state: "DELETED", lastEntry: -1, length: 0, deletedAtMs: 0 } as never };`,
      },
    ],
    profiles: ["collection"],
  },
  {
    name: "old-metadata-is-never-read-again",
    breaks: "rule 15: the one clock assumption",
    patches: [
      {
        file: AGE,
        from: "  return ageMs >= 0 && ageMs < limits.metadataAgeMaxMs;",
        to: "  return ageMs >= 0 || limits.metadataAgeMaxMs > 0;",
      },
    ],
    profiles: ["collection"],
  },
  {
    name: "what-another-read-read-counts-as-fresh",
    breaks: "L4, rule 15: the metadata that this very read went by",
    patches: [
      {
        file: READER,
        from: "    return known === undefined || isFresh(this.ports.clock, known.readAtMs);",
        to: "    return known === undefined || isFresh(this.ports.clock, this.lastReadAtMs);",
      },
      {
        file: READER,
        from: `    this.#known = read?.item.kind === "ledger"`,
        to: `    this.lastReadAtMs = readAtMs;\n    this.#known = read?.item.kind === "ledger"`,
      },
      {
        file: READER,
        from: "  #polls = 0;\n",
        to: "  #polls = 0;\n  lastReadAtMs = Number.NEGATIVE_INFINITY;\n",
      },
    ],
    profiles: ["collection"],
  },
];
