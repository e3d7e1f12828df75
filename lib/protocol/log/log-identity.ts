/** Which log an operation is about: one life of a name. */
import { FencelineError } from "../errors.ts";
import type { LogItem } from "../items.ts";

/** What of a log never changes. */
export type LogIdentity = Pick<LogItem, "name" | "log" | "config">;

/** There is no such log, or it is being deleted. */
export function logNotFound(log: Pick<LogItem, "name">): FencelineError {
  return new FencelineError("log_not_found", {
    message: `there is no log ${JSON.stringify(log.name)}; create it first`,
  });
}
