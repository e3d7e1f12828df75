/** Wrong owners and takeovers: who writes to a log, and on what evidence another region takes it over. */
import type { Mutant } from "./mutant.ts";

const ROUTER = "lib/protocol/log/append-router.ts";

const OWNERS = ["owners", "hand-off"];

export const ownerMutants: readonly Mutant[] = [
  {
    name: "a-forwarded-append-is-forwarded-again",
    breaks: "F1",
    patches: [
      {
        file: ROUTER,
        from: `    if (request.route === "refuse") return { kind: "again" };\n`,
        to: "",
      },
      {
        file: ROUTER,
        from: `if (request.route === "refuse" && owner !== undefined && owner !== region) {`,
        to: "if (giveUpAtMs < 0 && owner !== undefined) {",
      },
    ],
    profiles: OWNERS,
  },
  {
    name: "too-many-requests-taken-for-death",
    breaks: "O1: 429 is an answer",
    patches: [
      {
        file: ROUTER,
        from: '    this.#evidence.noteAnswer(owner);\n    if (answer.kind === "refused")',
        to: `    if (answer.kind === "refused" && answer.error.code === "over_capacity") {
      this.#evidence.noteFailure(owner);
      return await this.#later();
    }
    this.#evidence.noteAnswer(owner);
    if (answer.kind === "refused")`,
      },
    ],
    profiles: OWNERS,
  },
];
