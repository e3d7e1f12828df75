/**
 * A region's `auditor` function: a pass over the logs on a schedule, and the registration of its region's
 * bookies, once when they are deployed and again with each pass.
 */
import type { Context } from "aws-lambda";
import type { JsonObject } from "../formats/json-fields.ts";
import type { LogName } from "../protocol/ids.ts";
import { registerBookie } from "../protocol/placement/registry.ts";
import { auditLogs } from "./audit-logs.ts";
import { claimBookie } from "./claim-bookie.ts";
import { isCustomResource, takeDeploymentStep } from "./custom-resource.ts";
import type { RegionWorld } from "./region-world.ts";

/** Kept for what is under way, its report and the metrics. */
const RESERVE_MS = 20_000;

export class AuditorFunction {
  readonly #world: RegionWorld;
  /** Where the pass before stopped for want of time. */
  #startAfter: LogName | undefined;

  constructor(world: RegionWorld) {
    this.#world = world;
  }

  /** An event of the schedule, whatever is in it, or the step of a deployment that made bookies. */
  async serve(event: unknown, context: Context): Promise<JsonObject | undefined> {
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
      return await this.#pass(context);
    } finally {
      trace.flush();
    }
  }

  async #pass(context: Context): Promise<JsonObject> {
    const { ports, trace } = this.#world;
    await this.#registerBookies();
    const isTimeUp = () => context.getRemainingTimeInMillis() < RESERVE_MS;
    const { failed, next, ...counts } = await auditLogs(ports, isTimeUp, this.#startAfter);
    this.#startAfter = next;
    trace.count("logsAudited", counts.logs);
    trace.count("auditFailures", failed.length);
    const report = { ...counts, failed: failed.map((one) => ({ ...one })), isWhole: next === undefined };
    trace.logger.info("audited", { report });
    return report;
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
