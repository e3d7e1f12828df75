/** Wrong writers: rules 5 to 9. */
import type { Mutant } from "./mutant.ts";

const CHANGES = ["storm", "lossy", "combined"];

export const writerMutants: readonly Mutant[] = [
  {
    name: "acknowledges-one-copy-early",
    breaks: "rule 5: ack at Qa - 1",
    patches: [
      {
        in: "PendingAdds.completeHead",
        from: "isAckSet(holdersOf(head, lastFragment(ledger)), ledger.replication)",
        to: "isAckSet(holdersOf(head, lastFragment(ledger)), { ...ledger.replication, ackQuorum: ledger.replication.ackQuorum - 1 })",
      },
    ],
    profiles: CHANGES,
  },
  {
    name: "acknowledges-in-one-region",
    breaks: "rule 5: an ACK set spans minRegions",
    patches: [
      {
        in: "PendingAdds.completeHead",
        from: "isAckSet(holdersOf(head, lastFragment(ledger)), ledger.replication)",
        to: "isAckSet(holdersOf(head, lastFragment(ledger)), { ...ledger.replication, minRegions: 1 })",
      },
    ],
    profiles: ["region-loss", "combined", "storm"],
  },
  {
    name: "resends-with-new-bytes",
    breaks: "rule 5: every resend is byte-identical",
    patches: [
      {
        in: "LedgerWriter.#sendTo",
        from: "const answer = await sendAdd(this.#ports, bookie, add.entry);",
        to: `const sealedAgain = () => {
  const header = { ...add.entry.header, lastAddConfirmed: this.#lastAddConfirmed };
  return sealAdd(this.#ports, this.#ledger.item, header, { ...add, payload: add.entry.payload }).entry;
};
const answer = await sendAdd(this.#ports, bookie, add.entry, sealedAgain);`,
      },
      {
        in: "sendAdd",
        from: "bookie: BookieAddress, entry: SealedEntry",
        to: "bookie: BookieAddress, entry: SealedEntry, sealed: () => SealedEntry",
      },
      { in: "sendAdd", from: "port.add(entry)", to: "port.add(sealed())" },
    ],
    profiles: ["lossy", "storm", "combined"],
  },
  {
    name: "acknowledges-while-the-ensemble-changes",
    breaks: "S08, rule 6a",
    patches: [
      {
        in: "LedgerWriter.#acknowledge",
        from: `this.#phase === "open"`,
        to: `this.#phase === "open" || this.#phase === "changing-ensemble"`,
      },
    ],
    profiles: CHANGES,
  },
  {
    name: "persists-the-change-before-copying",
    breaks: "S09, rule 6b",
    patches: [
      {
        in: "replacePositions",
        from: "const copies = await copyUnacknowledged(ports, change, changed, ensemble);",
        to: `const persisted = await persist(ports, change, changed, ensemble);
if (persisted.kind !== "changed") return persisted;
const copies = await copyUnacknowledged(ports, change, changed, ensemble);
if (copies.kind === "copied") return persisted;`,
      },
    ],
    profiles: CHANGES,
  },
  {
    name: "sends-while-the-ensemble-changes",
    breaks: "S10, rule 6a",
    patches: [
      {
        in: "LedgerWriter.#sendHeld",
        from: `this.#phase === "open"`,
        to: `this.#phase === "open" || this.#phase === "changing-ensemble"`,
      },
    ],
    profiles: CHANGES,
  },
  {
    name: "takes-a-retired-bookie-again",
    breaks: "S11, rule 7",
    patches: [
      { in: "replacePositions", from: "new Set(ledger.retired)", to: "new Set<BookieId>()" },
      { in: "replaceEnsemble", from: "!retired.has(member.id)", to: "true || !retired.has(member.id)" },
    ],
    profiles: CHANGES,
  },
  {
    name: "acknowledges-before-the-change-is-persisted",
    breaks: "rules 5 and 6d (H53)",
    patches: [
      {
        in: "replacePositions",
        from: "return await persist(ports, change, changed, ensemble);",
        to: `persist(ports, change, changed, ensemble).catch(() => undefined);
const item = replaceEnsemble(ledger, nextEntry(change.lastAddConfirmed), ensemble);
return { kind: "changed", ledger: { ...change.ledger, item }, positions: changed };`,
      },
    ],
    profiles: CHANGES,
  },
  {
    name: "counts-a-copy-that-failed",
    breaks: "rule 6b: get OK",
    patches: [
      {
        in: "copyUnacknowledged",
        from: `failed.length > 0 ? { kind: "failed", bookies: failed } : { kind: "copied" }`,
        to: `{ kind: "copied" }`,
      },
    ],
    profiles: CHANGES,
  },
  {
    name: "goes-on-after-fenced",
    breaks: "rule 8",
    patches: [
      {
        in: "LedgerWriter.#sendTo",
        from: `if (answer.kind === "fenced") return this.#stop(fenced(ledgerId, \`\${bookie.id} is fenced\`));`,
        to: `if (answer.kind === "fenced") return;`,
      },
    ],
    profiles: ["storm", "freeze", "combined"],
  },
  {
    name: "closes-without-a-seal",
    breaks: "S13, rule 9",
    patches: [
      {
        in: "closeCleanly",
        file: "end-ledger.ts",
        from: "end !== undefined && (await sealEnd(ports, ledger.item, end.lastEntry))",
        to: "end !== undefined",
      },
    ],
    profiles: ["calm", "lossy", "freeze"],
  },
  {
    name: "closes-with-adds-outstanding",
    breaks: "S14, rule 9",
    patches: [
      {
        in: "LedgerWriter.#close",
        from: `await this.settled();
const end = this.isClean ? { lastEntry: this.#lastAddConfirmed, length: this.#length } : undefined;`,
        to: "const end = this.#stopped === undefined ? { lastEntry: this.#lastAddConfirmed, length: this.#length } : undefined;",
      },
      { in: "sealEnd", from: `if (answer.kind === "sealed") sealed += 1;`, to: "sealed += 1;" },
    ],
    profiles: ["lossy", "storm", "combined"],
  },
  {
    name: "a-new-fragment-starts-behind-what-is-pending",
    breaks: "rule 6c: the new fragment starts behind what is acknowledged",
    patches: [
      {
        in: "persist",
        file: "change-ensemble.ts",
        from: "const firstEntry = nextEntry(change.lastAddConfirmed);",
        to: "const firstEntry = nextEntry(change.unacknowledged.at(-1)?.header.entryId ?? change.lastAddConfirmed);",
      },
    ],
    profiles: ["lossy", "storm", "combined"],
  },
];
