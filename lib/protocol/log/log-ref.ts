/** Which log an operation is about, one life of a name, and the item of that life. */
import { FencelineError } from "../errors.ts";
import { type LogItem, logKey } from "../items.ts";
import type { MetadataConsistency, MetadataStore } from "../ports.ts";
import { changeItem, readItem, type UpdatePorts } from "../update-item.ts";

/** What of a log never changes. */
export type LogRef = Pick<LogItem, "name" | "incarnation" | "config">;

/** There is no such log, or it is being deleted. */
export function logNotFound(log: Pick<LogItem, "name">): FencelineError {
  return new FencelineError("log_not_found", {
    message: `there is no log ${JSON.stringify(log.name)}; create it first`,
  });
}

/** The item of a log in any state; a log that is deleted keeps it. */
export function logItem(
  metadata: MetadataStore,
  log: LogItem["incarnation"],
  consistency?: MetadataConsistency,
): Promise<LogItem | undefined> {
  return readItem(metadata, logKey(log), "log", consistency);
}

/** Read consistently. Throws `log_not_found`. */
export async function activeLog(metadata: MetadataStore, log: LogRef): Promise<LogItem> {
  const item = await logItem(metadata, log.incarnation);
  if (item?.state !== "active") throw logNotFound(log);
  return item;
}

/**
 * Changes the log's item as `change` says, unless that says nothing: the item as it is then. A log that is
 * being deleted is not changed. Throws `log_not_found`, and what the ports throw.
 */
export async function changeLog(
  ports: UpdatePorts,
  log: LogRef,
  change: (item: LogItem) => LogItem | undefined,
): Promise<{ readonly item: LogItem; readonly wrote: boolean }> {
  const { stored, wrote } = await changeItem(ports, logKey(log.incarnation), "log", (now) =>
    now.state === "active" ? change(now) : undefined,
  );
  if (stored?.item.state !== "active") throw logNotFound(log);
  return { item: stored.item, wrote };
}
