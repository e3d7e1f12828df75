/**
 * When nothing goes wrong any more, a log goes wherever an operator wants it, while every region appends to it,
 * and the auditors bring it home to the region that it prefers.
 */
import { logName, type Region } from "../../lib/protocol/ids.ts";
import { segmentsPartition } from "../../lib/protocol/items.ts";
import { auditLimits } from "../../lib/protocol/log/audit-limits.ts";
import { pause } from "../../lib/protocol/waiting.ts";
import { preferThrough, transferThrough } from "./actors/log-mover-actor.ts";
import type { Judge } from "./judge.ts";
import { auditAll } from "./judge-audits.ts";
import { acceptThroughFunction } from "./judge-functions.ts";
import { isOver, type Stand, standOf } from "./lives.ts";
import type { SimulatedProcess } from "./simulated-process.ts";

export async function judgeTransfers(judge: Judge): Promise<void> {
  const { world } = judge;
  if (!world.plan.actors.some(({ kind }) => kind === "log-mover")) return;
  for (const name of world.table.itemsOf("log-name").map(({ item }) => item.name)) {
    const stand = standOf(world, name);
    if (stand === undefined || stand.isEnded) continue;
    for (const to of world.fleets.keys()) await moveUnderLoad(judge, name, stand, to);
    await comeHome(judge, name, stand);
  }
}

async function moveUnderLoad(judge: Judge, name: string, stand: Stand, to: Region): Promise<void> {
  const { world } = judge;
  const client = (inRegion: Region) => world.startProcess(`judge-mover-${inRegion}`, inRegion);
  let moved = false;
  const load = [...world.fleets.keys()].map(async (from) => {
    const process = client(from);
    while (!moved) await acceptThroughFunction(judge, process, name, stand);
  });
  const operator = client(to);
  const asked = world.random(`judge ${name} ${to}`);
  const move = () =>
    transferThrough(world, operator, asked.pick([...world.fleets.keys()]), logName(name), to);
  const moving = judge.demand(
    `log ${name} goes to ${to}`,
    () => ({ kind: "transfer", log: name, to }),
    move,
    (answer) => answer.kind === "owned" || isOver(world, name, stand),
    operator,
  );
  await Promise.all([moving.finally(() => (moved = true)), ...load]);
}

async function comeHome(judge: Judge, name: string, stand: Stand): Promise<void> {
  const { world } = judge;
  const [home] = [...world.fleets.keys()];
  if (home === undefined) return;
  const process: SimulatedProcess = world.startProcess("judge-mover", home);
  await judge.demand(
    `log ${name} prefers ${home}`,
    () => ({ kind: "prefer", log: name, to: home }),
    () => preferThrough(world, process, home, logName(name), home),
    (answer) => answer.kind === "done" || isOver(world, name, stand),
    process,
  );
  await pause(judge.ports.clock, auditLimits.preferReturnMs);
  const audits = auditAll(world);
  await judge.demand(
    `log ${name} comes home to ${home}`,
    () => ({ kind: "audit", region: home }),
    async () => {
      await audits();
      const query = { partition: segmentsPartition(stand.log), order: "descending", limit: 1 } as const;
      const last = world.table.query(query)[0]?.item;
      if (last?.kind !== "segment") return { kind: "none", reason: "nobody owns it" };
      return { kind: "owned", owner: last.ownerRegion, epoch: last.number };
    },
    (answer) => (answer.kind === "owned" && answer.owner === home) || isOver(world, name, stand),
    process,
  );
}
