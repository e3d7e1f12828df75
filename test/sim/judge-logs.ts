/** Every log: each region's reader reaches its tail, each region's function accepts an append, and it can be read whole. */
import { logName } from "../../lib/protocol/ids.ts";
import { appendContents } from "./actors/log-appender-actor.ts";
import { askTail, readRecords } from "./actors/log-reader-actor.ts";
import type { Answer, Content } from "./history.ts";
import type { Judge } from "./judge.ts";
import { type LogFunctions, startLogFunctions } from "./log-functions.ts";

const PAGE_RECORDS = 200;

export async function judgeLogs(judge: Judge): Promise<void> {
  const { world } = judge;
  const names = world.table.itemsOf("log-name").map(({ item }) => item.name);
  for (const name of names) {
    let last: LogFunctions | undefined;
    for (const region of world.plan.world.regions) {
      last = startLogFunctions(world, world.startProcess(`judge-${region}`, region));
      // First of all: the tail of an idle log can be told before anybody writes again.
      await reachTail(judge, last, name);
      await acceptAppend(judge, last, name);
    }
    if (last !== undefined) world.logs.set(name, await readWhole(judge, last, name));
  }
}

const isUpToDate = (answer: Answer): boolean => answer.kind === "records" && answer.upToDate;

async function reachTail(judge: Judge, functions: LogFunctions, name: string): Promise<void> {
  await judge.demand(
    `the tail of log ${name} is told in ${functions.process.region}`,
    () => ({ kind: "tail", log: name, strong: true }),
    () => askTail(functions, logName(name), true),
    isUpToDate,
    functions.process,
  );
}

async function acceptAppend(judge: Judge, functions: LogFunctions, name: string): Promise<void> {
  // A record of its own for each attempt: one that was told nothing may be in the log.
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
    (answer) => answer.kind === "stored",
    functions.process,
  );
}

async function readWhole(judge: Judge, functions: LogFunctions, name: string): Promise<readonly Content[]> {
  const contents: Content[] = [];
  while (true) {
    const from = contents.length;
    const answer = await judge.demand(
      `record ${from} of log ${name}, or its tail, is read in ${functions.process.region}`,
      () => ({ kind: "read-log", log: name, from, strong: true }),
      () => readRecords(functions, logName(name), from, PAGE_RECORDS, true),
      (one) => isUpToDate(one) || (one.kind === "records" && one.contents.length > 0),
      functions.process,
    );
    if (answer.kind !== "records") return contents;
    contents.push(...answer.contents);
    if (answer.upToDate) return contents;
  }
}
