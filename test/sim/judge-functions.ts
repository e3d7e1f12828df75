/**
 * Every region's `append` function accepts an append to a log, whichever region owns it, when nothing goes wrong any
 * more.
 */
import { logName } from "../../lib/protocol/ids.ts";
import { type AppendCall, appendThrough } from "./actors/log-caller-actor.ts";
import type { Judge } from "./judge.ts";
import { isOver, type Stand } from "./lives.ts";
import type { SimulatedProcess } from "./simulated-process.ts";

const PATIENCE_MS = 25_000;

export async function acceptThroughFunction(
  judge: Judge,
  process: SimulatedProcess,
  log: string,
  stand: Stand,
): Promise<void> {
  const { world } = judge;
  // A record of its own for each attempt: one without an answer may be in the log.
  const request = () => ({ kind: "append", log, contents: [world.newContent()], match: undefined }) as const;
  await judge.demand(
    `log ${log} accepts an append through the function of ${process.region}`,
    request,
    (asked) => {
      const contents = "contents" in asked ? asked.contents : [];
      const call: AppendCall = {
        log: logName(log),
        contents,
        match: undefined,
        size: 4,
        timeoutMs: PATIENCE_MS,
      };
      return appendThrough(world, process, process.region, call);
    },
    (answer) => answer.kind === "stored" || isOver(world, log, stand),
    process,
  );
}
