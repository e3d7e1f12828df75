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
  /** How many more regions may be lost, with those that are down now, before appends stop. */
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

/** Regions that may still be lost: those up beyond minRegions, as far as the metadata outlives it. */
export function survivableRegionLosses(now: {
  readonly regionsUp: number;
  readonly minRegions: number;
  /** Metadata replicas that may still be lost. None in mode `home`, which needs the home. */
  readonly metadataSpare: number;
}): number {
  return Math.max(0, Math.min(now.regionsUp - now.minRegions, now.metadataSpare));
}

/**
 * The same in words. Regions that metadata does not need are counted by themselves: of them more may be lost
 * than of any at all.
 */
export function survivalWords(now: {
  readonly regionsUp: readonly string[];
  readonly minRegions: number;
  readonly metadataSpare: number;
  /** Those whose loss counts for the metadata, down or up. */
  readonly metadataRegions: readonly string[];
  readonly isDegraded: boolean;
}): string {
  const { minRegions, metadataSpare, metadataRegions, isDegraded } = now;
  const ofAny = survivableRegionLosses({ regionsUp: now.regionsUp.length, minRegions, metadataSpare });
  const others = now.regionsUp.filter((name) => !metadataRegions.includes(name));
  const ofOthers = Math.min(now.regionsUp.length - minRegions, others.length);
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
}

/** Whether a new ledger could be placed now, which each new segment of a log needs. */
export function placeableNow(now: PlaceableNow): Placeable {
  const { home, replication, bookies: candidates, silent, topology } = now;
  const states = topology.states?.();
  const said = states === undefined ? {} : { bookieStates: states.bookies, regionStates: states.regions };
  const { sound } = usableBookies({ candidates, ...said }, silent);
  const request = { ledgerId: ledgerId(0), replication, candidates, excluded: silent, home, ...said };
  const answer = regionAware.chooseEnsemble(request);
  const regions = [...new Set(sound.map(({ place }) => place.region))];
  return { regions, ...(answer.kind === "refused" ? { reason: withWireNames(answer.reason) } : {}) };
}
