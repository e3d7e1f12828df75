/**
 * Keeps a log: trims it, takes away what was trimmed, and collects ledgers that no item names, also such as are
 * just being opened. Trims go through a region's function; the rest is the auditor's own process.
 */
import { type LogName, logName, region, seqNum } from "../../../lib/protocol/ids.ts";
import { logNameKey, segmentsPartition, seqNumOfKey } from "../../../lib/protocol/items.ts";
import { collectUnnamed } from "../../../lib/protocol/log/upkeep/audit-ledger.ts";
import { auditSegments } from "../../../lib/protocol/log/upkeep/audit-segments.ts";
import { withTimeout } from "../../../lib/protocol/waiting.ts";
import { callFunctions, type NetworkCall } from "../function-calls.ts";
import type { Answer } from "../history.ts";
import type { LogKeeperPlan } from "../plan.ts";
import type { Actor } from "./actor.ts";

const PATIENCE_MS = 20_000;

export async function keepLog(actor: Actor<LogKeeperPlan>): Promise<void> {
  const log = logName(actor.plan.log);
  while (actor.takesOne()) {
    await actor.rest();
    if (actor.random.chance(0.7)) await trim(actor, log);
    if (actor.random.chance(0.8)) await audit(actor, log);
    if (actor.random.chance(0.4)) await collect(actor);
  }
}

/** To the end of what it can see of the chain, mostly, and past it now and then. */
async function trim(actor: Actor<LogKeeperPlan>, log: LogName): Promise<void> {
  const { world, process, random } = actor;
  const item = namedNow(actor, log);
  if (item === undefined) return;
  const [last] = world.table.query({ partition: segmentsPartition(item), order: "descending", limit: 1 });
  const end = last === undefined ? 0 : seqNumOfKey(last.key);
  const to = seqNum(random.chance(0.7) ? end + random.pick([0, 0, 1, 3]) : random.integer(0, end));
  await world.history.record(process, { kind: "keep-log", log, what: "trim" }, () =>
    call(actor, async (appends) => ({ kind: "done", at: await appends.trim(log, to) })),
  );
}

function call(actor: Actor<LogKeeperPlan>, act: NetworkCall<Answer>["act"]): Promise<Answer> {
  const { world, process, random } = actor;
  const there = region(random.pick(world.plan.world.regions));
  return withTimeout(process.clock, PATIENCE_MS, "the append function", () =>
    callFunctions(world, process, there, {
      isRepeatable: true,
      about: { kind: "keep", isForwarded: false },
      act,
    }),
  );
}

function namedNow({ world }: Actor<LogKeeperPlan>, log: LogName) {
  const named = world.table.get(logNameKey(log))?.item;
  return named?.kind === "log-name" ? named.incarnation : undefined;
}

async function audit(actor: Actor<LogKeeperPlan>, log: LogName): Promise<void> {
  const life = namedNow(actor, log);
  if (life === undefined) return;
  try {
    await auditSegments(actor.ports, life);
  } catch (error) {
    actor.world.expected(error);
  }
}

async function collect(actor: Actor<LogKeeperPlan>): Promise<void> {
  const ofLogs = actor.world.table.itemsOf("ledger").filter(({ item }) => item.origin !== undefined);
  const young = ofLogs.slice(actor.random.chance(0.7) ? -2 : 0);
  if (young.length === 0) return;
  const { ledgerId } = actor.random.pick(young).item;
  await actor.world.history.record(actor.process, { kind: "collect", ledgerId }, async () => ({
    kind: "none",
    reason: await collectUnnamed(actor.ports, ledgerId),
  }));
}
