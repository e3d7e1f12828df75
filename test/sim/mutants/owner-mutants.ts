/** Wrong owners and takeovers: who writes to a log, and on what evidence another region takes it over. */
import type { Mutant } from "./mutant.ts";

const OWNERS = ["owners", "hand-off"];

export const ownerMutants: readonly Mutant[] = [
  {
    name: "a-forwarded-append-is-forwarded-again",
    breaks: "F1",
    patches: [
      { in: "AppendRouter.#there", from: `if (request.route === "refuse") return AGAIN;`, to: "" },
      {
        in: "AppendRouter.#untilAnswered",
        from: `request.route === "refuse" && owner !== undefined && owner !== region`,
        to: "owner === null",
      },
    ],
    profiles: OWNERS,
  },
  {
    name: "too-many-requests-taken-for-death",
    breaks: "O1: 429 is an answer",
    patches: [
      {
        in: "OwnerCalls.forward",
        from: "this.#answered(log.log, owner);",
        to: `const isBusy = answer.kind === "refused" && answer.error.code === "over_capacity";
if (isBusy) throw unavailable("too many requests", "none");
this.#answered(log.log, owner);`,
      },
      { in: "whoIsBusyLives", from: `if (hasCode(error, "over_capacity")) return true;`, to: "" },
    ],
    profiles: OWNERS,
  },
  {
    name: "silence-is-dated-by-the-monotonic-clock-alone",
    breaks: "O1: failures from before a freeze prove nothing",
    patches: [
      {
        in: "OwnerEvidence.noteFailure",
        from: "!isWithin(this.clock, before.last, limits.ownerFailureGapMaxMs)",
        to: "nowMs - before.last.monotonicMs > limits.ownerFailureGapMaxMs",
      },
      {
        in: "OwnerEvidence.isSilent",
        from: "!isWithin(this.clock, failures.last, limits.ownerFailureGapMaxMs)",
        to: "this.clock.monotonicMs() - failures.last.monotonicMs > limits.ownerFailureGapMaxMs",
      },
    ],
    profiles: ["owners"],
  },
  {
    name: "producer-state-is-not-carried-over",
    breaks: "a producer's batches survive takeover and hand-off",
    patches: [
      { in: "restoreProducers", from: "where === undefined", to: "where === undefined || where.from >= 0" },
    ],
    profiles: OWNERS,
  },
  {
    name: "the-last-entrys-producers-are-forgotten",
    breaks: "rule 47: the table of producers is restored through the last entry",
    patches: [
      {
        in: "producersIn",
        file: "segment-end.ts",
        from: "ledger.lastEntry",
        to: "Math.max(producersAt, ledger.lastEntry - 1) as EntryId",
      },
    ],
    profiles: ["hand-off", "owners", "transfers", "combined"],
  },
];
