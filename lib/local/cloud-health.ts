/** What a region of the embedded cloud says in GET /v1/health. */
import { type Health, type Seen, survivableRegionLosses, survivalWords } from "../api/health.ts";
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
  const regionsUp = regions.flatMap((one) => (one.isUp ? [one.region] : []));
  const metadataSpare = votesToSpare(replicas);
  const serves = regionsUp.length >= minRegions && metadataSpare >= 0;
  const status = down.length === 0 ? "ok" : serves ? "degraded" : "unavailable";
  const words = serves
    ? servesWords({
        regionsUp,
        minRegions,
        metadataSpare,
        metadataRegions: replicas.map((one) => one.region),
        isDegraded: down.length > 0,
      })
    : stoppedWords(metadataSpare, minRegions);
  return {
    status,
    survivableRegionLosses: survivableRegionLosses({
      regionsUp: regionsUp.length,
      minRegions,
      metadataSpare,
    }),
    detail: `${downWords(down)}${words}`,
    metadataMode: "strong",
    regions: regions.map(seen),
    metadataReplicas: replicas.map(seen),
  };
}

function seen(one: RegionSwitch): Seen {
  return { name: one.region, status: one.isUp ? "up" : "down" };
}

function servesWords(now: Parameters<typeof survivalWords>[0]): string {
  const least = leastWords(now.minRegions);
  const because = `by default an append is in ${least}, and metadata needs most of its replicas`;
  return `${now.isDegraded ? "Appends and reads go on. " : ""}${survivalWords(now)}: ${because}.`;
}

/** Every read begins with metadata, whose keys only a majority of its replicas knows. */
function stoppedWords(metadataSpare: number, minRegions: number): string {
  if (metadataSpare < 0) {
    return (
      "Too few metadata replicas are left: appends and reads, local reads too, answer 503 until enough " +
      "are back."
    );
  }
  return `Appends by default need ${leastWords(minRegions)} and answer 503 until enough are back; reads may.`;
}

function leastWords(minRegions: number): string {
  return `${minRegions} region${minRegions === 1 ? "" : "s"} or more`;
}

function downWords(down: readonly string[]): string {
  return down.length === 0 ? "" : `${down.join(", ")} ${down.length === 1 ? "is" : "are"} down. `;
}
