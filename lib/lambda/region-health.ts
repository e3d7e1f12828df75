/**
 * What a region says in GET /v1/health, from asking all at once: each metadata replica for the deployment's
 * item, each bookie for an entry that is not there, and the region's writers whether they could own a log.
 */
import { type Health, placeableNow, type Seen, servingNow } from "../api/health.ts";
import { type BookieId, entryId, ledgerId, logIncarnation, type Region } from "../protocol/ids.ts";
import { deploymentKey } from "../protocol/items.ts";
import { withTimeout } from "../protocol/waiting.ts";
import type { RegionWorld } from "./region-world.ts";

const ASK_TIMEOUT_MS = 1_500;
/** No ledger has this id: ids are random, and 0 is never drawn in a deployment's life. */
const NO_LEDGER = ledgerId(0);
/** Of no log, for a question that is about the region. */
const NO_LOG = logIncarnation("health");

export async function regionHealth(world: RegionWorld): Promise<Health> {
  const { settings, defaultConfig, replicas, region, ports } = world;
  const { mode, homeRegion } = settings.metadata;
  const [silent, metadata, writers] = await Promise.all([
    silentBookies(world),
    metadataVotes(world),
    writersFault(world),
    // A process that has just started, or stood still, knows nothing of what operators drained.
    ports.topology.whenCurrent?.(),
  ]);
  const placeable = placeableNow({
    home: region,
    replication: defaultConfig.replication,
    bookies: world.bookies,
    silent,
    topology: ports.topology,
  });
  const troubles = [
    silent.size === 0 ? "" : `No answer from ${[...silent].join(", ")}. `,
    metadata.silent.length === 0 ? "" : `Metadata is silent in ${metadata.silent.join(", ")}. `,
    writers === "cannot own" ? "This region's lease table is silent: others own its logs. " : "",
  ].join("");
  const cannot =
    (metadata.spare < 0 ? "Appends need the metadata's answers, and get 503 now." : undefined) ??
    (placeable.reason === undefined
      ? undefined
      : `New logs, and segments that appends by default need, have no place: ${placeable.reason}.`) ??
    (writers === undefined || writers === "cannot own"
      ? undefined
      : `This region's append function does not serve: ${writers}.`);
  return {
    ...servingNow({
      placeable,
      troubles,
      cannot,
      metadataSpare: metadata.spare,
      metadataRegions: homeRegion === undefined ? replicas.map((one) => one.region) : [homeRegion],
    }),
    metadataMode: mode,
    regions: settings.regions.map(({ region: name }): Seen => {
      const isUp = world.bookies.some(({ id, place }) => place.region === name && !silent.has(id));
      return { name, status: isUp ? "up" : "down" };
    }),
    metadataReplicas: replicas.map((one): Seen => {
      return { name: one.region, status: metadata.silent.includes(one.region) ? "down" : "up" };
    }),
  };
}

/** All are asked at once: whether a ledger has a place depends on each. */
async function silentBookies({ bookies, ports }: RegionWorld): Promise<ReadonlySet<BookieId>> {
  const silent = new Set<BookieId>();
  await Promise.all(
    bookies.map(async ({ id }) => {
      const ask = () => ports.bookies.bookie(id).read(NO_LEDGER, entryId(0));
      await withTimeout(ports.clock, ASK_TIMEOUT_MS, `asking ${id}`, ask).catch(() => silent.add(id));
    }),
  );
  return silent;
}

/** What is wrong with this region's writers; undefined if nothing is. */
async function writersFault({ appends, ports, region }: RegionWorld): Promise<string | undefined> {
  const ask = () => appends.serves(region, NO_LOG);
  return await withTimeout(ports.clock, ASK_TIMEOUT_MS, "asking the append function", ask).then(
    (canOwn) => (canOwn ? undefined : "cannot own"),
    (error) => (error instanceof Error ? error.message : String(error)),
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
