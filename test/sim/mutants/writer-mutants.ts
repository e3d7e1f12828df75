/** Wrong writers: rules 5 to 9. */
import type { Mutant } from "./mutant.ts";

const WRITER = "lib/protocol/ledger/ledger-writer.ts";
const SEND = "lib/protocol/ledger/send-add.ts";
const PENDING = "lib/protocol/ledger/pending-adds.ts";
const CHANGE = "lib/protocol/ledger/change-ensemble.ts";
const METADATA = "lib/protocol/ledger-metadata.ts";
const CLOSE = "lib/protocol/ledger/close-ledger.ts";

const CHANGES = ["storm", "lossy", "combined"];

export const writerMutants: readonly Mutant[] = [
  {
    name: "acknowledges-one-copy-early",
    breaks: "rule 5: ack at Qa - 1",
    patches: [
      {
        file: PENDING,
        from: "    return isAckSet(holdersOf(head, fragment), replication) ? head : undefined;",
        to: "    return isAckSet(holdersOf(head, fragment), { ...replication, ackQuorum: replication.ackQuorum - 1 }) ? head : undefined;",
      },
    ],
    profiles: CHANGES,
  },
  {
    name: "acknowledges-in-one-region",
    breaks: "rule 5: an ACK set spans minRegions",
    patches: [
      {
        file: PENDING,
        from: "    return isAckSet(holdersOf(head, fragment), replication) ? head : undefined;",
        to: "    return isAckSet(holdersOf(head, fragment), { ...replication, minRegions: 1 }) ? head : undefined;",
      },
    ],
    profiles: ["region-loss", "combined", "storm"],
  },
  {
    name: "resends-with-new-bytes",
    breaks: "rule 5: every resend is byte-identical",
    patches: [
      {
        file: WRITER,
        from: "    const answer = await sendAdd(this.#ports, bookie, add.entry);",
        to: `    const sealedAgain = () => {
      const header = { ...add.entry.header, lastAddConfirmed: this.#lastAddConfirmed };
      return sealAdd(this.#ports, this.#ledger.item, header, { ...add, payload: add.entry.payload }).entry;
    };
    const answer = await sendAdd(this.#ports, bookie, add.entry, sealedAgain);`,
      },
      {
        file: SEND,
        from: "bookie: BookieAddress, entry: SealedEntry) {",
        to: "bookie: BookieAddress, entry: SealedEntry, sealed: () => SealedEntry) {",
      },
      { file: SEND, from: "(port) => port.add(entry)", to: "(port) => port.add(sealed())" },
    ],
    profiles: ["lossy", "storm", "combined"],
  },
  {
    name: "acknowledges-while-the-ensemble-changes",
    breaks: "S08, rule 6a",
    patches: [
      {
        file: WRITER,
        from: `    while (this.#phase === "open") {
      const head`,
        to: `    while (this.#phase === "open" || this.#phase === "changing-ensemble") {
      const head`,
      },
    ],
    profiles: CHANGES,
  },
  {
    name: "persists-the-change-before-copying",
    breaks: "S09, rule 6b",
    patches: [
      {
        file: CHANGE,
        from: "    const copies = await copyUnacknowledged(ports, change, changed, ensemble);\n",
        to: `    const persisted = await persist(ports, change, changed, ensemble);
    if (persisted.kind !== "changed") return persisted;
    const copies = await copyUnacknowledged(ports, change, changed, ensemble);
    if (copies.kind === "copied") return persisted;\n`,
      },
    ],
    profiles: CHANGES,
  },
  {
    name: "sends-while-the-ensemble-changes",
    breaks: "S10, rule 6a",
    patches: [
      {
        file: WRITER,
        from: `    while (this.#phase === "open") {
      const next`,
        to: `    while (this.#phase === "open" || this.#phase === "changing-ensemble") {
      const next`,
      },
    ],
    profiles: CHANGES,
  },
  {
    name: "takes-a-retired-bookie-again",
    breaks: "S11, rule 7",
    patches: [
      {
        file: CHANGE,
        from: "  const retired = new Set(ledger.retired);",
        to: "  const retired = new Set<BookieId>();",
      },
      {
        file: METADATA,
        from: "    assert(!retired.has(member.id),",
        to: "    assert(true || !retired.has(member.id),",
      },
    ],
    profiles: CHANGES,
  },
  {
    name: "acknowledges-before-the-change-is-persisted",
    breaks: "rules 5 and 6d (H53)",
    patches: [
      {
        file: CHANGE,
        from: "    return await persist(ports, change, changed, ensemble);",
        to: `    persist(ports, change, changed, ensemble).catch(() => undefined);
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
        file: CHANGE,
        from: `  return failed.length > 0 ? { kind: "failed", bookies: failed } : { kind: "copied" };`,
        to: `  return { kind: "copied" };`,
      },
    ],
    profiles: CHANGES,
  },
  {
    name: "goes-on-after-fenced",
    breaks: "rule 8",
    patches: [
      {
        file: WRITER,
        from: `    if (this.#phase === "stopped") return;
    if (answer.kind === "fenced") return this.#stop(`,
        to: `    if (this.#phase === "stopped") return;
    if (answer.kind === "fenced") return void (`,
      },
    ],
    profiles: ["storm", "freeze", "combined"],
  },
  {
    name: "closes-without-a-seal",
    breaks: "S13, rule 9",
    patches: [
      {
        file: CLOSE,
        from: "  if (end !== undefined && (await sealEnd(ports, ledger.item, end.lastEntry))) {",
        to: "  if (end !== undefined) {",
      },
    ],
    profiles: ["calm", "lossy", "freeze"],
  },
  {
    name: "closes-with-adds-outstanding",
    breaks: "S14, rule 9",
    patches: [
      {
        file: WRITER,
        from: `    await this.settled();
    const end = this.isClean ?`,
        to: "    const end = this.#stopped === undefined ?",
      },
      { file: CLOSE, from: `        if (answer.kind === "sealed") sealed += 1;`, to: "        sealed += 1;" },
    ],
    profiles: ["lossy", "storm", "combined"],
  },
];
