/** Wrong strong readers: rules 13 and 14, and digests. */
import type { Mutant } from "./mutant.ts";

const READER = "lib/protocol/ledger/ledger-reader.ts";
const SLOT = "lib/protocol/ledger/read-tail-slot.ts";
const ENTRY = "lib/protocol/entry.ts";

const NEGATIVES_COUNT_REGIONS = {
  file: "lib/protocol/write-set.ts",
  from: "  return missing.length >= negativeQuorum(replication);",
  to: `  const rest = set.filter((member) => !missing.includes(member));
  return !isAckSet(rest, replication);`,
};

const ALL = ["storm", "combined", "freeze"];

export const readerMutants: readonly Mutant[] = [
  {
    name: "reader-counts-recovered-copies",
    breaks: "S04, rule 13",
    patches: [
      {
        file: SLOT,
        from: `    return value.kind === "entry" && value.copy === "original" ? [value.entry] : [];`,
        to: `    return value.kind === "entry" ? [value.entry] : [];`,
      },
      {
        file: SLOT,
        from: `  return answer.kind === "entry" && answer.copy === "original" && sameContent(answer.entry, entry);`,
        to: `  return answer.kind === "entry" && sameContent(answer.entry, entry);`,
      },
    ],
    profiles: ALL,
  },
  {
    name: "reader-counts-too-few-originals",
    breaks: "rule 13, T2",
    patches: [
      {
        file: SLOT,
        from: "    if (isAckSet(holdersOf(one, parts), replication))",
        to: `    const fewer = { ...replication, ackQuorum: replication.ackQuorum - 1, minRegions: 1 };
    if (isAckSet(holdersOf(one, parts), fewer))`,
      },
    ],
    profiles: ALL,
  },
  {
    // The slip in recovery alone cannot be wrong: docs/TESTING.md, "Wrong, and yet right".
    name: "regions-count-for-negatives-only",
    breaks: "S21, rule 13 and the notes on negatives",
    patches: [
      {
        file: SLOT,
        from: "    if (isAckSet(holdersOf(one, parts), replication))",
        to: "    if (isAckSet(holdersOf(one, parts), { ...replication, minRegions: 1 }))",
      },
      NEGATIVES_COUNT_REGIONS,
    ],
    profiles: ["storm", "combined", "region-loss"],
  },
  {
    name: "nothing-yet-on-old-metadata",
    breaks: "S12, rule 14: version unchanged",
    patches: [
      {
        file: READER,
        from: `    if (now === undefined || !sameVersion(now, known)) return { kind: "again" };
    if (now.item.state === "OPEN")`,
        to: `    if (now === undefined) return { kind: "again" };
    if (now.item.state === "OPEN")`,
      },
    ],
    profiles: ["storm", "lossy", "combined"],
  },
  {
    name: "nothing-yet-without-asking-metadata",
    breaks: "S16, rule 14",
    patches: [
      {
        file: READER,
        from: "  async #provenTail(known: Versioned<LedgerMetadata>): Promise<Step> {\n    const now = await this.#refresh();",
        to: `  async #provenTail(known: Versioned<LedgerMetadata>): Promise<Step> {
    if (known.item.state === "OPEN") return { kind: "nothing-yet", ledger: { ...known, item: known.item } };
    const now = await this.#refresh();`,
      },
    ],
    profiles: ["storm", "lossy", "combined"],
  },
  {
    name: "two-answers-of-nothing-are-enough",
    breaks: "S15, rule 14: NEG answers",
    patches: [
      {
        file: SLOT,
        from: `  if (provesAbsence(withNothing(parts), set, replication)) return { value: { kind: "nothing" } };`,
        to: `  const negatives = Math.max(1, replication.writeQuorum - replication.ackQuorum);
  if (withNothing(parts).length >= negatives) return { value: { kind: "nothing" } };`,
      },
    ],
    profiles: ALL,
  },
  {
    name: "silence-is-nothing",
    breaks: "rules 14 and 21: a timeout as a negative",
    patches: [
      {
        file: SLOT,
        from: "    call: readCall(ports, ledgerId, entry),",
        to: `    call: async (bookie, signal) => {
      try {
        return await readCall(ports, ledgerId, entry)(bookie, signal);
      } catch {
        return { kind: "nothing" };
      }
    },`,
      },
    ],
    profiles: ["storm", "lossy", "combined"],
  },
  {
    name: "digests-are-not-checked",
    breaks: "section 2: unknown is never a negative, bad digests",
    patches: [
      {
        file: ENTRY,
        from: "  return sameBytes(copy.digest, digest.compute(ledger.digest, copy.header, copy.payload));",
        to: "  return copy.digest.length > 0 && digest !== undefined;",
      },
    ],
    profiles: ["lossy", "storm", "combined"],
  },
];
