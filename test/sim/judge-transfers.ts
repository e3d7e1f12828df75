/**
 * When nothing goes wrong any more, a log goes wherever an operator wants it, while every region appends to it,
 * and the auditors bring it home to the region that it prefers.
 */
import { type BookieId, ledgerId, logName, type Region } from "../../lib/protocol/ids.ts";
import { logKey, segmentsPartition } from "../../lib/protocol/items.ts";
import { auditLimits } from "../../lib/protocol/log/upkeep/audit-limits.ts";
import { regionAware } from "../../lib/protocol/placement/region-aware.ts";
import { setRegionState } from "../../lib/protocol/placement/registry.ts";
import { pause } from "../../lib/protocol/waiting.ts";
import { appendThrough } from "./actors/log-caller-actor.ts";
import { preferThrough, transferThrough } from "./actors/log-mover-actor.ts";
import type { Answer } from "./history.ts";
import type { Judge } from "./judge.ts";
import { auditAll } from "./judge-audits.ts";
import { acceptThroughFunction } from "./judge-functions.ts";
import { isOver, type Stand, standOf } from "./lives.ts";
import type { SimulatedProcess } from "./simulated-process.ts";
import type { World } from "./world.ts";

const PATIENCE_MS = 25_000;

export async function judgeTransfers(judge: Judge): Promise<void> {
  const { world } = judge;
  if (!world.plan.actors.some(({ kind }) => kind === "log-mover")) return;
  for (const name of world.table.itemsOf("log-name").map(({ item }) => item.name)) {
    const stand = standOf(world, name);
    if (stand === undefined || stand.isEnded) continue;
    for (const to of world.fleets.keys()) await moveUnderLoad(judge, name, stand, to);
    await comeHome(judge, name, stand);
    await leaveDrained(judge, name, stand);
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
  // An operator who rested for long may say otherwise meanwhile.
  const preferred = () => {
    const item = world.table.get(logKey(stand.log))?.item;
    return item?.kind === "log" ? item.preferredRegion : undefined;
  };
  const audits = auditAll(world);
  await judge.demand(
    `log ${name} comes home to ${home}`,
    () => ({ kind: "audit", region: home }),
    async () => {
      await audits();
      return ownedNow(world, stand);
    },
    (answer) => (answer.kind === "owned" && answer.owner === preferred()) || isOver(world, name, stand),
    process,
  );
}

/** An owner that is draining hands the log over as it is appended to, where the others can do without it. */
async function leaveDrained(judge: Judge, name: string, stand: Stand): Promise<void> {
  const { world, ports } = judge;
  const { owner } = ownedNow(world, stand);
  if (owner === undefined || !canDoWithout(world, owner)) return;
  const process = world.startProcess(`judge-mover-${owner}`, owner);
  const appended = { kind: "append", log: name, contents: [], match: undefined } as const;
  await setRegionState(ports, owner, "draining");
  await judge.demand(
    `log ${name} leaves ${owner}, which is draining`,
    () => ({ ...appended, contents: [world.newContent()] }),
    async (asked) => {
      const contents = "contents" in asked ? asked.contents : [];
      const call = { log: logName(name), contents, match: undefined, size: 4, timeoutMs: PATIENCE_MS };
      return await appendThrough(world, process, owner, call);
    },
    () => isOver(world, name, stand) || ownedNow(world, stand).owner !== owner,
    process,
  );
  await setRegionState(ports, owner, "accepting");
}

function ownedNow({ table }: World, { log }: Stand): Extract<Answer, { kind: "owned" }> {
  const [last] = table.query({ partition: segmentsPartition(log), order: "descending", limit: 1 });
  const { ownerRegion: owner, number: epoch } = last?.item.kind === "segment" ? last.item : {};
  return { kind: "owned", owner, epoch };
}

/** Whether ledgers can be made of what the other regions have. */
function canDoWithout({ plan, bookies }: World, drained: Region): boolean {
  const { replication, placement, regions } = plan.world;
  const candidates = [...bookies.values()].map(({ address }) => address);
  const left = candidates.filter(({ place }) => place.region !== drained);
  if (regions.length <= replication.minRegions || left.length < replication.ensembleSize) return false;
  if (placement === "anywhere") return true;
  const request = { ledgerId: ledgerId(0), replication, candidates: left, excluded: new Set<BookieId>() };
  return left.every(
    ({ place }) => regionAware.chooseEnsemble({ ...request, home: place.region }).kind === "ensemble",
  );
}
