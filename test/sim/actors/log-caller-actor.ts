/**
 * A client that appends through the `append` functions of regions, mostly its own, and gives up on an answer
 * after a while: it then does not know whether its records are in the log, and sends others.
 */
import { hasCode } from "../../../lib/protocol/errors.ts";
import { type LogName, logName, type Region, region, seqNum } from "../../../lib/protocol/ids.ts";
import type { AppendAck } from "../../../lib/protocol/log/operations.ts";
import type { Sender } from "../../../lib/protocol/log/records/record.ts";
import { pause, withTimeout } from "../../../lib/protocol/waiting.ts";
import { payloadOf } from "../content.ts";
import { callFunctions } from "../function-calls.ts";
import type { Answer, Content } from "../history.ts";
import { IdempotentSender } from "../idempotent-sender.ts";
import type { LogCallerPlan } from "../plan.ts";
import type { SimulatedProcess } from "../simulated-process.ts";
import type { World } from "../world.ts";
import type { Actor } from "./actor.ts";

const RETRY_MS = 200;

export async function callAppends(actor: Actor<LogCallerPlan>): Promise<void> {
  const { plan, random } = actor;
  const log = logName(plan.log);
  // A plan that was reduced may have left it with nobody to call.
  if (!actor.world.fleets.has(actor.process.region)) return;
  await createThroughFunction(actor, log);
  const expected = { tail: 0 };
  const sender = new IdempotentSender(actor.process, plan.name);
  const window = plan.idempotent === "producer" ? 1 : plan.window;
  const underWay = new Set<Promise<void>>();
  while (actor.takesOne()) {
    const appended = append(actor, log, expected, sender).finally(() => underWay.delete(appended));
    underWay.add(appended);
    while (underWay.size >= window) await Promise.race(underWay);
    if (random.chance(0.7)) await actor.rest();
  }
}

async function append(
  actor: Actor<LogCallerPlan>,
  log: LogName,
  expected: { tail: number },
  sender: IdempotentSender,
): Promise<void> {
  const { world, random, plan, process } = actor;
  const contents = Array.from({ length: random.integer(1, 4) }, () => world.newContent());
  const { idempotent } = plan;
  const match = random.chance(plan.matches) ? expected.tail : undefined;
  const somewhere = () => region(random.pick(world.plan.world.regions));
  const there = random.chance(plan.roams) ? somewhere() : process.region;
  const kind = idempotent === undefined ? {} : { idempotent };
  const request = { kind: "append", log, contents, match, ...kind } as const;
  const call: AppendCall = { log, contents, match, size: random.integer(0, 16), timeoutMs: plan.patienceMs };
  const answer = await world.history.record(process, request, () =>
    idempotent === undefined
      ? appendThrough(world, process, there, call)
      : sender.send(idempotent, contents, match, async (attempt, who) =>
          appendThrough(world, process, attempt === 1 ? there : somewhere(), { ...call, sender: who }),
        ),
  );
  if (answer.kind === "stored") expected.tail = Math.max(expected.tail, answer.at + contents.length);
  if (answer.kind === "mismatch") expected.tail = answer.actual;
}

export interface AppendCall {
  readonly log: LogName;
  readonly contents: readonly Content[];
  readonly match: number | undefined;
  /** Bytes of each record beside its number. */
  readonly size: number;
  /** The caller's patience in ms. */
  readonly timeoutMs: number;
  readonly sender?: Sender;
}

export async function appendThrough(
  world: World,
  process: SimulatedProcess,
  there: Region,
  { log, contents, match, size, timeoutMs, sender }: AppendCall,
): Promise<Answer> {
  const records = contents.map((content) => ({ body: payloadOf(content, size), headers: [] }));
  const condition = match === undefined ? {} : { matchSeqNum: seqNum(match) };
  const request = { log, records, ...condition, ...(sender === undefined ? {} : { sender }) };
  try {
    const ack = await withTimeout(process.clock, timeoutMs, "the append function", () =>
      callFunctions<AppendAck>(world, process, there, {
        isRepeatable: false,
        about: { kind: "append", isForwarded: false, request },
        act: (appends, delivered = request) => appends.append(delivered),
      }),
    );
    world.observers.appended(log, contents, ack);
    return { kind: "stored", at: ack.start.seqNum };
  } catch (error) {
    if (!hasCode(error, "seq_num_mismatch")) throw error;
    return { kind: "mismatch", actual: Number(error.details.actual_seq_num) };
  }
}

async function createThroughFunction(actor: Actor<LogCallerPlan>, log: LogName): Promise<void> {
  const { world, plan, process } = actor;
  const { replication } = world.plan.world;
  const config = { replication, digest: "crc32", segmentBytesMax: plan.segmentBytes } as const;
  while (true) {
    try {
      await withTimeout(process.clock, plan.patienceMs, "the append function", () =>
        callFunctions(world, process, process.region, {
          isRepeatable: true,
          about: { kind: "create", isForwarded: false },
          act: (appends) => appends.createLog(log, config),
        }),
      );
      return;
    } catch (error) {
      world.expected(error);
      await pause(process.clock, RETRY_MS);
    }
  }
}
