/** Wrong leases: rules 16 to 20. */
import type { Mutant } from "./mutant.ts";

const HAND_OFFS = ["hand-off", "owners"];

export const leaseMutants: readonly Mutant[] = [
  {
    name: "release-by-holder-name",
    breaks: "S23, rule 16",
    patches: [
      {
        in: "overwrite",
        from: "lease.tenure === tenure ? change(lease) : undefined",
        to: `lease.holder === held.lease.holder || tenure === "" ? change(lease) : undefined`,
      },
    ],
    profiles: HAND_OFFS,
  },
  {
    name: "adds-after-sending-a-release",
    breaks: "S24, rule 17",
    patches: [
      {
        in: "LogWriter.#release",
        from: `{ kind: "cold", avoid: suspects ?? new Set() }`,
        to: `segment === undefined ? { kind: "cold", avoid: new Set() } : { kind: "writing", segment }`,
      },
    ],
    profiles: HAND_OFFS,
  },
  {
    name: "releases-clean-with-adds-outstanding",
    breaks: "S24, rule 18",
    patches: [
      {
        in: "LogWriter.#release",
        from: `if (segment !== undefined) await this.#answered(segment);
if (segment?.failure !== undefined) return { kind: "deciding", segment };`,
        to: "",
      },
      {
        in: "ActiveSegment.leave",
        from: "this.#failure !== undefined || this.#inFlight.length > 0 || !this.writer.isClean",
        to: "this.#failure !== undefined",
      },
    ],
    profiles: HAND_OFFS,
  },
  {
    name: "resumes-when-not-clean",
    breaks: "S25, rule 18",
    patches: [
      {
        in: "takeLease",
        from: "before?.clean === true ? before.tail : undefined",
        to: "before?.tail",
      },
    ],
    profiles: HAND_OFFS,
  },
  {
    name: "an-acquire-in-doubt-counts-as-clean",
    breaks: "S25, rule 18: only the caller's own successful acquire says clean",
    patches: [
      {
        in: "acquireLease",
        from: `return { kind: "acquired", held: { log, ...found } };`,
        to: `const { tail } = found.lease;
return { kind: "acquired", held: { log, ...found }, ...(tail === undefined ? {} : { tail }) };`,
      },
    ],
    profiles: HAND_OFFS,
  },
  {
    name: "cached-metadata-on-resume",
    breaks: "S26, rule 19",
    patches: [
      {
        in: "isSame",
        file: "writer-lease.ts",
        from: "known.ledger.version",
        to: "tail.ledgerVersion",
      },
    ],
    profiles: HAND_OFFS,
  },
  {
    name: "warm-resume-asks-for-the-ledger",
    breaks: "rule 19: a process that knows the ledger as the lease names it asks nothing",
    patches: [
      { in: "resumeSegment", from: "isSame(known, tail)", to: "isSame(known, tail) && tail.ledgerBytes < 0" },
    ],
    profiles: HAND_OFFS,
  },
  {
    name: "same-tenure-twice",
    breaks: "rule 20",
    patches: [
      { in: "takeLease", from: "newTenure(ports.random)", to: "before?.tenure ?? newTenure(ports.random)" },
    ],
    profiles: HAND_OFFS,
  },
  {
    name: "one-tenure-for-all-entries",
    breaks: "S25, rule 20: the content distinguishes two holders",
    patches: [
      {
        in: "WriterLease.startOf",
        from: "const fresh = freshStart(this.ports.random, this.#held?.lease.tenure);",
        to: `const constant = "0".repeat(24) as never;
const fresh = freshStart(this.ports.random, this.#held === undefined ? undefined : constant);`,
      },
      {
        in: "takeLease",
        from: "before?.clean === true ? before.tail : undefined",
        to: "before?.tail",
      },
    ],
    profiles: HAND_OFFS,
  },
];
