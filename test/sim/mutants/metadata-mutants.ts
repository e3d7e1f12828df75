/** Wrong use of compare-and-set: design section 3, rule 12. */
import type { Mutant } from "./mutant.ts";

const UPDATE = "lib/protocol/update-item.ts";
const CREATE = "lib/protocol/log/catalogue/create-log.ts";

export const metadataMutants: readonly Mutant[] = [
  {
    name: "metadata-written-without-its-version",
    breaks: "U1: a write is conditional on the version that was decided on",
    patches: [
      {
        file: UPDATE,
        from: `    const answer = await metadata.write(key, current?.version ?? "absent", item, token);`,
        to: `    const latest = await metadata.get(key, "consistent");
    const answer = await metadata.write(key, latest?.version ?? "absent", item, token);`,
      },
    ],
    profiles: ["storm", "combined", "lossy"],
  },
  {
    name: "a-lost-race-is-taken-for-a-win",
    breaks: "U2: a conflict means that a rival's write stands",
    patches: [
      {
        file: UPDATE,
        from: `    if (answer.kind === "written") return { key, item, version: answer.version };
    return undefined;`,
        to: `    const version = answer.kind === "written" ? answer.version : { revision: 1, token };
    return { key, item, version };`,
      },
    ],
    profiles: ["storm", "combined", "lossy"],
  },
  {
    name: "own-lost-reply-is-a-rivals-write",
    breaks: "U2: a token of ours in the item means that the write was ours",
    patches: [
      {
        file: UPDATE,
        from: "    if (current !== undefined && sent.has(current.version.token)) return { stored: current, wrote: true };\n",
        to: "",
      },
      {
        file: CREATE,
        from: `  if (wrote || (stored?.item.kind === "log-name" && stored.item.log === log)) return true;`,
        to: "  if (wrote || stored === undefined) return true;",
      },
    ],
    profiles: ["lossy", "storm", "combined"],
  },
];
