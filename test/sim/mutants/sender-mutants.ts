/** Wrong judges of who sends an append: judge-append.ts, and what sealed logs say. */
import type { Mutant } from "./mutant.ts";

const SENDERS = ["owners", "hand-off", "transfers"];

export const senderMutants: readonly Mutant[] = [
  {
    name: "condition-before-sender",
    breaks: "JA1: a repetition of what is recorded is a duplicate, whatever its match_seq_num says by now",
    patches: [
      {
        in: "judgeAppend",
        from: "const { sender, matchSeqNum, records } = append;",
        to: `const { sender, matchSeqNum, records } = append;
if (matchSeqNum !== undefined && matchSeqNum !== next) {
  const places = { expected: matchSeqNum, actual: next };
  return { kind: "passing", error: seqNumMismatch(logName, sender !== undefined, places) };
}`,
      },
    ],
    profiles: SENDERS,
  },
  {
    name: "failed-condition-is-noted-as-sent",
    breaks: "JA2: a batch whose condition failed uses up no seq and no key",
    patches: [
      {
        in: "AppendSequencer.place",
        from: `if (refusal !== undefined) refused.push({ kind: "refused", append, refusal });
else this.#add(group, append);`,
        to: `if (refusal !== undefined) {
  refused.push({ kind: "refused", append, refusal });
  const { sender, records } = append.batch;
  if (refusal.kind === "passing" && sender !== undefined) {
    const { entry, seqNum, lastTimestampMs } = this.#next;
    const start = { seqNum, dlsn: { segment: this.segment, entry, slot: 0 }, timestampMs: lastTimestampMs };
    const { seq, content } = sender;
    this.producers.note(sender, { seq, content, count: records.length, start, last: start });
  }
} else this.#add(group, append);`,
      },
    ],
    profiles: SENDERS,
  },
  {
    name: "sealed-log-is-judged-without-its-table",
    breaks:
      "JA1: a sealed log answers a repetition with its positions, and rules out what is not recorded alone",
    patches: [
      {
        in: "SealedRefusals.#producersAt",
        from: "restoreProducers(this.ports, producersIn)",
        to: "restoreProducers(this.ports, undefined)",
      },
      {
        in: "SealedRefusals.#refuseRepetition",
        from: "tail === 0 || this.#producers.rulesOut(sender)",
        to: "true",
      },
    ],
    profiles: ["lives"],
  },
];
