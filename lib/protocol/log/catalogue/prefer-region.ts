/**
 * Says in which region a log should be owned. Nothing moves by it: the log is brought there by whoever looks
 * after logs, or transferred. A life of the log that is being deleted is not changed.
 */
import type { Region } from "../../ids.ts";
import { type LogItem, logKey } from "../../items.ts";
import { type UpdatePorts, updateItem } from "../../update-item.ts";
import { type LogIdentity, logNotFound } from "../log-identity.ts";

/** The log as it is then. Throws `log_not_found`, and what the ports throw. */
export async function preferRegion(
  ports: UpdatePorts,
  log: LogIdentity,
  preferred: Region | undefined,
): Promise<LogItem> {
  const { stored } = await updateItem(ports, logKey(log.log), (current) => {
    const item = current?.item;
    if (item?.kind !== "log" || item.state !== "active") return { kind: "keep" };
    if (item.preferredRegion === preferred) return { kind: "keep" };
    const { preferredRegion: _, ...rest } = item;
    return { kind: "write", item: preferred === undefined ? rest : { ...rest, preferredRegion: preferred } };
  });
  const item = stored?.item;
  if (item?.kind !== "log" || item.state !== "active") throw logNotFound(log);
  return item;
}
