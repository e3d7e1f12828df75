/** Wrong recoveries: rules 10 to 12. */
import type { Mutant } from "./mutant.ts";

const RECOVER = "lib/protocol/ledger/recover-ledger.ts";
const READ = "lib/protocol/ledger/recovery-read.ts";
const WRITE_BACK = "lib/protocol/ledger/write-back.ts";

const ALL = ["storm", "combined", "lossy"];

export const recoveryMutants: readonly Mutant[] = [
  {
    name: "recovery-reads-its-own-replacements",
    breaks: "S06, rule 11",
    patches: [
      {
        file: RECOVER,
        from: "    const reads = window.map((entry) => recoveryRead(ports, ledger, entry));",
        to: `    const fragments = [...ledger.fragments.slice(0, -1), ...writeBack.localFragments];
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
        file: RECOVER,
        from: "Math.max(hint, previousEntry(lastFragment(started).firstEntry)) + 1",
        to: "hint + 1",
      },
      {
        file: READ,
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
      {
        file: RECOVER,
        from: `    return { kind: "write", item: startRecovery(item) };`,
        to: `    return { kind: "keep" };`,
      },
      {
        file: RECOVER,
        from: `  assert(item.kind === "ledger" && item.state !== "OPEN", "R1: a ledger never goes back to OPEN");
  return item;`,
        to: `  if (item.kind !== "ledger") return undefined;
  return item.state === "OPEN" ? { ...item, state: "IN_RECOVERY" } : item;`,
      },
      {
        file: RECOVER,
        from: `    if (item?.kind !== "ledger" || item.state !== "IN_RECOVERY") return { kind: "keep" };`,
        to: `    if (item?.kind !== "ledger" || (item.state !== "IN_RECOVERY" && item.state !== "OPEN")) return { kind: "keep" };`,
      },
      { file: RECOVER, from: "    assertSameLastFragment(item, started);\n", to: "" },
    ],
    profiles: ALL,
  },
  {
    name: "recovery-writes-nothing-back",
    breaks: "S20, rule 11",
    patches: [
      {
        file: WRITE_BACK,
        from: "    let hasHaste = true;",
        to: "    let hasHaste = true;\n    if (hasHaste) return;",
      },
    ],
    profiles: ALL,
  },
  {
    name: "recovery-leaves-local-fragments-out",
    breaks: "S20, rule 12",
    patches: [
      {
        file: RECOVER,
        from: "[...older, ...tail.writeBack.localFragments]",
        to: "[...older, lastFragment(item)]",
      },
    ],
    profiles: ALL,
  },
  {
    name: "recovery-closes-over-another-close",
    breaks: "S20, rule 12: close without compare-and-set",
    patches: [
      {
        file: RECOVER,
        from: `    if (item?.kind !== "ledger" || item.state !== "IN_RECOVERY") return { kind: "keep" };
    assertSameLastFragment(item, started);`,
        to: `    if (item?.kind !== "ledger" || item.state === "OPEN" || item.state === "DELETED") return { kind: "keep" };`,
      },
      { file: RECOVER, from: "closeLedger(item, {", to: "closeLedger(started, {" },
    ],
    profiles: ALL,
  },
  {
    name: "write-back-counts-any-regions",
    breaks: "S22, rule 11",
    patches: [
      {
        file: WRITE_BACK,
        from: "    return isAckSet(holders, this.ledger.replication);",
        to: "    return isAckSet(holders, { ...this.ledger.replication, minRegions: 1 });",
      },
    ],
    profiles: ["region-loss", "combined", "storm"],
  },
  {
    name: "write-back-counts-failures",
    breaks: "rule 11: get an ACK set",
    patches: [
      {
        file: WRITE_BACK,
        from: '    if (answer.kind === "ok") return held.holds(bookie);',
        to: '    if (answer.kind === "ok" || answer.kind === "unknown") return held.holds(bookie);',
      },
    ],
    profiles: ALL,
  },
  {
    name: "write-back-counts-the-late",
    breaks: "rule 11: get an ACK set; a bookie that is late has said nothing",
    patches: [
      {
        file: WRITE_BACK,
        from: ".filter((bookie) => held.isHolder(bookie));",
        to: ".filter((bookie) => held.isHolder(bookie) || held.isUnanswered(bookie));",
      },
    ],
    profiles: ALL,
  },
  {
    name: "a-timeout-is-a-negative",
    breaks: "rules 3 and 21",
    patches: [
      {
        file: READ,
        from: `      if (answer.kind === "unknown") throw unavailable(answer.reason);`,
        to: `      if (answer.kind === "unknown") return { kind: "tombstone" };`,
      },
    ],
    profiles: ALL,
  },
  {
    name: "negatives-from-outside-the-write-set",
    breaks: "rule 11: NEG of WS(e)",
    patches: [
      {
        file: READ,
        from: "  const set = writeSet(entry, fragmentAt(ledger, entry), replication);",
        to: "  const set = fragmentAt(ledger, entry).ensemble;",
      },
      {
        file: READ,
        from: `  return provesAbsence(negatives, set, replication) ?`,
        to: `  const few = set.length > 0 && negatives.length > replication.writeQuorum - replication.ackQuorum;
  return few ?`,
      },
    ],
    profiles: ALL,
  },
  {
    name: "one-negative-too-few",
    breaks: "rule 11: NEG = Qw - Qa + 1",
    patches: [
      {
        file: READ,
        from: `  return provesAbsence(negatives, set, replication) ?`,
        to: `  const few = set.length > 0 && negatives.length >= Math.max(1, replication.writeQuorum - replication.ackQuorum);
  return few ?`,
      },
    ],
    profiles: ALL,
  },
  {
    name: "write-back-with-a-later-lac",
    breaks: "rule 4 (H33): a last add confirmed that recovery advanced",
    patches: [
      {
        file: WRITE_BACK,
        from: "      call: (port) => port.recoveryAdd(held.entry),",
        to: `      call: (port) => {
        const header = { ...held.entry.header, lastAddConfirmed: (entryId - 1) as EntryId };
        const digest = this.ports.digest.compute(this.ledger.digest, header, held.entry.payload);
        return port.recoveryAdd({ ...held.entry, header, digest });
      },`,
      },
    ],
    profiles: ALL,
  },
];
