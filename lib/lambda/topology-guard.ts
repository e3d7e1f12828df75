/**
 * Asked by each deployment, before anything else changes, whether the bookies that the topology no longer
 * names may go. A registered bookie holds copies until they are moved; only one that an operator has said to
 * be lost holds nothing any more.
 */
import { readRegistry } from "../protocol/placement/registry.ts";
import type { MetadataStore } from "../protocol/ports.ts";
import { answerDeployment, type CustomResourceEvent } from "./custom-resource.ts";

export async function guardTopology(metadata: MetadataStore, event: CustomResourceEvent): Promise<void> {
  await answerDeployment(event, "topology", async () => {
    if (event.RequestType !== "Update") return;
    const named = new Set(bookiesOf(event.ResourceProperties));
    const dropped = bookiesOf(event.OldResourceProperties).filter((id) => !named.has(id));
    if (dropped.length > 0) await refuseToDrop(metadata, new Set(dropped));
  });
}

async function refuseToDrop(metadata: MetadataStore, dropped: ReadonlySet<string>): Promise<void> {
  const { bookies } = await readRegistry(metadata, "consistent");
  const living = bookies.filter(({ address, state }) => dropped.has(address.id) && state !== "lost");
  if (living.length === 0) return;
  const ids = living.map(({ address }) => address.id).join(", ");
  throw new Error(
    `the topology no longer names ${ids}, which may hold the only copies that are left. Put them back; ` +
      "drain their region, or make them read-only, to keep new copies away. If their storage is gone, say " +
      "so: npx fenceline bookie lost <bookie>",
  );
}

function bookiesOf(properties: Readonly<Record<string, unknown>> | undefined): readonly string[] {
  const bookies = properties?.Bookies;
  return Array.isArray(bookies) ? bookies.map(String) : [];
}
