/**
 * What a region of the embedded cloud says in GET /v1/health, from what this process knows without asking:
 * which regions and bookies are there, which stores refuse writes, and what operators said of them.
 */
import { type Health, placeableNow, type Seen, servingNow } from "../api/health.ts";
import type { BookieId, Region } from "../protocol/ids.ts";
import type { LogConfig } from "../protocol/items.ts";
import type { Topology } from "../protocol/ports.ts";
import { votesToSpare } from "./metadata-replicas.ts";
import type { LocalBookie } from "./region-bookies.ts";
import type { RegionSwitch } from "./region-switch.ts";
import type { WriteWatch } from "./write-watch.ts";

export interface CloudBookie extends LocalBookie {
  readonly writes: Pick<WriteWatch, "failure">;
  /** False: its storage came back empty or foreign, and its answers count for nothing (rule 21). */
  readonly isKnown: boolean;
}

interface CloudState {
  /** Which region says it. */
  readonly home: Region;
  readonly regions: readonly RegionSwitch[];
  readonly replicas: readonly RegionSwitch[];
  readonly bookies: readonly CloudBookie[];
  /** What operators say of regions and bookies. */
  readonly topology: Pick<Topology, "states">;
  readonly metadataWrites: Pick<WriteWatch, "failure">;
  /** Of each region's lease table, without which its functions own no log. */
  readonly leaseWrites: (region: Region) => Pick<WriteWatch, "failure">;
  readonly config: LogConfig;
}

export function cloudHealth(cloud: CloudState): Health {
  const { regions, replicas, bookies, config, metadataWrites, leaseWrites } = cloud;
  const { minRegions } = config.replication;
  const down = regions.filter((one) => !one.isUp).map((one) => one.region);
  const out = bookies.filter((one) => one.region.isUp && (!one.power.isUp || !one.isKnown));
  const full = bookies.filter((one) => one.region.isUp && one.writes.failure !== undefined);
  const upNow = regions.filter((one) => one.isUp).map((one) => one.region);
  const unleased = upNow.filter((name) => leaseWrites(name).failure !== undefined);
  const silent = new Set<BookieId>(
    bookies.flatMap((one) =>
      one.region.isUp && !out.includes(one) && !full.includes(one) ? [] : [one.address.id],
    ),
  );
  const placeable = placeableNow({
    ...cloud,
    bookies: bookies.map((one) => one.address),
    silent,
    replication: config.replication,
  });
  const metadataSpare = votesToSpare(replicas);
  const troubles = [
    are(down, "down"),
    are(
      out.map((one) => one.address.id),
      "down",
    ),
    ...full.map((one) => `${one.address.id} takes no writes: ${one.writes.failure}. `),
    ...unleased.map((one) => `${one} takes no leases: ${leaseWrites(one).failure}. `),
    metadataWrites.failure === undefined ? "" : `Metadata takes no writes: ${metadataWrites.failure}. `,
  ].join("");
  const cannot =
    stoppedWords(metadataSpare, regions.length - down.length, minRegions) ??
    (metadataWrites.failure === undefined ? undefined : "Appends and creations answer 503 until it does.") ??
    (unleased.includes(cloud.home) ? "This region owns no log until it does." : undefined) ??
    (placeable.reason === undefined
      ? undefined
      : `New logs, and segments that appends by default need, have no place: ${placeable.reason}.`);
  return {
    ...servingNow({
      placeable,
      troubles,
      cannot,
      metadataSpare,
      metadataRegions: replicas.map((one) => one.region),
      tell: (survival) => {
        const least = leastWords(minRegions);
        const because = `by default an append is in ${least}, and metadata needs most of its replicas`;
        return `${troubles === "" ? "" : "Appends and reads go on. "}${survival}: ${because}.`;
      },
    }),
    metadataMode: "strong",
    regions: regions.map((one) => {
      const isUp = one.isUp && bookies.some(({ region, power }) => region === one && power.isUp);
      return { name: one.region, status: isUp ? "up" : "down" };
    }),
    metadataReplicas: replicas.map((one): Seen => ({ name: one.region, status: one.isUp ? "up" : "down" })),
  };
}

/** Every read begins with metadata, whose keys only a majority of its replicas knows. */
function stoppedWords(metadataSpare: number, regionsUp: number, minRegions: number): string | undefined {
  if (metadataSpare < 0) {
    return (
      "Too few metadata replicas are left: appends and reads, local reads too, answer 503 until enough " +
      "are back."
    );
  }
  if (regionsUp >= minRegions) return undefined;
  return `Appends by default need ${leastWords(minRegions)} and answer 503 until enough are back; reads may.`;
}

function leastWords(minRegions: number): string {
  return `${minRegions} region${minRegions === 1 ? "" : "s"} or more`;
}

function are(names: readonly string[], what: string): string {
  return names.length === 0 ? "" : `${names.join(", ")} ${names.length === 1 ? "is" : "are"} ${what}. `;
}
