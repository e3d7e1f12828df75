/** Wrong owners and takeovers: who writes to a log, and on what evidence another region takes it over. */
import type { Mutant } from "./mutant.ts";

const ROUTER = "lib/protocol/log/ownership/append-router.ts";
const RESTORE = "lib/protocol/log/producers/restore-producers.ts";
const FUNCTION_PORTS = "test/sim/function-ports.ts";
const CALLS = "lib/protocol/log/ownership/owner-calls.ts";
const EVIDENCE = "lib/protocol/log/ownership/owner-evidence.ts";

const OWNERS = ["owners", "hand-off"];

export const ownerMutants: readonly Mutant[] = [
  {
    name: "a-forwarded-append-is-forwarded-again",
    breaks: "F1",
    patches: [
      {
        file: ROUTER,
        from: `    if (request.route === "refuse") return AGAIN;\n`,
        to: "",
      },
      {
        file: ROUTER,
        from: `if (request.route === "refuse" && owner !== undefined && owner !== region) {`,
        to: "if (owner === null) {",
      },
    ],
    profiles: OWNERS,
  },
  {
    name: "too-many-requests-taken-for-death",
    breaks: "O1: 429 is an answer",
    patches: [
      {
        file: CALLS,
        from: `        this.#answered(log.log, owner);
        return answer;
      });
    try {`,
        to: `        const isBusy = answer.kind === "refused" && answer.error.code === "over_capacity";
        if (isBusy) throw unavailable("too many requests", "none");
        this.#answered(log.log, owner);
        return answer;
      });
    try {`,
      },
      // The port that asks, as lib/adapters/aws/lambda-appends.ts is one.
      { file: FUNCTION_PORTS, from: `if (hasCode(error, "over_capacity")) return true;`, to: "" },
    ],
    profiles: OWNERS,
  },
  {
    name: "silence-is-dated-by-the-monotonic-clock-alone",
    breaks: "O1: failures from before a freeze prove nothing",
    patches: [
      {
        file: EVIDENCE,
        from: "    if (before === undefined || !isWithin(this.clock, before.last, limits.ownerFailureGapMaxMs)) {",
        to: `    if (before === undefined || nowMs - before.last.monotonicMs > limits.ownerFailureGapMaxMs) {`,
      },
      {
        file: EVIDENCE,
        from: "    if (!isWithin(this.clock, failures.last, limits.ownerFailureGapMaxMs)) return false;",
        to: "    if (this.clock.monotonicMs() - failures.last.monotonicMs > limits.ownerFailureGapMaxMs) return false;",
      },
    ],
    profiles: ["owners"],
  },
  {
    name: "producer-state-is-not-carried-over",
    breaks: "a producer's batches survive takeover and hand-off",
    patches: [
      {
        file: RESTORE,
        from: "  if (where === undefined) return new ProducerTable();",
        to: "  if (where === undefined || where.from >= 0) return new ProducerTable();",
      },
    ],
    profiles: OWNERS,
  },
];
