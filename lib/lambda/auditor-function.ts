/**
 * A region's `auditor` function: one pass over its ledgers and logs for each event of its schedule, and the
 * registration of its region's bookies, when they are deployed and again before each pass.
 */
import type { JsonObject } from "../formats/json-fields.ts";
import { type ComposedRegion, composeRegion } from "../protocol/compose-region.ts";
import { bookieId } from "../protocol/ids.ts";
import { bookieKey } from "../protocol/items.ts";
import { registerBookie } from "../protocol/placement/registry.ts";
import type { MetadataStore } from "../protocol/ports.ts";
import { isCustomResource, takeDeploymentStep } from "./custom-resource.ts";
import type { RegionWorld } from "./region-world.ts";

export class AuditorFunction {
  readonly #world: RegionWorld;
  readonly #composed: ComposedRegion;

  constructor(world: RegionWorld) {
    this.#world = world;
    const { ports, trace } = world;
    trace.follow("hedges", () => ports.reads.counters.hedges);
    this.#composed = composeRegion(ports);
  }

  /** An event of the schedule, whatever is in it, or the step of a deployment that made bookies. */
  async serve(event: unknown): Promise<JsonObject | undefined> {
    const { trace, region } = this.#world;
    if (isCustomResource(event)) {
      const claimed = event.ResourceProperties?.ClaimedBookie;
      await takeDeploymentStep(event, `bookies of ${region}`, async () => {
        if (claimed === undefined) return await this.#registerBookies();
        await claimBookie(this.#world.ports.metadata, String(claimed));
      });
      return undefined;
    }
    try {
      await this.#registerBookies();
      // Between two passes the process stands still: what operators said meanwhile decides where logs go.
      await this.#world.ports.registry.load();
      const { verdicts, ...counts } = await this.#composed.auditor.pass();
      trace.count("auditFailures", counts.failures);
      trace.count("logsReturned", counts.returned);
      const report = { ...counts, verdicts: { ...verdicts } };
      trace.logger.info("audited", { report });
      return report;
    } finally {
      await this.#composed.append.release(); // the process may stand still from here on (rule 17)
      trace.flush();
    }
  }

  /**
   * New ones alone; what operators said of the others stays. Of this region only: another's own stack knows
   * when they stand.
   */
  async #registerBookies(): Promise<void> {
    const { bookies, ports, region } = this.#world;
    for (const one of bookies) if (one.place.region === region) await registerBookie(ports, one);
  }
}

/**
 * Whether a bookie's id is new: asked by a deployment before it marks a new bucket with its identity.
 * Throws if the registry knows the bookie: its bucket was lost, and another one must not speak for it.
 */
export async function claimBookie(metadata: MetadataStore, id: string): Promise<void> {
  const known = await metadata.get(bookieKey(bookieId(id)), "consistent");
  if (known === undefined) return;
  throw new Error(
    `bookie ${id} was registered before, with another bucket: an identity is never used again (rule 21). ` +
      'Give the bookie a new "storage" in the topology file',
  );
}
