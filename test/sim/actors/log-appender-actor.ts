/**
 * Appends batches to a log, several at a time, some of them on the condition that the tail is as expected.
 */

import { keySender } from "../../../lib/api/append-sender.ts";
import { hasCode } from "../../../lib/protocol/errors.ts";
import { type LogName, logName, seqNum } from "../../../lib/protocol/ids.ts";
import type { Sender } from "../../../lib/protocol/log/records/record.ts";
import { pause } from "../../../lib/protocol/waiting.ts";
import { payloadOf } from "../content.ts";
import type { Answer, Content } from "../history.ts";
import { type LogFunctions, startLogFunctions } from "../log-functions.ts";
import type { LogAppenderPlan } from "../plan.ts";
import type { Actor } from "./actor.ts";

const RETRY_MS = 200;

export async function appendToLog(actor: Actor<LogAppenderPlan>): Promise<void> {
  const functions = startLogFunctions(actor.world, actor.process);
  const log = logName(actor.plan.log);
  await createLog(actor, functions, log);
  const expected = { tail: 0 };
  const underWay = new Set<Promise<void>>();
  while (actor.takesOne()) {
    const appended = append(actor, functions, log, expected).finally(() => underWay.delete(appended));
    underWay.add(appended);
    while (underWay.size >= actor.plan.window) await Promise.race(underWay);
    if (actor.random.chance(0.6)) await actor.rest();
  }
}

async function createLog(
  actor: Actor<LogAppenderPlan>,
  functions: LogFunctions,
  log: LogName,
): Promise<void> {
  const { world, plan } = actor;
  const { replication } = world.plan.world;
  const config = { replication, digest: "crc32", segmentBytesMax: plan.segmentBytes } as const;
  while (true) {
    try {
      await functions.appends.createLog(log, config);
      return;
    } catch (error) {
      world.expected(error);
      await pause(actor.ports.clock, RETRY_MS);
    }
  }
}

async function append(
  actor: Actor<LogAppenderPlan>,
  functions: LogFunctions,
  log: LogName,
  expected: { tail: number },
): Promise<void> {
  const { world, random, plan } = actor;
  const contents = Array.from({ length: random.integer(1, 4) }, () => world.newContent());
  const match = random.chance(plan.matches) ? expected.tail : undefined;
  const request = { kind: "append", log, contents, match } as const;
  // Contents are never used twice, so the first one names the append.
  const [first = 0] = contents;
  const sender = match === undefined || first % 2 === 0 ? undefined : keySender(`${plan.name}-${first}`);
  const answer = await world.history.record(actor.process, request, () =>
    appendContents(functions, log, contents, match, random.integer(0, 16), sender),
  );
  if (answer.kind === "stored") expected.tail = Math.max(expected.tail, answer.at + contents.length);
  if (answer.kind === "mismatch") expected.tail = answer.actual;
}

export async function appendContents(
  { appends }: LogFunctions,
  log: LogName,
  contents: readonly Content[],
  match: number | undefined,
  size: number,
  sender?: Sender,
): Promise<Answer> {
  const records = contents.map((content) => ({ body: payloadOf(content, size), headers: [] }));
  try {
    const condition = match === undefined ? {} : { matchSeqNum: seqNum(match) };
    const stamp = sender === undefined ? {} : { sender };
    const ack = await appends.append({ log, records, ...condition, ...stamp });
    return { kind: "stored", at: ack.start.seqNum };
  } catch (error) {
    if (!hasCode(error, "seq_num_mismatch")) throw error;
    return { kind: "mismatch", actual: Number(error.details.actual_seq_num) };
  }
}
