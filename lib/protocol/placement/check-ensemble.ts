/**
 * Whether an ensemble keeps its promise, judged without any of the code that places: what placement, ensemble
 * changes, recovery and repair all ask before an ensemble is used.
 *
 * CK1 Every ack quorum of every write set spans minRegions known regions. It is enough to look at the worst
 *     one, which takes the bookies of no known region first and then empties the fullest regions one by one.
 * CK2 Members are as many as the ensemble has positions, and no bookie stands at two of them.
 * CK3 Where another ensemble is replaced, a write set may break CK1 if it spans no fewer regions than it did
 *     there. So what was legal stays legal, and what was not may only come closer.
 */
import type { BookieId, EntryId, Region } from "../ids.ts";
import { type BookieAddress, isKnownRegion, type Replication, writeSetPositions } from "../replication.ts";

/** `reason` names the first write set that breaks CK1, or what breaks CK2. */
type EnsembleCheck = { readonly kind: "legal" } | { readonly kind: "illegal"; readonly reason: string };

/**
 * Places are those of the members themselves, as the ledger's metadata has them. `before`: the ensemble that
 * this one takes the place of (CK3).
 */
export function checkEnsemble(
  ensemble: readonly BookieAddress[],
  replication: Replication,
  before?: readonly BookieAddress[],
): EnsembleCheck {
  const { ensembleSize, minRegions, ackQuorum } = replication;
  if (ensemble.length !== ensembleSize) {
    return { kind: "illegal", reason: `an ensemble of ${ensembleSize} has ${ensemble.length} members` };
  }
  const seen = new Set<BookieId>();
  for (const { id } of ensemble) {
    if (seen.has(id)) return { kind: "illegal", reason: `${id} stands at two positions` };
    seen.add(id);
  }
  if (minRegions <= 1) return { kind: "legal" };
  for (const positions of writeSets(replication)) {
    const members = membersAt(positions, ensemble);
    const spannedRegions = regionsOfWorstQuorum(members, ackQuorum);
    if (spannedRegions >= minRegions) continue;
    const spannedBefore = regionsOfWorstQuorum(membersAt(positions, before ?? []), ackQuorum);
    if (before !== undefined && spannedRegions >= spannedBefore) continue;
    const reason =
      `in the write set of positions ${positions.join(", ")} (${countsOf(members)}) an ack quorum of ` +
      `${ackQuorum} can lie in ${spannedRegions} known regions, ${minRegions} are wanted` +
      (before === undefined ? "" : `; it was ${spannedBefore} before`);
    return { kind: "illegal", reason };
  }
  return { kind: "legal" };
}

/** The positions of every write set that differs from the others; with E = Qw there is but one. */
function writeSets(replication: Replication): number[][] {
  const { ensembleSize, writeQuorum } = replication;
  const starts = writeQuorum === ensembleSize ? 1 : ensembleSize;
  return Array.from({ length: starts }, (_, start) => writeSetPositions(start as EntryId, replication));
}

function membersAt(positions: readonly number[], ensemble: readonly BookieAddress[]): BookieAddress[] {
  return positions.flatMap((position) => ensemble[position] ?? []);
}

/** CK1: the fewest known regions that `ackQuorum` of the members can span. */
function regionsOfWorstQuorum(members: readonly BookieAddress[], ackQuorum: number): number {
  let wanted = ackQuorum;
  const counts = new Map<Region, number>();
  for (const { place } of members) {
    if (isKnownRegion(place.region)) counts.set(place.region, (counts.get(place.region) ?? 0) + 1);
    else wanted--;
  }
  let spanned = 0;
  for (const count of [...counts.values()].sort((one, other) => other - one)) {
    if (wanted <= 0) break;
    wanted -= count;
    spanned++;
  }
  return spanned;
}

/** Such as "us-east-1 2, us-west-2 1". */
function countsOf(members: readonly BookieAddress[]): string {
  const regions = members.map(({ place }) => place.region).sort();
  const countOf = (region: Region) => regions.filter((one) => one === region).length;
  return [...new Set(regions)].map((region) => `${region} ${countOf(region)}`).join(", ");
}
