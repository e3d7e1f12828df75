/** Wrong leases: rules 16 to 20. */
import type { Mutant } from "./mutant.ts";

const LEASE = "lib/protocol/log/lease/writer-lease.ts";
const TENURE = "lib/protocol/log/lease/writer-tenure.ts";
const WRITER = "lib/protocol/log/appending/log-writer.ts";
const RESUME = "lib/protocol/log/opening/resume-segment.ts";
const ACTIVE = "lib/protocol/log/appending/active-segment.ts";

const HAND_OFFS = ["hand-off", "owners"];

export const leaseMutants: readonly Mutant[] = [
  {
    name: "release-by-holder-name",
    breaks: "S23, rule 16",
    patches: [
      {
        file: LEASE,
        from: `    if (found?.lease.tenure !== tenure) return { kind: "lost" };`,
        to: `    if (found === undefined || (found.lease.holder !== held.lease.holder && tenure !== "")) return { kind: "lost" };`,
      },
    ],
    profiles: HAND_OFFS,
  },
  {
    name: "adds-after-sending-a-release",
    breaks: "S24, rule 17",
    patches: [{ file: WRITER, from: "    this.#segment = undefined; // rule 17\n", to: "" }],
    profiles: HAND_OFFS,
  },
  {
    name: "releases-clean-with-adds-outstanding",
    breaks: "S24, rule 18",
    patches: [
      {
        file: WRITER,
        from: `    await segment?.settled();
    if (segment?.failure !== undefined) return; // decided first
`,
        to: "",
      },
      {
        file: ACTIVE,
        from: "    if (this.#failure !== undefined || this.#inFlight.length > 0 || !this.writer.isClean) return undefined;",
        to: "    if (this.#failure !== undefined) return undefined;",
      },
    ],
    profiles: HAND_OFFS,
  },
  {
    name: "resumes-when-not-clean",
    breaks: "S25, rule 18",
    patches: [
      {
        file: LEASE,
        from: "  return before?.clean === true && before.tail !== undefined ?",
        to: "  return before?.tail !== undefined ?",
      },
    ],
    profiles: HAND_OFFS,
  },
  {
    name: "an-acquire-in-doubt-counts-as-clean",
    breaks: "S25, rule 18: only the caller's own successful acquire says clean",
    patches: [
      {
        file: LEASE,
        from: "sent.has(found.version.token)) return { held: { log, ...found } };",
        to: `sent.has(found.version.token)) {
      const { tail } = found.lease;
      return { held: { log, ...found }, ...(tail === undefined ? {} : { tail }) };
    }`,
      },
    ],
    profiles: HAND_OFFS,
  },
  {
    name: "cached-metadata-on-resume",
    breaks: "S26, rule 19",
    patches: [
      {
        file: RESUME,
        from: "  return sameVersion(known.ledger.version, tail.ledgerVersion);",
        to: "  return sameVersion(tail.ledgerVersion, tail.ledgerVersion);",
      },
    ],
    profiles: HAND_OFFS,
  },
  {
    name: "warm-resume-asks-for-the-ledger",
    breaks: "rule 19: a process that knows the ledger as the lease names it asks nothing",
    patches: [
      {
        file: RESUME,
        from: "const segment: ResumedSegment | undefined = isSame(known, tail)",
        to: "const segment: ResumedSegment | undefined = isSame(known, tail) && tail.ledgerBytes < 0",
      },
    ],
    profiles: HAND_OFFS,
  },
  {
    name: "same-tenure-twice",
    breaks: "rule 20",
    patches: [
      {
        file: LEASE,
        from: "    tenure: newTenure(ports.random), // X3",
        to: "    tenure: before?.tenure ?? newTenure(ports.random), // X3",
      },
    ],
    profiles: HAND_OFFS,
  },
  {
    name: "one-tenure-for-all-entries",
    breaks: "S25, rule 20: the content tells two holders apart",
    patches: [
      {
        file: TENURE,
        from: "    const fresh = freshStart(this.ports.random, this.#held?.lease.tenure);",
        to: `    const constant = "0".repeat(24) as never;
    const fresh = freshStart(this.ports.random, this.#held === undefined ? undefined : constant);`,
      },
      {
        file: LEASE,
        from: "  return before?.clean === true && before.tail !== undefined ?",
        to: "  return before?.tail !== undefined ?",
      },
    ],
    profiles: HAND_OFFS,
  },
];
