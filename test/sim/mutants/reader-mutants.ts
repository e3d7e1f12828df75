/** Wrong strong readers: rules 13 and 14, and digests. */
import type { Mutant } from "./mutant.ts";

const ALL = ["storm", "combined", "freeze"];

export const readerMutants: readonly Mutant[] = [
  {
    name: "reader-counts-recovered-copies",
    breaks: "S04, rule 13",
    patches: [
      {
        in: "originals",
        from: `value.kind === "entry" && value.copy === "original"`,
        to: `value.kind === "entry"`,
      },
      {
        in: "isOriginalOf",
        from: `answer.kind === "entry" && answer.copy === "original" && sameContent(answer.entry, entry)`,
        to: `answer.kind === "entry" && sameContent(answer.entry, entry)`,
      },
    ],
    profiles: ALL,
  },
  {
    name: "reader-counts-too-few-originals",
    breaks: "rule 13, T2",
    patches: [
      {
        in: "provenBy",
        file: "read-slots.ts",
        from: `if (isAckSet(holdersOf(one, parts), replication)) return { value: { kind: "on-ack-set", entry: one } };`,
        to: `const fewer = { ...replication, ackQuorum: replication.ackQuorum - 1, minRegions: 1 };
if (isAckSet(holdersOf(one, parts), fewer)) return { value: { kind: "on-ack-set", entry: one } };`,
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
        in: "provenBy",
        file: "read-slots.ts",
        from: "isAckSet(holdersOf(one, parts), replication)",
        to: "isAckSet(holdersOf(one, parts), { ...replication, minRegions: 1 })",
      },
      {
        in: "provesAbsence",
        from: "return missing.length >= negativeQuorum(replication);",
        to: `const rest = set.filter((member) => !missing.includes(member));
return !isAckSet(rest, replication);`,
      },
    ],
    profiles: ["storm", "combined", "region-loss"],
  },
  {
    name: "nothing-yet-on-old-metadata",
    breaks: "S12, rule 14: version unchanged",
    patches: [
      {
        in: "LedgerReader.#provenTail",
        from: "now === undefined || !isSameVersion(now.version, known.version)",
        to: "now === undefined",
      },
    ],
    profiles: ["storm", "lossy", "combined"],
  },
  {
    name: "nothing-yet-without-asking-metadata",
    breaks: "S16, rule 14",
    patches: [
      {
        in: "LedgerReader.#provenTail",
        from: "const now = await this.#refresh();",
        to: `if (known.item.state === "OPEN") return { kind: "nothing-yet", ledger: { ...known, item: known.item } };
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
        in: "provenBy",
        file: "read-slots.ts",
        from: `if (provesAbsence(withNothing(parts), set, replication)) return { value: { kind: "nothing" } };`,
        to: `const negatives = Math.max(1, replication.writeQuorum - replication.ackQuorum);
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
        in: "readTailSlot",
        from: "readSlot(ports, ledgerId, entry, bookie, signal)",
        to: `readSlot(ports, ledgerId, entry, bookie, signal).catch(() => ({ kind: "nothing" }) as const)`,
      },
    ],
    profiles: ["storm", "lossy", "combined"],
  },
  {
    name: "digests-are-not-checked",
    breaks: "unknown is never a negative, bad digests",
    patches: [
      {
        in: "isGenuine",
        from: "sameBytes(copy.digest, digest.compute(ledger.digest, copy.header, copy.payload))",
        to: "copy.digest.length > 0 && digest !== undefined",
      },
    ],
    profiles: ["lossy", "storm", "combined"],
  },
];
