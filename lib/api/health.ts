/** What a region says of itself and of the losses that this deployment outlives (design section 3). */
import type { DeploymentItem } from "../protocol/items.ts";

export interface Health {
  readonly status: "ok" | "degraded" | "unavailable";
  /** Regions that may be lost, from a state in which all are there, before appends stop. */
  readonly survivableRegionLosses: number;
  /** The same in words, with what is missing at present. */
  readonly detail: string;
  readonly metadataMode: DeploymentItem["metadataMode"];
  readonly regions: readonly { readonly name: string; readonly status: "up" | "down" }[];
}

/**
 * Regions that may be lost: min(R - minRegions, what the metadata mode survives). `strong` survives one: it
 * has three replicas, or two and a witness. `home` survives no loss of the home.
 */
export function survivableRegionLosses(deployment: {
  readonly regionCount: number;
  readonly minRegions: number;
  readonly metadataMode: DeploymentItem["metadataMode"];
}): number {
  const byMetadata = deployment.metadataMode === "strong" && deployment.regionCount >= 2 ? 1 : 0;
  return Math.max(0, Math.min(deployment.regionCount - deployment.minRegions, byMetadata));
}
