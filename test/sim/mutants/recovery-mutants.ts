/** Wrong recoveries: rules 10 to 12. */
import type { Mutant } from "./mutant.ts";

const ALL = ["storm", "combined", "lossy"];

export const recoveryMutants: readonly Mutant[] = [
  {
    name: "recovery-reads-its-own-replacements",
    breaks: "S06, rule 11",
    patches: [
      {
        in: "recoverTail",
        from: "const reads = window.map((entry) => recoveryRead(ports, ledger, entry));",
        to: `const fragments = [...ledger.fragments.slice(0, -1), ...writeBack.localFragments];
const reads = window.map((entry) => recoveryRead(ports, { ...ledger, fragments }, entry));`,
      },
    ],
    profiles: ALL,
  },
  {
    name: "recovery-starts-too-low",
    breaks: "S07, rule 10",
    patches: [
      {
        in: "recoverLedger",
        file: "recover-ledger.ts",
        from: "Math.max(hint, previousEntry(lastFragment(started).firstEntry))",
        to: "hint",
      },
      {
        in: "recoveryRead",
        from: "fragmentAt(ledger, entry)",
        to: "fragmentAt(ledger, Math.max(entry, ledger.fragments.at(-1)?.firstEntry ?? 0) as EntryId)",
      },
    ],
    profiles: ALL,
  },
  {
    name: "recovery-does-not-mark-the-ledger",
    breaks: "rule 10: no ensemble change under recovery",
    patches: [
      { in: "enterRecovery", from: "startRecovery(ledger)", to: "undefined" },
      {
        in: "enterRecovery",
        from: `assert(ledger?.state !== "OPEN", "RL1: a ledger never goes back to OPEN");
return ledger;`,
        to: `return ledger?.state === "OPEN" ? { ...ledger, state: "IN_RECOVERY" } : ledger;`,
      },
      {
        in: "close",
        from: `item.state !== "IN_RECOVERY"`,
        to: `item.state !== "IN_RECOVERY" && item?.state !== "OPEN"`,
      },
      { in: "close", from: "assertSameLastFragment(item, started);", to: "" },
    ],
    profiles: ALL,
  },
  {
    name: "recovery-writes-nothing-back",
    breaks: "S20, rule 11",
    patches: [
      {
        in: "WriteBack.hold",
        from: "let hasHaste = true;",
        to: `let hasHaste = true;
if (hasHaste) return;`,
      },
    ],
    profiles: ALL,
  },
  {
    name: "recovery-leaves-local-fragments-out",
    breaks: "S20, rule 12",
    patches: [{ in: "close", from: "...tail.writeBack.localFragments", to: "lastFragment(item)" }],
    profiles: ALL,
  },
  {
    name: "recovery-closes-over-another-close",
    breaks: "S20, rule 12: close without compare-and-set",
    patches: [
      {
        in: "close",
        from: `if (item.state !== "IN_RECOVERY") return undefined;
assertSameLastFragment(item, started);`,
        to: `if (item === undefined || item.state === "OPEN" || item.state === "DELETED") return undefined;`,
      },
      {
        in: "close",
        from: "closeLedger(item, { lastEntry, length }, [...older, ...tail.writeBack.localFragments])",
        to: "closeLedger(started, { lastEntry, length }, [...older, ...tail.writeBack.localFragments])",
      },
    ],
    profiles: ALL,
  },
  {
    name: "write-back-counts-any-regions",
    breaks: "S22, rule 11",
    patches: [
      {
        in: "WriteBack.#isHeld",
        from: "this.ledger.replication",
        to: "{ ...this.ledger.replication, minRegions: 1 }",
      },
    ],
    profiles: ["region-loss", "combined", "storm"],
  },
  {
    name: "write-back-counts-failures",
    breaks: "rule 11: get an ACK set",
    patches: [
      {
        in: "WriteBack.#writeTo",
        from: `answer.kind === "ok"`,
        to: `answer.kind === "ok" || answer.kind === "unknown"`,
      },
    ],
    profiles: ALL,
  },
  {
    name: "write-back-counts-the-late",
    breaks: "rule 11: get an ACK set; a bookie that is late has said nothing",
    patches: [
      {
        in: "WriteBack.#isHeld",
        from: `held.copyAt(bookie) === "held"`,
        to: `["held", "asked"].includes(held.copyAt(bookie) as string)`,
      },
    ],
    profiles: ALL,
  },
  {
    name: "a-timeout-is-a-negative",
    breaks: "rules 3 and 21",
    patches: [
      {
        in: "recoveryRead",
        from: `if (answer.kind === "unknown") throw unavailable(answer.reason);`,
        to: `if (answer.kind === "unknown") return { kind: "tombstone" };`,
      },
    ],
    profiles: ALL,
  },
  {
    name: "negatives-from-outside-the-write-set",
    breaks: "rule 11: NEG of WS(e)",
    patches: [
      {
        in: "recoveryRead",
        from: "writeSet(entry, fragmentAt(ledger, entry), replication)",
        to: "fragmentAt(ledger, entry).ensemble",
      },
      {
        in: "provenBy",
        file: "recover-ledger.ts",
        from: `return provesAbsence(negatives, set, replication) ? { value: { kind: "absent" } } : undefined;`,
        to: `const few = set.length > 0 && negatives.length > replication.writeQuorum - replication.ackQuorum;
return few ? { value: { kind: "absent" } } : undefined;`,
      },
    ],
    profiles: ALL,
  },
  {
    name: "one-negative-too-few",
    breaks: "rule 11: NEG = Qw - Qa + 1",
    patches: [
      {
        in: "provenBy",
        file: "recover-ledger.ts",
        from: `return provesAbsence(negatives, set, replication) ? { value: { kind: "absent" } } : undefined;`,
        to: `const few = set.length > 0 && negatives.length >= Math.max(1, replication.writeQuorum - replication.ackQuorum);
return few ? { value: { kind: "absent" } } : undefined;`,
      },
    ],
    profiles: ALL,
  },
  {
    name: "write-back-with-a-later-lac",
    breaks: "rule 4 (H33): a last add confirmed that recovery advanced",
    patches: [
      {
        in: "WriteBack.#writeTo",
        from: "(port) => port.recoveryAdd(held.entry)",
        to: `(port) => {
  const header = { ...held.entry.header, lastAddConfirmed: (entryId - 1) as EntryId };
  const digest = this.ports.digest.compute(this.ledger.digest, header, held.entry.payload);
  return port.recoveryAdd({ ...held.entry, header, digest });
}`,
      },
    ],
    profiles: ALL,
  },
  {
    name: "recovery-starts-behind-the-highest-entry",
    breaks: "rule 10: recovery starts after a last add confirmed, not after an entry",
    patches: [{ in: "confirmedBy", from: "highest.header.lastAddConfirmed", to: "highest.header.entryId" }],
    profiles: ["lossy", "storm", "combined"],
  },
];
