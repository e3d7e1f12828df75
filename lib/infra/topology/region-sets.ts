/**
 * Where DynamoDB offers multi-region strong consistency: three regions of one set, all of them replicas, or
 * two replicas and a witness. No set spans continents (docs/OPERATING.md, "Legal region counts").
 */

export const regionSets: readonly (readonly string[])[] = [
  ["us-east-1", "us-east-2", "us-west-2"],
  ["eu-west-1", "eu-west-2", "eu-west-3", "eu-central-1"],
  ["ap-northeast-1", "ap-northeast-2", "ap-northeast-3"],
];

interface StrongReplicas {
  readonly replicas: readonly string[];
  readonly witness?: string | undefined;
}

/** What is wrong with the places of a strongly consistent table; empty if nothing is. */
export function strongReplicaFaults({ replicas, witness }: StrongReplicas): readonly string[] {
  const wanted = witness === undefined ? 3 : 2;
  const all = [...replicas, ...(witness === undefined ? [] : [witness])];
  const faults: string[] = [];
  if (replicas.length !== wanted) {
    const beside = witness === undefined ? "without a witness" : `beside the witness ${witness}`;
    faults.push(
      `metadata.replicas has ${replicas.length} regions; multi-region strong consistency takes exactly ` +
        `${wanted} ${beside}: three replicas, or two and a witness`,
    );
  }
  if (witness !== undefined && replicas.includes(witness)) {
    faults.push(`metadata.witness ${witness} is a replica as well; name a third region of the same set`);
  }
  const outside = all.filter((name) => !regionSets.some((set) => set.includes(name)));
  if (outside.length > 0) {
    faults.push(
      `${outside.join(", ")} can hold no strongly consistent replica; there are ${setsInWords()}; ` +
        'put the replicas there, or choose metadata.mode "home"',
    );
  } else if (!regionSets.some((set) => all.every((name) => set.includes(name)))) {
    faults.push(
      `metadata.replicas and metadata.witness (${all.join(", ")}) span several region sets, which strong ` +
        `consistency cannot; there are ${setsInWords()}; choose one, or metadata.mode "home"`,
    );
  }
  return faults;
}

function setsInWords(): string {
  return regionSets.map((set) => `{${set.join(", ")}}`).join(", ");
}

const directions: Readonly<Record<string, string>> = {
  north: "n",
  east: "e",
  south: "s",
  west: "w",
  central: "c",
  northeast: "ne",
  northwest: "nw",
  southeast: "se",
  southwest: "sw",
};

/** What the ids of a region's availability zones begin with: `use1` for us-east-1. */
export function zonePrefix(region: string): string | undefined {
  const [, area, gov, direction = "", ordinal] = /^([a-z]{2})-(gov-)?([a-z]+)-(\d+)$/.exec(region) ?? [];
  const short = directions[direction];
  return area === undefined || short === undefined
    ? undefined
    : `${area}${gov === undefined ? "" : "g"}${short}${ordinal}`;
}

/** The regions, those that `from` reaches soonest first: itself, its own continent's, then as listed. */
export function nearestFirst(from: string, regions: readonly string[]): readonly string[] {
  const distance = (name: string) => (name === from ? 0 : continent(name) === continent(from) ? 1 : 2);
  return [...regions].sort((one, other) => distance(one) - distance(other));
}

function continent(region: string): string {
  return region.slice(0, region.indexOf("-"));
}
