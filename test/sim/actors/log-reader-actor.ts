/** Reads a log: on from where it stood, from anywhere, or only its tail. */
import { hasCode } from "../../../lib/protocol/errors.ts";
import { type LogName, logName, seqNum } from "../../../lib/protocol/ids.ts";
import { contentOf } from "../content.ts";
import type { Answer } from "../history.ts";
import { type LogFunctions, startLogFunctions } from "../log-functions.ts";
import type { LogReaderPlan } from "../plan.ts";
import type { Actor } from "./actor.ts";

export async function readLog(actor: Actor<LogReaderPlan>): Promise<void> {
  const { world, plan, random } = actor;
  let functions = startLogFunctions(world, actor.process);
  const log = logName(plan.log);
  let position = 0;
  while (actor.takesOne()) {
    await actor.rest();
    // What a process has learnt of ledgers is kept or forgotten; both must read the same.
    if (random.chance(0.1)) functions = startLogFunctions(world, actor.process);
    const strong = random.chance(plan.strong);
    if (random.chance(0.3)) {
      const request = { kind: "tail", log, strong } as const;
      await world.history.record(actor.process, request, () => askTail(functions, log, strong));
      continue;
    }
    if (random.chance(0.2)) position = random.integer(0, position);
    const from = position;
    const request = { kind: "read-log", log, from, strong } as const;
    const answer = await world.history.record(actor.process, request, () =>
      readRecords(functions, log, from, random.integer(1, 12), strong),
    );
    if (answer.kind === "records") position += answer.contents.length;
  }
}

export async function askTail({ reads }: LogFunctions, log: LogName, strong: boolean): Promise<Answer> {
  const { tail, upToDate, sealed } = await reads.tail(log, strong ? "strong" : "local");
  return { kind: "records", contents: [], tail, upToDate, ...(sealed ? { sealed } : {}) };
}

export async function readRecords(
  { reads }: LogFunctions,
  log: LogName,
  from: number,
  limit: number,
  strong: boolean,
): Promise<Answer> {
  const consistency = strong ? "strong" : "local";
  try {
    const { records, tail, upToDate, sealed } = await reads.read({
      log,
      from: seqNum(from),
      limit,
      consistency,
    });
    const dense = records.every((record, index) => record.seqNum === from + index);
    // A record out of its place is no record that anyone appended.
    const contents = records.map(({ body }) => (dense ? contentOf(body) : -1));
    return { kind: "records", contents, tail, upToDate, ...(sealed ? { sealed } : {}) };
  } catch (error) {
    if (!hasCode(error, "position_unwritten")) throw error;
    return { kind: "records", contents: [], tail: Number(error.details.tail), upToDate: true };
  }
}
