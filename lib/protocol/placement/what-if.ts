/** Admission and placement for a topology that need not exist: asked before anything is built. */
import { bookieId, type EntryId, ledgerId, type Region, region } from "../ids.ts";
import { type BookieAddress, type RegionState, type Replication, writeSet } from "../replication.ts";
import { type Admission, type AdmissionRefusal, admit } from "./admission.ts";
import type { PlacementRefusal, RegionCount } from "./placement.ts";
import { placeEnsemble } from "./region-aware.ts";
import { countByRegion } from "./usable-bookies.ts";

export interface PlannedRegion {
  readonly name: string;
  readonly bookies: number;
  /** Racks that its bookies stand in, in turn. */
  readonly racks: number;
}

interface PlannedWriteSet {
  /** The first entry that goes to it; so do those that follow by ensembleSize. */
  readonly firstEntry: number;
  readonly members: readonly BookieAddress[];
  readonly regionCounts: readonly RegionCount[];
}

export interface PlannedEnsemble {
  readonly kind: "placed";
  readonly ensemble: readonly BookieAddress[];
  readonly regionCounts: readonly RegionCount[];
  /** One for each position, or a single one if every entry goes to the whole ensemble. */
  readonly writeSets: readonly PlannedWriteSet[];
  readonly warnings: readonly string[];
}

export function admitPlan(replication: Replication, topology: readonly PlannedRegion[]): Admission {
  const counts = topology.map(({ name, bookies }) => ({ region: region(name), bookies }));
  return admit(replication, counts);
}

/** An ensemble of a log that the whole topology admits, placed while the regions `down` are lost. */
export function placePlan(
  replication: Replication,
  topology: readonly PlannedRegion[],
  down: readonly string[],
): PlannedEnsemble | AdmissionRefusal | PlacementRefusal {
  const admission = admitPlan(replication, topology);
  if (admission.kind === "refused") return admission;
  const answer = placeEnsemble({
    ledgerId: ledgerId(0),
    replication,
    candidates: topology.flatMap(bookiesOf),
    excluded: new Set(),
    home: region(topology.find(({ name }) => !down.includes(name))?.name ?? ""),
    regionStates: new Map<Region, RegionState>(down.map((name) => [region(name), "lost"])),
  });
  if (answer.kind === "refused") return answer;
  const { ensemble } = answer;
  const regionCounts = countByRegion(ensemble);
  const writeSets = writeSetsOf(ensemble, replication);
  return { kind: "placed", ensemble, regionCounts, writeSets, warnings: admission.warnings };
}

function writeSetsOf(ensemble: readonly BookieAddress[], replication: Replication): PlannedWriteSet[] {
  const { ensembleSize, writeQuorum } = replication;
  const fragment = { firstEntry: 0 as EntryId, ensemble };
  return Array.from({ length: writeQuorum === ensembleSize ? 1 : ensembleSize }, (_, firstEntry) => {
    const members = writeSet(firstEntry as EntryId, fragment, replication);
    return { firstEntry, members, regionCounts: countByRegion(members) };
  });
}

function bookiesOf({ name, bookies, racks }: PlannedRegion): BookieAddress[] {
  return Array.from({ length: bookies }, (_, index) => ({
    id: bookieId(`${name}.b${index + 1}`),
    place: { region: region(name), rack: `r${(index % racks) + 1}` },
  }));
}
