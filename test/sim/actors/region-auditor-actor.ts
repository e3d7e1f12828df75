/**
 * A region's auditor on its schedule, as it is deployed: each pass is an invocation that releases its leases at
 * its end, and a new process begins where chance has it.
 */

import { composeAnySizes } from "../../process-ports.ts";
import { leasePorts } from "../function-ports.ts";
import type { Answer } from "../history.ts";
import type { RegionAuditorPlan } from "../plan.ts";
import type { SimulatedProcess } from "../simulated-process.ts";
import type { World } from "../world.ts";
import type { Actor } from "./actor.ts";

export async function auditRegion(actor: Actor<RegionAuditorPlan>): Promise<void> {
  const pass = auditorIn(actor.world, actor.process);
  while (actor.takesOne()) {
    await actor.rest();
    await pass();
  }
}

/** The auditor of this process: a pass at each call, which never rejects. */
export function auditorIn(world: World, process: SimulatedProcess): () => Promise<Answer> {
  const { append, auditor } = composeAnySizes(leasePorts(world, process));
  return () =>
    world.history.record(process, { kind: "audit", region: process.region }, async () => {
      try {
        const { ledgers } = await auditor.pass();
        return { kind: "done", at: ledgers };
      } finally {
        await append.release();
      }
    });
}
