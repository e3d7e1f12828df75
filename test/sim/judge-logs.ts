/**
 * Every log: each region's reader reaches its tail, each region's function accepts an append, and it can be read
 * whole.
 */
import { logName } from "../../lib/protocol/ids.ts";
import { appendContents } from "./actors/log-appender-actor.ts";
import { askTail, readRecords } from "./actors/log-reader-actor.ts";
import type { Answer, Content } from "./history.ts";
import type { Judge } from "./judge.ts";
import { acceptThroughFunction } from "./judge-functions.ts";
import { isGone, isOver, type Stand, standOf } from "./lives.ts";
import { type LogFunctions, startLogFunctions } from "./log-functions.ts";

const PAGE_RECORDS = 200;

export async function judgeLogs(judge: Judge): Promise<void> {
  const { world } = judge;
  const names = world.table.itemsOf("log-name").map(({ item }) => item.name);
  for (const name of names) {
    const stand = standOf(world, name);
    if (stand === undefined) continue;
    let last: LogFunctions | undefined;
    for (const region of world.plan.world.regions) {
      last = startLogFunctions(world, world.startProcess(`judge-${region}`, region));
      // First of all: the tail of an idle log can be read before anybody writes again.
      await reachTail(judge, last, name, stand);
      if (world.fleets.has(last.process.region)) {
        await acceptThroughFunction(judge, last.process, name, stand);
      } else await acceptAppend(judge, last, name, stand);
    }
    const whole = last === undefined ? undefined : await readWhole(judge, last, name, stand);
    if (whole !== undefined && !hasSeveralLives(judge)) world.logs.set(name, whole);
  }
}

/** Operations on a name that is created again are not all about one log. */
const hasSeveralLives = ({ world }: Judge): boolean =>
  world.plan.actors.some((actor) => actor.kind === "log-ender" && actor.deletes);

const isUpToDate = (answer: Answer): boolean => answer.kind === "records" && answer.upToDate;

async function reachTail(judge: Judge, functions: LogFunctions, name: string, stand: Stand): Promise<void> {
  await judge.demand(
    `the tail of log ${name} is told in ${functions.process.region}`,
    () => ({ kind: "tail", log: name, strong: true }),
    () => askTail(functions, logName(name), true),
    (answer) => isUpToDate(answer) || isGone(judge.world, name, stand),
    functions.process,
  );
}

async function acceptAppend(
  judge: Judge,
  functions: LogFunctions,
  name: string,
  stand: Stand,
): Promise<void> {
  // A record of its own for each attempt: one without an answer may be in the log.
  const request = () => ({
    kind: "append" as const,
    log: name,
    contents: [judge.world.newContent()],
    match: undefined,
  });
  await judge.demand(
    `log ${name} accepts an append in ${functions.process.region}`,
    request,
    (asked) =>
      appendContents(functions, logName(name), "contents" in asked ? asked.contents : [], undefined, 4),
    (answer) => answer.kind === "stored" || isOver(judge.world, name, stand),
    functions.process,
  );
}

/** What was trimmed is taken from what its ledgers held. Undefined: the log was deleted meanwhile. */
async function readWhole(
  judge: Judge,
  functions: LogFunctions,
  name: string,
  stand: Stand,
): Promise<readonly Content[] | undefined> {
  const { world } = judge;
  let contents: Content[] = [];
  while (true) {
    const trimPoint = standOf(world, name)?.trimPoint ?? 0;
    if (trimPoint > contents.length) contents = world.shadow.first(stand.log, trimPoint);
    const from = contents.length;
    const answer = await judge.demand(
      `record ${from} of log ${name}, or its tail, is read in ${functions.process.region}`,
      () => ({ kind: "read-log", log: name, from, strong: true }),
      () => readRecords(functions, logName(name), from, PAGE_RECORDS, true),
      (one) =>
        isUpToDate(one) ||
        (one.kind === "records" && one.contents.length > 0) ||
        isGone(world, name, stand) ||
        (standOf(world, name)?.trimPoint ?? 0) > from,
      functions.process,
    );
    if (isGone(world, name, stand)) return undefined;
    if (answer.kind !== "records") continue;
    contents.push(...answer.contents);
    if (answer.upToDate) return contents;
  }
}
