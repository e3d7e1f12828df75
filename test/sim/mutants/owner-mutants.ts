/** Wrong owners and takeovers: which region writes to a log, and on what evidence another region takes it over. */
import type { Mutant } from "./mutant.ts";

const OWNERS = ["owners", "hand-off"];

export const ownerMutants: readonly Mutant[] = [
  {
    name: "a-forwarded-append-is-forwarded-again",
    breaks: "APR1",
    patches: [
      { in: "AppendRouter.#there", from: `if (request.route === "refuse") return undefined;`, to: "" },
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
    breaks: "OF1: 429 is an answer",
    patches: [
      {
        in: "OwnerCalls.#answerOf",
        from: "const answer = await call();",
        to: `const answer = await call();
const { error } = answer as { error?: { code?: string } };
if (error?.code === "over_capacity") throw unavailable("too many requests", "none");`,
      },
      { in: "whoIsBusyLives", from: `if (hasCode(error, "over_capacity")) return true;`, to: "" },
    ],
    profiles: OWNERS,
  },
  {
    name: "silence-does-not-grow-old",
    breaks: "OF1, OF5: failures from before a freeze, or of an outage that is over, prove nothing",
    patches: [
      {
        in: "OwnerFailureDetector.isSilent",
        from: "this.#of(region).failed?.isWithin(limits.ownerFailureGapMaxMs) !== true",
        to: "this.#of(region).failed === undefined",
      },
      { in: "isCurrent", from: "sinceMs < limits.ownerFailureGapMaxMs", to: "true" },
    ],
    profiles: ["owners"],
  },
  {
    name: "takes-over-on-what-others-counted",
    breaks: "OF1: one of the failures is the taker's own",
    patches: [
      {
        in: "OwnerFailureDetector.isSilent",
        from: "if (this.#of(region).failed?.isWithin(limits.ownerFailureGapMaxMs) !== true) return false;",
        to: "",
      },
    ],
    profiles: OWNERS,
  },
  {
    name: "every-failure-is-written",
    breaks: "OF3: what says silent already is written again only to stay fresh",
    patches: [{ in: "withFailure", from: "nowMs - saturatedAtMs < limits.ownerSilenceMs", to: "nowMs < 0" }],
    profiles: OWNERS,
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
