/** Wrong placements: the checker of ensembles, the order of regions around the ring, true indices, states. */
import type { Mutant } from "./mutant.ts";

const ALL = ["topology", "storm", "combined"];

export const placementMutants: readonly Mutant[] = [
  {
    name: "replacements-may-lose-a-region",
    breaks: "placement's checker: no write set gets worse",
    patches: [
      {
        in: "checkEnsemble",
        from: "before !== undefined && spannedRegions >= spannedBefore",
        to: "before !== undefined || spannedRegions > spannedBefore",
      },
    ],
    profiles: ALL,
  },
  {
    name: "regions-one-after-the-other",
    breaks: "placement's ring order, which its own checker no longer looks at",
    patches: [
      {
        in: "ringOfSectors",
        from: "if (isLegalRing(ring, replication, regions)) return ring;",
        to: "if (ring.length > 0) return [...ring].sort((one, other) => one - other);",
      },
      {
        in: "placeEnsemble",
        from: `check.kind === "legal"`,
        to: `check.kind === "legal" || answer.kind === "ensemble"`,
      },
    ],
    profiles: ALL,
  },
  {
    name: "replacements-go-to-the-end",
    breaks: "placement's replacement index: each at its true index",
    patches: [
      {
        in: "fill",
        from: `return ensemble.map((member) => present(member, "RB1: each position has its bookie"));`,
        to: `const joined = replaced.positions.map((position) => present(ensemble[position], "B1"));
return [...old.filter((_, position) => !replaced.positions.includes(position)), ...joined];`,
      },
      { in: "replaceBookies", from: "assertSound(request, failed, answer.ensemble);", to: "" },
      {
        in: "faultOf",
        file: "change-ensemble.ts",
        from: "stood !== undefined && stood !== position",
        to: "position < 0",
      },
    ],
    profiles: ALL,
  },
  {
    name: "copies-go-to-the-first-positions",
    breaks: "S09, rule 6b: to the replaced position, not to its place among the replaced",
    patches: [
      {
        in: "copyUnacknowledged",
        from: "positions",
        to: "positions.map((_, index) => index)",
      },
    ],
    profiles: ALL,
  },
  {
    name: "draining-regions-take-copies",
    breaks: "placement: only accepting regions take new copies",
    patches: [
      {
        in: "isUsable",
        from: `(request.regionStates?.get(candidate.place.region) ?? "accepting") === "accepting"`,
        to: "true",
      },
    ],
    profiles: ["topology"],
  },
  {
    name: "read-only-bookies-take-copies",
    breaks: "placement: only writable bookies take new copies",
    patches: [
      {
        in: "isUsable",
        from: `if ((request.bookieStates?.get(candidate.id) ?? "writable") !== "writable") return false;`,
        to: "",
      },
    ],
    profiles: ["topology"],
  },
];
