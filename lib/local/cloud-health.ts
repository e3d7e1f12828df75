/** What a region of the embedded cloud says in GET /v1/health. */
import { type Health, survivableRegionLosses } from "../api/health.ts";
import type { LogConfig } from "../protocol/items.ts";
import { hasMajority } from "./metadata-replicas.ts";
import type { RegionSwitch } from "./region-switch.ts";

export function cloudHealth(
  regions: readonly RegionSwitch[],
  replicas: readonly RegionSwitch[],
  config: LogConfig,
): Health {
  const { minRegions } = config.replication;
  const byRegions = survivableRegionLosses({
    regionCount: regions.length,
    minRegions,
    metadataMode: "strong",
  });
  // A cloud that began with one region has one replica, also when regions are added.
  const survivable = replicas.length >= 2 ? byRegions : 0;
  const down = regions.filter((one) => !one.isUp).map((one) => one.region);
  const serves = regions.length - down.length >= minRegions && hasMajority(replicas);
  const status = down.length === 0 ? "ok" : serves ? "degraded" : "unavailable";
  return {
    status,
    survivableRegionLosses: survivable,
    detail: `${survivalWords(survivable, minRegions)}${downWords(down, status)}`,
    metadataMode: "strong",
    regions: regions.map((one) => ({ name: one.region, status: one.isUp ? "up" : "down" })),
  };
}

function survivalWords(survivable: number, minRegions: number): string {
  const least = `${minRegions} region${minRegions === 1 ? "" : "s"} or more`;
  const because = `by default an append is in ${least}, and metadata needs most of its replicas`;
  if (survivable === 0) return `No region may be lost: ${because}.`;
  return `Any ${survivable} of the regions may be lost and appends and reads go on: ${because}.`;
}

function downWords(down: readonly string[], status: Health["status"]): string {
  if (down.length === 0) return "";
  const names = `${down.join(", ")} ${down.length === 1 ? "is" : "are"} down`;
  if (status === "degraded") return ` ${names}; appends and reads go on.`;
  return ` ${names}; appends and strong reads wait until enough regions are back.`;
}
