/** Whether a bookie's id is new: asked by a deployment before it marks a new bucket with its identity. */
import { bookieId } from "../protocol/ids.ts";
import { bookieKey } from "../protocol/items.ts";
import type { MetadataStore } from "../protocol/ports.ts";

/** Throws if the registry knows the bookie: its bucket was lost, and another one must not speak for it. */
export async function claimBookie(metadata: MetadataStore, id: string): Promise<void> {
  const known = await metadata.get(bookieKey(bookieId(id)), "consistent");
  if (known === undefined) return;
  throw new Error(
    `bookie ${id} was registered before, with another bucket: an identity is never used again (rule 21). ` +
      'Give the bookie a new "storage" in the topology file',
  );
}
