/** What a region says of itself and of the losses that this deployment still outlives. */
import { type BookieId, ledgerId, type Region } from "../protocol/ids.ts";
import type { DeploymentItem } from "../protocol/items.ts";
import { regionAware } from "../protocol/placement/region-aware.ts";
import { usableBookies } from "../protocol/placement/usable-bookies.ts";
import type { Topology } from "../protocol/ports.ts";
import type { BookieAddress, Replication } from "../protocol/replication.ts";
import { withWireNames } from "./size-names.ts";

export interface Health {
  /** `unavailable`: appends by default, or everything, answer 503 now. */
  readonly status: "ok" | "degraded" | "unavailable";
  /** How many more regions, any of them, may be lost while appends and creations by default go on. */
  readonly survivableRegionLosses: number;
  /** The same in words, with what is missing at present. */
  readonly detail: string;
  readonly metadataMode: DeploymentItem["metadataMode"];
  readonly regions: readonly Seen[];
  /** Regions whose metadata replicas are asked; a witness, which nobody can ask, is none of them. */
  readonly metadataReplicas: readonly Seen[];
}

export interface Seen {
  readonly name: string;
  readonly status: "up" | "down";
}

interface Serving {
  readonly placeable: Placeable;
  /** What is missing at present, in whole sentences; empty if nothing is. */
  readonly troubles: string;
  /** Why appends by default or creations are not served, in whole sentences. */
  readonly cannot: string | undefined;
  /** Metadata replicas that may still be lost. None in mode `home`, which needs the home. */
  readonly metadataSpare: number;
  /** Regions whose loss counts for the metadata, down or up. */
  readonly metadataRegions: readonly string[];
  /** What is said of regions that may be lost, which has no full stop. */
  readonly tell?: (survival: string) => string;
}

/** What a region can do now, and after which losses. */
export function servingNow(now: Serving): Pick<Health, "status" | "survivableRegionLosses" | "detail"> {
  const { placeable, troubles, cannot, metadataSpare, tell = (words) => `${words}.` } = now;
  if (cannot !== undefined) {
    return { status: "unavailable", survivableRegionLosses: 0, detail: `${troubles}${cannot}` };
  }
  const ofAny = Math.max(0, Math.min(placeable.outlives(placeable.regions), metadataSpare));
  return {
    status: troubles === "" ? "ok" : "degraded",
    survivableRegionLosses: ofAny,
    detail: `${troubles}${tell(survivalWords(now, ofAny))}`,
  };
}

/** Regions that metadata does not need are counted by themselves: of them more may be lost than of any. */
function survivalWords({ placeable, troubles, metadataRegions }: Serving, ofAny: number): string {
  const isDegraded = troubles !== "";
  const others = placeable.regions.filter((name) => !metadataRegions.includes(name));
  const ofOthers = placeable.outlives(others);
  const names = `that metadata does not need (${others.join(", ")})`;
  if (ofAny === 0) {
    const save = ofOthers > 0 ? `, save any ${ofOthers} of those ${names}` : "";
    return `No${isDegraded ? " further" : ""} region may be lost${save}`;
  }
  const more = ofOthers > ofAny ? `, or any ${ofOthers} of those ${names},` : "";
  const which = `Any ${ofAny} of the regions${isDegraded ? " left" : ""}${more}`;
  return `${which} may be lost and appends and reads go on`;
}

interface PlaceableNow {
  readonly home: Region;
  readonly replication: Replication;
  readonly bookies: readonly BookieAddress[];
  /** Of the bookies those that answer nothing, or take no writes. */
  readonly silent: ReadonlySet<BookieId>;
  readonly topology: Pick<Topology, "states">;
}

interface Placeable {
  /** Regions that have a bookie that a new ledger may use. */
  readonly regions: readonly Region[];
  /** Why a new ledger has no place; absent if it has one. */
  readonly reason?: string;
  /** How many of these regions, any of them, may be lost while a new ledger still has a place. */
  readonly outlives: (among: readonly Region[]) => number;
}

/** What is proved in so many tries is said, and no more: in a large deployment sets of regions are many. */
const TRIES_MAX = 300;

/** Whether a new ledger could be placed now, which each new segment of a log needs. */
export function placeableNow(now: PlaceableNow): Placeable {
  const { home, replication, bookies: candidates, silent, topology } = now;
  const states = topology.states?.();
  const said = states === undefined ? {} : { bookieStates: states.bookies, regionStates: states.regions };
  const { sound } = usableBookies({ candidates, ...said }, silent);
  const regions = [...new Set(sound.map(({ place }) => place.region))];
  const without = (lost: readonly Region[]) =>
    regionAware.chooseEnsemble({
      ledgerId: ledgerId(0),
      replication,
      candidates: candidates.filter(({ place }) => !lost.includes(place.region)),
      excluded: silent,
      home: lost.includes(home) ? (regions.find((name) => !lost.includes(name)) ?? home) : home,
      ...said,
    });
  const outlives = (among: readonly Region[]): number => {
    let tries = 0;
    for (let count = 1; count <= among.length; count++) {
      for (const lost of setsOf(among, count)) {
        if (tries++ === TRIES_MAX || without(lost).kind === "refused") return count - 1;
      }
    }
    return among.length;
  };
  const answer = without([]);
  return {
    regions,
    ...(answer.kind === "refused" ? { reason: withWireNames(answer.reason) } : {}),
    outlives,
  };
}

/** All sets of `count` of these, one after another. */
function* setsOf<T>(all: readonly T[], count: number): Generator<readonly T[]> {
  if (count === 0) return yield [];
  for (const [index, one] of all.entries()) {
    for (const others of setsOf(all.slice(index + 1), count - 1)) yield [one, ...others];
  }
}
