/** What a region says of itself and of the losses that this deployment still outlives (design section 3). */
import type { DeploymentItem } from "../protocol/items.ts";

export interface Health {
  readonly status: "ok" | "degraded" | "unavailable";
  /** How many more regions may be lost, with those that are down now, before appends stop. */
  readonly survivableRegionLosses: number;
  /** The same in words, with what is missing at present. */
  readonly detail: string;
  readonly metadataMode: DeploymentItem["metadataMode"];
  readonly regions: readonly { readonly name: string; readonly status: "up" | "down" }[];
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
