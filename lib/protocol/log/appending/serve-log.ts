/**
 * A resident: serves one log's inbox without a caller of its own (rules 37 and 38), for as long as there is
 * something to serve.
 */
import { Age } from "../../deadline.ts";
import { FencelineError } from "../../errors.ts";
import { pause } from "../../waiting.ts";
import { inboxLimits } from "../inbox-limits.ts";
import type { LogPorts } from "../log-ports.ts";
import type { LogWriter } from "./log-writer.ts";

export type ServiceEnd =
  /** Nothing was posted for `idleMs`. */
  | "idle"
  /** Its life is over. */
  | "over"
  /** Another process serves the log, or this one cannot write it. */
  | "elsewhere";

/** Takes the lease and serves until one of the ends comes; resolves when the lease is released. */
export async function serveLog(
  { clock }: Pick<LogPorts, "clock">,
  writer: LogWriter,
  { lifeMs, idleMs }: { readonly lifeMs: number; readonly idleMs: number },
): Promise<ServiceEnd> {
  const life = new Age(clock);
  let busy = new Age(clock);
  let end: ServiceEnd | undefined;
  writer.inbox.serve();
  while (end === undefined) {
    const taken = await take(writer);
    if (taken > 0) busy = new Age(clock);
    const isIdle = busy.isOlder(inboxLimits.idleQueryAfterMs);
    if (taken === 0) await pause(clock, isIdle ? inboxLimits.idleQueryPauseMs : inboxLimits.queryPauseMs);
    if (!writer.inbox.isWanted) end = "elsewhere";
    else if (life.isOlder(lifeMs)) end = "over";
    else if (busy.isOlder(idleMs)) end = "idle";
  }
  writer.inbox.giveUp();
  await writer.release();
  return end;
}

/** The store's silence is no end: the next query may get through. */
async function take(writer: LogWriter): Promise<number> {
  try {
    return (await writer.inbox.take()) ?? 0;
  } catch (error) {
    if (error instanceof FencelineError) return 0;
    throw error;
  }
}
