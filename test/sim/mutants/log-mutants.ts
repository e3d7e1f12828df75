/** Wrong logs: rules 22 to 28, 33 and 34, and what a log writer may send again. */
import type { Mutant } from "./mutant.ts";

const ALL = ["storm", "combined", "freeze", "lossy"];

export const logMutants: readonly Mutant[] = [
  {
    name: "next-segment-before-the-close-is-persisted",
    breaks: "T16, rule 22",
    patches: [
      {
        in: "close",
        from: "const length = await lengthThrough(ports, started, tail);",
        to: `const length = await lengthThrough(ports, started, tail);
if (started.origin !== undefined) return closeLedger(started, { lastEntry, length });`,
      },
    ],
    profiles: ALL,
  },
  {
    name: "empty-last-segment-gets-a-neighbour",
    breaks: "T03, rule 24",
    patches: [
      {
        in: "placeAfter",
        from: "await placeInstead(ports, log, last, saidBy(last, ledger, end))",
        to: `placeBehind(last, { ...end, end: (end.end + 1) as SeqNum }, "opened")`,
      },
    ],
    profiles: ALL,
  },
  {
    name: "empty-last-segment-is-overwritten",
    breaks: "T04, rule 24",
    patches: [
      {
        in: "isFree",
        from: `current?.item.kind === "segment" && current.item.ledgerId === place.replaces`,
        to: `current?.item.kind === "segment"`,
      },
    ],
    profiles: ALL,
  },
  {
    name: "segment-is-put-over-a-rivals",
    breaks: "rule 24: put-if-absent",
    patches: [{ in: "isFree", from: "current === undefined", to: `current?.item.kind !== "end"` }],
    profiles: ALL,
  },
  {
    name: "reader-skips-an-empty-segment",
    breaks: "T10, rule 33b",
    patches: [
      {
        in: "LogReader.#crossEnd",
        from: "const next = await firstAtOrAbove(this.ports.metadata, this.log.incarnation, end, this.#queries);",
        to: `const beyond = Math.max(end, segment.first + 1) as SeqNum;
const next = await firstAtOrAbove(this.ports.metadata, this.log.incarnation, beyond, this.#queries);`,
      },
      {
        in: "LogReader.#crossEnd",
        from: `next.first > this.#position ? { to: "d" } : enter(next)`,
        to: "enter(next)",
      },
    ],
    profiles: ALL,
  },
  {
    name: "nothing-yet-on-an-old-last",
    breaks: "T11, rule 33e",
    patches: [{ in: "LogReader.#nothingYet", from: "this.#lastSeen === ledgerId", to: "ledgerId >= 0" }],
    profiles: ["region-loss"],
  },
  {
    name: "reader-wants-the-last-segment-open",
    breaks: "T13, rule 33e",
    patches: [
      { in: "LogReader.#crossEnd", from: `to: "e", segment, tail: end, openAndLast: false`, to: `to: "f"` },
    ],
    profiles: ALL,
  },
  {
    name: "opener-stops-at-a-deleted-ledger",
    breaks: "T12, rule 28",
    patches: [
      {
        in: "placeAfter",
        from: "return await placeInstead(ports, log, last, undefined);",
        to: `throw new FencelineError("not_ready", { message: "the last ledger is " + (ledger?.state ?? "missing") });`,
      },
    ],
    profiles: ALL,
  },
  {
    name: "completion-is-unconditional",
    breaks: "T15, rule 34",
    patches: [
      {
        in: "completeSegment",
        from: `item.ledgerId === segment.ledgerId && item.completion === undefined
  ? { ...item, completion } : undefined`,
        to: "({ ...item, ledgerId: segment.ledgerId, completion })",
      },
      {
        in: "placeAfter",
        from: "if (end.end === last.first) return await placeInstead(ports, log, last, saidBy(last, ledger, end));",
        to: `if (end.end === last.first) {
  const own = { ...last.item, first: last.first };
  void completeSegment(ports, log.incarnation, own, completionOf(ledger, end));
  return await placeInstead(ports, log, last, saidBy(last, ledger, end));
}`,
      },
    ],
    profiles: ALL,
  },
  {
    name: "an-old-replica-says-that-a-log-is-not-there",
    breaks: "rule 33: not found comes from a consistent read",
    patches: [
      {
        in: "findLog",
        from: `if (consistency === "stale") return await findLog(metadata, name, "consistent");`,
        to: "",
      },
    ],
    profiles: ALL,
  },
  {
    name: "an-append-in-doubt-is-sent-again",
    breaks: "LW2, rule 8: an append in doubt is not sent again",
    patches: [
      {
        in: "decideAppends",
        from: "const isInDoubt = one.entryId <= lastAddPushed;",
        to: "const isInDoubt = verdicts.size < 0;",
      },
    ],
    profiles: ALL,
  },
  {
    name: "an-undecided-append-counts-as-not-recorded",
    breaks: "LW2, rule 8: only a closed ledger says so",
    patches: [{ in: "verdictsOn", from: `{ kind: "unknown", cause: error }`, to: "NEVER_SENT" }],
    profiles: ["region-loss", "storm", "lossy", "combined"],
  },
  {
    name: "mismatch-by-a-superseded-writer",
    breaks: "LW4: only who still owns the tail says what it is",
    patches: [
      {
        in: "whySuperseded",
        from: `ledger?.kind !== "ledger" || ledger.state !== "OPEN"`,
        to: "ledger === undefined",
      },
    ],
    profiles: ALL,
  },
  {
    name: "mismatch-before-its-turn",
    breaks: "ASG1: a mismatch is answered after the appends before it",
    patches: [
      {
        in: "ActiveSegment.offer",
        from: `this.#inFlight.push(one);
if (one.kind === "sent") this.#send(one);`,
        to: `if (one.kind === "refused") {
  this.#refused.push(one);
  continue;
}
this.#inFlight.push(one);
this.#send(one);`,
      },
    ],
    profiles: ALL,
  },
  {
    name: "a-gap-by-a-superseded-writer",
    breaks: "LW4: only who still owns the tail says that a batch is missing",
    patches: [
      {
        in: "judgeRefusal",
        from: `reason === undefined
  ? { kind: "refused", error: refusal.error }
  : { kind: "superseded", reason }`,
        to: `{ kind: "refused", error: refusal.error }`,
      },
    ],
    profiles: ["hand-off", "owners", "transfers", "combined"],
  },
];
