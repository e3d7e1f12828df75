/** Which log an operation is about, one life of a name, and the item of that life. */
import { FencelineError } from "../errors.ts";
import { type LogItem, logKey } from "../items.ts";
import type { Consistency, MetadataStore } from "../ports.ts";
import { changeItem, readItem, type UpdatePorts } from "../update-item.ts";

/** What of a log never changes. */
export type LogIdentity = Pick<LogItem, "name" | "log" | "config">;

/** There is no such log, or it is being deleted. */
export function logNotFound(log: Pick<LogItem, "name">): FencelineError {
  return new FencelineError("log_not_found", {
    message: `there is no log ${JSON.stringify(log.name)}; create it first`,
  });
}

/** The item of a log in any state; a log that is deleted keeps it. */
export function logItem(
  metadata: MetadataStore,
  log: LogItem["log"],
  consistency?: Consistency,
): Promise<LogItem | undefined> {
  return readItem(metadata, logKey(log), "log", consistency);
}

/** Read consistently. Throws `log_not_found`. */
export async function activeLog(metadata: MetadataStore, log: LogIdentity): Promise<LogItem> {
  const item = await logItem(metadata, log.log);
  if (item?.state !== "active") throw logNotFound(log);
  return item;
}

/**
 * Changes the log's item as `change` says, unless that says nothing: the item as it is then. A log that is
 * being deleted is not changed. Throws `log_not_found`, and what the ports throw.
 */
export async function changeLog(
  ports: UpdatePorts,
  log: LogIdentity,
  change: (item: LogItem) => LogItem | undefined,
): Promise<{ readonly item: LogItem; readonly wrote: boolean }> {
  const { item, wrote } = await changeItem(ports, logKey(log.log), "log", (now) =>
    now.state === "active" ? change(now) : undefined,
  );
  if (item?.state !== "active") throw logNotFound(log);
  return { item, wrote };
}
