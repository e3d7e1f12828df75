/** Wrong logs: rules 22 to 28, 33 and 34, and what a log writer may send again. */
import type { Mutant } from "./mutant.ts";

const RECOVER = "lib/protocol/ledger/recover-ledger.ts";
const OPEN = "lib/protocol/log/opening/open-segment.ts";
const START = "lib/protocol/log/opening/start-segment.ts";
const COMPLETE = "lib/protocol/log/chain/complete-segment.ts";
const READER = "lib/protocol/log/reading/log-reader.ts";
const DECIDE = "lib/protocol/log/appending/decide-appends.ts";
const JUDGE = "lib/protocol/log/appending/judge-refusal.ts";
const ACTIVE = "lib/protocol/log/appending/active-segment.ts";
const NAMES = "lib/protocol/log/catalogue/log-names.ts";

const ALL = ["storm", "combined", "freeze", "lossy"];

export const logMutants: readonly Mutant[] = [
  {
    name: "next-segment-before-the-close-is-persisted",
    breaks: "T16, rule 22",
    patches: [
      {
        file: RECOVER,
        from: "  const length = await lengthThrough(ports, started, tail);\n",
        to: `  const length = await lengthThrough(ports, started, tail);
  if (started.origin !== undefined) return closeLedger(started, { lastEntry, length });\n`,
      },
    ],
    profiles: ALL,
  },
  {
    name: "empty-last-segment-gets-a-neighbour",
    breaks: "T03, rule 24",
    patches: [
      {
        file: OPEN,
        from: "  if (end.end === last.first) return await placeInstead(ports, log, last, saidBy(last, ledger, end));\n",
        to: `  if (end.end === last.first) return placeBehind(last, { ...end, end: (end.end + 1) as SeqNum }, "opened");\n`,
      },
    ],
    profiles: ALL,
  },
  {
    name: "empty-last-segment-is-overwritten",
    breaks: "T04, rule 24",
    patches: [
      {
        file: START,
        from: `  return current?.item.kind === "segment" && current.item.ledgerId === place.replaces;`,
        to: `  return current?.item.kind === "segment";`,
      },
    ],
    profiles: ALL,
  },
  {
    name: "segment-is-put-over-a-rivals",
    breaks: "rule 24: put-if-absent",
    patches: [
      {
        file: START,
        from: "  if (place.replaces === undefined) return current === undefined;",
        to: `  if (place.replaces === undefined) return current?.item.kind !== "end";`,
      },
    ],
    profiles: ALL,
  },
  {
    name: "reader-skips-an-empty-segment",
    breaks: "T10, rule 33b",
    patches: [
      {
        file: READER,
        from: "    const next = await firstAtOrAbove(this.ports.metadata, this.log.log, end, this.#queries);",
        to:
          "    const beyond = Math.max(end, segment.first + 1) as SeqNum;\n" +
          "    const next = await firstAtOrAbove(this.ports.metadata, this.log.log, beyond, this.#queries);",
      },
      {
        file: READER,
        from: `    return next.first > this.#position ? { to: "d" } : enter(next);`,
        to: "    return enter(next);",
      },
    ],
    profiles: ALL,
  },
  {
    name: "nothing-yet-on-an-old-last",
    breaks: "T11, rule 33e",
    patches: [
      {
        file: READER,
        from: "    if (openAndLast || this.#lastSeen === ledgerId) return done(tail, true, segment);",
        to: "    if (openAndLast || ledgerId >= 0) return done(tail, true, segment);",
      },
    ],
    profiles: ["region-loss"],
  },
  {
    name: "reader-wants-the-last-segment-open",
    breaks: "T13, rule 33e",
    patches: [
      {
        file: READER,
        from: '      return { to: "e", segment, tail: end, openAndLast: false };',
        to: `      return { to: "f" };`,
      },
    ],
    profiles: ALL,
  },
  {
    name: "opener-stops-at-a-deleted-ledger",
    breaks: "T12, rule 28",
    patches: [
      {
        file: OPEN,
        from: `    return await placeInstead(ports, log, last, undefined);`,
        to: `    throw new FencelineError("not_ready", { message: "the last ledger is " + (ledger?.state ?? "missing") });`,
      },
    ],
    profiles: ALL,
  },
  {
    name: "completion-is-unconditional",
    breaks: "T15, rule 34",
    patches: [
      {
        file: COMPLETE,
        from: `      if (item?.kind !== "segment" || item.ledgerId !== segment.ledgerId) return { kind: "keep" };
      if (item.completion !== undefined) return { kind: "keep" };
      return { kind: "write", item: { ...item, completion } };`,
        to: `      if (item?.kind !== "segment") return { kind: "keep" };
      return { kind: "write", item: { ...item, ledgerId: segment.ledgerId, completion } };`,
      },
      {
        file: OPEN,
        from: "  if (end.end === last.first) return await placeInstead(ports, log, last, saidBy(last, ledger, end));\n",
        to: `  if (end.end === last.first) {
    const own = { ...last.item, first: last.first };
    void completeSegment(ports, log.log, own, completionOf(ledger, end));
    return await placeInstead(ports, log, last, saidBy(last, ledger, end));
  }\n`,
      },
    ],
    profiles: ALL,
  },
  {
    name: "an-old-replica-says-that-a-log-is-not-there",
    breaks: "rule 33: not found is told of a consistent read",
    patches: [
      {
        file: NAMES,
        from: '  if (consistency === "stale") return await findLog(metadata, name, "consistent");\n',
        to: "",
      },
    ],
    profiles: ALL,
  },
  {
    name: "an-append-in-doubt-is-sent-again",
    breaks: "N2, rule 8: an append in doubt is not sent again",
    patches: [
      {
        file: DECIDE,
        from: `    const isInDoubt = one.entryId <= lastAddPushed;`,
        to: "    const isInDoubt = verdicts.size < 0;",
      },
    ],
    profiles: ALL,
  },
  {
    name: "an-undecided-append-counts-as-not-recorded",
    breaks: "N2, rule 8: only a closed ledger says so",
    patches: [
      {
        file: DECIDE,
        from: `        return new Map(inDoubt.map((sent) => [sent, { kind: "unknown", cause: error }]));`,
        to: "        return new Map(inDoubt.map((sent) => [sent, NEVER_SENT]));",
      },
    ],
    profiles: ["region-loss", "storm", "lossy", "combined"],
  },
  {
    name: "mismatch-by-a-superseded-writer",
    breaks: "N4: only who still owns the tail says what it is",
    patches: [
      {
        file: JUDGE,
        from: `  if (ledger?.kind !== "ledger" || ledger.state !== "OPEN") {`,
        to: "  if (ledger === undefined) {",
      },
    ],
    profiles: ALL,
  },
  {
    name: "mismatch-before-its-turn",
    breaks: "B3: a mismatch is told after the appends before it",
    patches: [
      {
        file: ACTIVE,
        from: `      this.#inFlight.push(placed);
      if (placed.kind === "sent") this.#send(placed);`,
        to: `      if (placed.kind === "refused") {
        this.events.refused(placed);
        continue;
      }
      this.#inFlight.push(placed);
      this.#send(placed);`,
      },
    ],
    profiles: ALL,
  },
];
