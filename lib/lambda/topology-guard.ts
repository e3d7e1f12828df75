/**
 * Asked by each deployment, before anything else changes, whether the bookies and regions that the topology
 * no longer names may go. A registered bookie holds copies until they are moved; only one that an operator
 * has said to be lost holds nothing any more. A region's ledgers are looked after by its own auditor, or by
 * the others once it is said to be lost: without that word nobody would recover or collect them.
 */
import type { RegionItem } from "../protocol/items.ts";
import { readRegistry } from "../protocol/placement/registry.ts";
import type { MetadataStore } from "../protocol/ports.ts";
import { answerDeployment, type CustomResourceEvent } from "./custom-resource.ts";

export async function guardTopology(metadata: MetadataStore, event: CustomResourceEvent): Promise<void> {
  await answerDeployment(event, "topology", async () => {
    if (event.RequestType !== "Update") return;
    const named = new Set(bookiesOf(event.ResourceProperties));
    const dropped = bookiesOf(event.OldResourceProperties).filter((id) => !named.has(id));
    if (dropped.length === 0) return;
    const left = new Set([...named].map(regionOf));
    const regions = new Set(dropped.map(regionOf).filter((region) => !left.has(region)));
    await refuseToDrop(metadata, new Set(dropped), regions);
  });
}

async function refuseToDrop(
  metadata: MetadataStore,
  dropped: ReadonlySet<string>,
  droppedRegions: ReadonlySet<string>,
): Promise<void> {
  const { bookies, regions } = await readRegistry(metadata, "consistent");
  const known = bookies.filter(({ address }) => dropped.has(address.id));
  const living = known.filter(({ state }) => state !== "lost");
  if (living.length === 0) {
    // One of which no bookie was ever registered never lived: the way back from an addition that failed.
    const lived = known.map(({ address }) => regionOf(address.id)).filter((one) => droppedRegions.has(one));
    return refuseRegions(regions, new Set(lived));
  }
  const ids = living.map(({ address }) => address.id).join(", ");
  throw new Error(
    `the topology no longer names ${ids}, which may hold the only copies that are left. Put them back; ` +
      "drain their region, or make them read-only, to keep new copies away. If their storage is gone, say " +
      "so: npx fenceline bookie lost <bookie>",
  );
}

function refuseRegions(known: readonly RegionItem[], dropped: ReadonlySet<string>): void {
  const lost = new Set(known.filter(({ state }) => state === "lost").map(({ region }) => String(region)));
  const unsaid = [...dropped].filter((region) => !lost.has(region));
  if (unsaid.length === 0) return;
  throw new Error(
    `the topology no longer names ${unsaid.join(", ")}, whose logs and ledgers nobody else would look ` +
      "after. Say first that it is lost, from another region: npx fenceline region lost <region>",
  );
}

/** Ids read region.name~storage. */
function regionOf(id: string): string {
  return id.slice(0, id.indexOf("."));
}

function bookiesOf(properties: Readonly<Record<string, unknown>> | undefined): readonly string[] {
  const bookies = properties?.Bookies;
  return Array.isArray(bookies) ? bookies.map(String) : [];
}
