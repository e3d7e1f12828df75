/** Starts what a plan's actors do, and their successors when their processes stop. */
import type { ActorPlan } from "../plan.ts";
import type { Succeed } from "../state-faults.ts";
import type { World } from "../world.ts";
import { Actor, type Work } from "./actor.ts";
import { collectLedgers } from "./ledger-collector-actor.ts";
import { readLedgers } from "./ledger-reader-actor.ts";
import { recoverLedgers } from "./ledger-recoverer-actor.ts";
import { writeLedgers } from "./ledger-writer-actor.ts";
import { appendToLog } from "./log-appender-actor.ts";
import { callAppends } from "./log-caller-actor.ts";
import { endLogs } from "./log-ender-actor.ts";
import { keepLog } from "./log-keeper-actor.ts";
import { moveLog } from "./log-mover-actor.ts";
import { readLog } from "./log-reader-actor.ts";
import { recoverLog } from "./log-recoverer-actor.ts";
import { auditRegion } from "./region-auditor-actor.ts";

/** Starts every actor at its time; the result starts a successor of the actor of that name. */
export function startActors(world: World): Succeed {
  const starts = new Map<string, () => void>();
  for (const plan of world.plan.actors) {
    const work: Work = { left: plan.operations };
    const random = world.random(`actor ${plan.name}`);
    const start = () => {
      const process = world.startProcess(plan.name, plan.region);
      act(new Actor(world, plan, process, random, work)).catch((error) => world.expected(error));
    };
    starts.set(plan.name, start);
    world.scheduler.at(plan.startMs, start);
  }
  return (name, atMs) => {
    const start = starts.get(name);
    if (start !== undefined) world.scheduler.at(atMs, start);
  };
}

function act(actor: Actor<ActorPlan>): Promise<void> {
  const { plan } = actor;
  switch (plan.kind) {
    case "ledger-writer":
      return writeLedgers(actor as Actor<typeof plan>);
    case "ledger-reader":
      return readLedgers(actor as Actor<typeof plan>);
    case "ledger-recoverer":
      return recoverLedgers(actor as Actor<typeof plan>);
    case "log-appender":
      return appendToLog(actor as Actor<typeof plan>);
    case "log-reader":
      return readLog(actor as Actor<typeof plan>);
    case "log-caller":
      return callAppends(actor as Actor<typeof plan>);
    case "log-keeper":
      return keepLog(actor as Actor<typeof plan>);
    case "log-mover":
      return moveLog(actor as Actor<typeof plan>);
    case "region-auditor":
      return auditRegion(actor as Actor<typeof plan>);
    case "log-ender":
      return endLogs(actor as Actor<typeof plan>);
    case "log-recoverer":
      return recoverLog(actor as Actor<typeof plan>);
    case "ledger-collector":
      return collectLedgers(actor as Actor<typeof plan>);
  }
}
