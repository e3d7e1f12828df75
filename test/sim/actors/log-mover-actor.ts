/**
 * An operator who has a log moved from region to region, asking any region for it, or says where it should be
 * and leaves the rest to the auditors.
 */
import { type LogName, logName, type Region, region } from "../../../lib/protocol/ids.ts";
import { withTimeout } from "../../../lib/protocol/waiting.ts";
import { callFunctions, type NetworkCall } from "../function-calls.ts";
import type { Answer } from "../history.ts";
import type { LogMoverPlan } from "../plan.ts";
import type { SimulatedProcess } from "../simulated-process.ts";
import type { World } from "../world.ts";
import type { Actor } from "./actor.ts";

/** Longer than a transfer may take. */
const PATIENCE_MS = 25_000;

export async function moveLog(actor: Actor<LogMoverPlan>): Promise<void> {
  const { world, process, random, plan } = actor;
  const log = logName(plan.log);
  const somewhere = () => region(random.pick(world.plan.world.regions));
  while (actor.takesOne()) {
    await actor.rest();
    const [asked, to] = [somewhere(), somewhere()];
    const kind = random.chance(plan.prefers) ? "prefer" : "transfer";
    const through = kind === "prefer" ? preferThrough : transferThrough;
    await world.history.record(process, { kind, log, to }, () => through(world, process, asked, log, to));
  }
}

/** Through the function of the region that is asked. */
export async function transferThrough(
  world: World,
  process: SimulatedProcess,
  asked: Region,
  log: LogName,
  to: Region,
): Promise<Answer> {
  return await call(world, process, asked, async (appends) => {
    const { owner, epoch } = await appends.transferOwner(log, to);
    return { kind: "owned", owner, epoch };
  });
}

export async function preferThrough(
  world: World,
  process: SimulatedProcess,
  asked: Region,
  log: LogName,
  to: Region,
): Promise<Answer> {
  return await call(world, process, asked, async (appends) => {
    await appends.preferRegion(log, to);
    return { kind: "done", at: 0 };
  });
}

function call(
  world: World,
  process: SimulatedProcess,
  asked: Region,
  act: NetworkCall<Answer>["act"],
): Promise<Answer> {
  return withTimeout(process.clock, PATIENCE_MS, "the append function", () =>
    callFunctions(world, process, asked, {
      isRepeatable: true,
      about: { kind: "transfer", isForwarded: false },
      act,
    }),
  );
}
