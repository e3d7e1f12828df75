/** Wrong placements: the checker of ensembles, the order of regions around the ring, true indices, states. */
import type { Mutant } from "./mutant.ts";

const CHECK = "lib/protocol/placement/check-ensemble.ts";
const ARRANGE = "lib/protocol/placement/arrange-regions.ts";
const PLACE = "lib/protocol/placement/place-ensemble.ts";
const REPLACE = "lib/protocol/placement/replace-bookies.ts";
const USABLE = "lib/protocol/placement/usable-bookies.ts";
const JUDGE = "lib/protocol/ledger/judge-replacement.ts";
const CHANGE = "lib/protocol/ledger/change-ensemble.ts";

const ALL = ["topology", "storm", "combined"];

export const placementMutants: readonly Mutant[] = [
  {
    name: "replacements-may-lose-a-region",
    breaks: "placement's checker: no write set gets worse",
    patches: [
      {
        file: CHECK,
        from: "    if (before !== undefined && spannedRegions >= spannedBefore) continue;",
        to: "    if (before !== undefined || spannedRegions > spannedBefore) continue;",
      },
    ],
    profiles: ALL,
  },
  {
    name: "regions-one-after-the-other",
    breaks: "placement's ring order, which its own checker no longer looks at",
    patches: [
      {
        file: ARRANGE,
        from: "      if (isLegalRing(ring, replication, regions)) return ring;",
        to: "      if (ring.length > 0) return [...ring].sort((one, other) => one - other);",
      },
      {
        file: PLACE,
        from: `  assert(check.kind === "legal",`,
        to: `  assert(check.kind === "legal" || answer.kind === "ensemble",`,
      },
    ],
    profiles: ALL,
  },
  {
    name: "replacements-go-to-the-end",
    breaks: "placement's replacement index: each at its true index",
    patches: [
      {
        file: REPLACE,
        from: `  return ensemble.map((member) => present(member, "B1: each position has its bookie"));`,
        to: `  const joined = replaced.positions.map((position) => present(ensemble[position], "B1"));
  return [...old.filter((_, position) => !replaced.positions.includes(position)), ...joined];`,
      },
      {
        file: REPLACE,
        from: "  assertSound(request, failed, answer.ensemble);\n",
        to: "  void assertSound;\n",
      },
      {
        file: JUDGE,
        from: "    if (stood !== undefined && stood !== position) return",
        to: "    if (position < 0) return",
      },
    ],
    profiles: ALL,
  },
  {
    name: "copies-go-to-the-first-positions",
    breaks: "S09, rule 6b: to the replaced position, not to its place among the replaced",
    patches: [
      {
        file: CHANGE,
        from: "  const copies = positions.flatMap((position) => {",
        to: "  const copies = positions.flatMap((_, position) => {",
      },
    ],
    profiles: ALL,
  },
  {
    name: "draining-regions-take-copies",
    breaks: "placement: only accepting regions take new copies",
    patches: [
      {
        file: USABLE,
        from: `  return (request.regionStates?.get(candidate.place.region) ?? "accepting") === "accepting";`,
        to: "  return true;",
      },
    ],
    profiles: ["topology"],
  },
  {
    name: "read-only-bookies-take-copies",
    breaks: "placement: only writable bookies take new copies",
    patches: [
      {
        file: USABLE,
        from: `  if ((request.bookieStates?.get(candidate.id) ?? "writable") !== "writable") return false;\n`,
        to: "",
      },
    ],
    profiles: ["topology"],
  },
];
