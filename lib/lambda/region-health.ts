/**
 * What a region says in GET /v1/health, from asking: each metadata replica for the deployment's item, and one
 * bookie of each region after another until one answers.
 */
import { type Health, type Seen, survivableRegionLosses, survivalWords } from "../api/health.ts";
import { entryId, ledgerId, type Region } from "../protocol/ids.ts";
import { deploymentKey } from "../protocol/items.ts";
import { withTimeout } from "../protocol/waiting.ts";
import type { RegionWorld } from "./region-world.ts";

const ASK_TIMEOUT_MS = 1_500;
/** No ledger has this id: ids are random, and 0 is never drawn in a deployment's life. */
const NO_LEDGER = ledgerId(0);

export async function regionHealth(world: RegionWorld): Promise<Health> {
  const { settings, defaultConfig, replicas } = world;
  const { mode, homeRegion } = settings.metadata;
  const { minRegions } = defaultConfig.replication;
  const [regions, metadata] = await Promise.all([regionsUp(world), metadataVotes(world)]);
  const down = regions.filter((one) => one.status === "down").map((one) => one.name);
  const left = regions.flatMap((one) => (one.status === "up" ? [one.name] : []));
  const metadataSpare = metadata.spare;
  const serves = left.length >= minRegions && metadataSpare >= 0;
  const isDegraded = down.length + metadata.silent.length > 0;
  const downWords = down.length === 0 ? "" : `No bookie answers in ${down.join(", ")}. `;
  const silent = metadata.silent.length === 0 ? "" : `Metadata is silent in ${metadata.silent.join(", ")}. `;
  const metadataRegions = homeRegion === undefined ? replicas.map(({ region }) => region) : [homeRegion];
  const words = serves
    ? `${survivalWords({ regionsUp: left, minRegions, metadataSpare, metadataRegions, isDegraded })}.`
    : `Appends by default need ${minRegions} regions and the metadata's answers; they answer 503 now.`;
  return {
    status: !serves ? "unavailable" : isDegraded ? "degraded" : "ok",
    survivableRegionLosses: survivableRegionLosses({ regionsUp: left.length, minRegions, metadataSpare }),
    detail: `${downWords}${silent}${words}`,
    metadataMode: mode,
    regions,
    metadataReplicas: replicas.map(({ region }): Seen => {
      return { name: region, status: metadata.silent.includes(region) ? "down" : "up" };
    }),
  };
}

async function regionsUp({ settings, bookies, ports }: RegionWorld): Promise<Health["regions"]> {
  const answers = async (name: string): Promise<boolean> => {
    for (const { id, place } of bookies) {
      if (place.region !== name) continue;
      const ask = () => ports.bookies.bookie(id).read(NO_LEDGER, entryId(0));
      const found = await withTimeout(ports.clock, ASK_TIMEOUT_MS, `asking ${id}`, ask).catch(
        () => undefined,
      );
      if (found !== undefined) return true;
    }
    return false;
  };
  return await Promise.all(
    settings.regions.map(async ({ region }) => {
      return { name: region, status: (await answers(region)) ? "up" : "down" } as const;
    }),
  );
}

/** How many replicas may still be lost, and which do not answer. */
async function metadataVotes(world: RegionWorld): Promise<{ spare: number; silent: readonly Region[] }> {
  const { replicas, ports, settings } = world;
  const { mode, homeRegion, witnessRegion } = settings.metadata;
  const silent: Region[] = [];
  await Promise.all(
    replicas.map(async ({ region, store }) => {
      const ask = () => store.get(deploymentKey, "stale");
      await withTimeout(ports.clock, ASK_TIMEOUT_MS, `metadata in ${region}`, ask).catch(() =>
        silent.push(region),
      );
    }),
  );
  if (mode === "home") return { spare: silent.some((region) => region === homeRegion) ? -1 : 0, silent };
  // A witness cannot be asked; AWS keeps it.
  const votes = replicas.length + (witnessRegion === undefined ? 0 : 1);
  const majority = Math.floor(votes / 2) + 1;
  return { spare: votes - silent.length - majority, silent };
}
