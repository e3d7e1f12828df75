/** What a region of the embedded cloud says in GET /v1/health. */
import { type Health, survivableRegionLosses } from "../api/health.ts";
import type { LogConfig } from "../protocol/items.ts";
import { votesToSpare } from "./metadata-replicas.ts";
import type { RegionSwitch } from "./region-switch.ts";

export function cloudHealth(
  regions: readonly RegionSwitch[],
  replicas: readonly RegionSwitch[],
  config: LogConfig,
): Health {
  const { minRegions } = config.replication;
  const down = regions.filter((one) => !one.isUp).map((one) => one.region);
  const regionsUp = regions.length - down.length;
  const metadataSpare = votesToSpare(replicas);
  const survivable = survivableRegionLosses({ regionsUp, minRegions, metadataSpare });
  const serves = regionsUp >= minRegions && metadataSpare >= 0;
  const status = down.length === 0 ? "ok" : serves ? "degraded" : "unavailable";
  const words = serves
    ? survivalWords(survivable, minRegions, down.length > 0)
    : stoppedWords(metadataSpare, minRegions);
  return {
    status,
    survivableRegionLosses: survivable,
    detail: `${downWords(down)}${words}`,
    metadataMode: "strong",
    regions: regions.map((one) => ({ name: one.region, status: one.isUp ? "up" : "down" })),
  };
}

function survivalWords(survivable: number, minRegions: number, isDegraded: boolean): string {
  const because = `by default an append is in ${least(minRegions)}, and metadata needs most of its replicas`;
  const goesOn = isDegraded ? "Appends and reads go on. " : "";
  if (survivable === 0) return `${goesOn}No${isDegraded ? " further" : ""} region may be lost: ${because}.`;
  const which = `Any ${survivable} of the regions${isDegraded ? " left" : ""}`;
  return `${goesOn}${which} may be lost and appends and reads go on: ${because}.`;
}

/** Every read begins with metadata, whose keys only a majority of its replicas tells. */
function stoppedWords(metadataSpare: number, minRegions: number): string {
  if (metadataSpare < 0) {
    return (
      "Too few metadata replicas are left: appends and reads, local reads too, answer 503 until enough " +
      "are back."
    );
  }
  return `Appends by default need ${least(minRegions)} and answer 503 until enough are back; reads may.`;
}

function least(minRegions: number): string {
  return `${minRegions} region${minRegions === 1 ? "" : "s"} or more`;
}

function downWords(down: readonly string[]): string {
  return down.length === 0 ? "" : `${down.join(", ")} ${down.length === 1 ? "is" : "are"} down. `;
}
