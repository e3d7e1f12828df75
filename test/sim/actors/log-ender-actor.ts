/** Ends lives of a log and begins new ones: seals it or not, deletes it, and creates the name again. */
import { hasCode } from "../../../lib/protocol/errors.ts";
import { logName, region } from "../../../lib/protocol/ids.ts";
import { logNameKey } from "../../../lib/protocol/items.ts";
import { withTimeout } from "../../../lib/protocol/waiting.ts";
import { callFunctions, type NetworkCall } from "../function-calls.ts";
import type { Answer } from "../history.ts";
import type { LogEnderPlan } from "../plan.ts";
import type { Actor } from "./actor.ts";

const PATIENCE_MS = 20_000;

export async function endLogs(actor: Actor<LogEnderPlan>): Promise<void> {
  const { plan, random } = actor;
  while (actor.takesOne()) {
    await actor.rest();
    if (random.chance(plan.seals)) await seal(actor);
    if (!plan.deletes) continue;
    await actor.rest();
    if (await remove(actor)) await create(actor);
  }
}

async function seal(actor: Actor<LogEnderPlan>): Promise<void> {
  const log = logName(actor.plan.log);
  await actor.world.history.record(actor.process, { kind: "keep-log", log, what: "seal" }, () =>
    call(actor, async (appends) => ({ kind: "done", at: await appends.seal(log) })),
  );
}

/** Whether the name is free now. */
async function remove(actor: Actor<LogEnderPlan>): Promise<boolean> {
  const log = logName(actor.plan.log);
  const named = actor.world.table.get(logNameKey(log))?.item;
  if (named?.kind !== "log-name") return true;
  const life = named.incarnation;
  const answer = await actor.world.history.record(
    actor.process,
    { kind: "keep-log", log, what: "delete", life },
    () =>
      call(actor, async (appends) => {
        const said = await appends.deleteLog(log, life);
        return { kind: "done", at: said === "deleted" ? 1 : 0 };
      }),
  );
  return answer.kind === "done" && answer.at === 1;
}

async function create(actor: Actor<LogEnderPlan>): Promise<void> {
  const { world, plan, process } = actor;
  const log = logName(plan.log);
  const { replication } = world.plan.world;
  const config = { replication, digest: "crc32", segmentBytesMax: plan.segmentBytes } as const;
  await world.history.record(process, { kind: "keep-log", log, what: "create" }, () =>
    call(actor, async (appends) => {
      try {
        await appends.createLog(log, config);
        return { kind: "done", at: 0 };
      } catch (error) {
        if (hasCode(error, "log_exists")) return { kind: "done", at: 0 };
        throw error;
      }
    }),
  );
}

function call(actor: Actor<LogEnderPlan>, act: NetworkCall<Answer>["act"]): Promise<Answer> {
  const { world, process, random } = actor;
  const there = region(random.pick(world.plan.world.regions));
  return withTimeout(process.clock, PATIENCE_MS, "the append function", () =>
    callFunctions(world, process, there, {
      isRepeatable: false,
      about: { kind: "keep", isForwarded: false },
      act,
    }),
  );
}
