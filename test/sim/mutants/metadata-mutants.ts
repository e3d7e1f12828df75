/** Wrong use of compare-and-set: rule 12. */
import type { Mutant } from "./mutant.ts";

export const metadataMutants: readonly Mutant[] = [
  {
    name: "metadata-written-without-its-version",
    breaks: "UPD1: a write is conditional on the version that was decided on",
    patches: [
      {
        in: "write",
        file: "update-item.ts",
        from: `const answer = await metadata.write(key, current?.version ?? "absent", item, token);`,
        to: `const latest = await metadata.get(key, "consistent");
const answer = await metadata.write(key, latest?.version ?? "absent", item, token);`,
      },
    ],
    profiles: ["storm", "combined", "lossy"],
  },
  {
    name: "a-lost-race-is-taken-for-a-win",
    breaks: "UPD2: a conflict means that a rival's write stands",
    patches: [
      {
        in: "write",
        file: "update-item.ts",
        from: `if (answer.kind === "written") return { key, item, version: answer.version };
return undefined;`,
        to: `const version = answer.kind === "written" ? answer.version : { revision: 1, token };
return { key, item, version };`,
      },
    ],
    profiles: ["storm", "combined", "lossy"],
  },
  {
    name: "own-lost-reply-is-a-rivals-write",
    breaks: "UPD2: a token of ours in the item means that the write was ours",
    patches: [
      {
        in: "updateItem",
        from: "if (current !== undefined && sent.has(current.version.token)) return { stored: current, wrote: true };",
        to: "",
      },
      {
        in: "takeName",
        from: `wrote || (stored?.item.kind === "log-name" && stored.item.incarnation === incarnation)`,
        to: "wrote || stored === undefined",
      },
    ],
    profiles: ["lossy", "storm", "combined"],
  },
];
