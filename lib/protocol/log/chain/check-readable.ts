/**
 * The log item, read consistently: is the log still there, and the position not trimmed away (33d, 33f)?
 * Asked before anything is said of a position whose segment cannot be found or read.
 */
import { FencelineError } from "../../errors.ts";
import type { SeqNum } from "../../ids.ts";
import { logKey } from "../../items.ts";
import type { MetadataStore } from "../../ports.ts";
import { type LogIdentity, logNotFound } from "../log-identity.ts";

/** Throws `log_not_found` or `position_trimmed`. */
export async function checkReadable(
  metadata: MetadataStore,
  log: LogIdentity,
  position: SeqNum,
): Promise<void> {
  const item = (await metadata.get(logKey(log.log), "consistent"))?.item;
  if (item?.kind !== "log" || item.state !== "active") throw logNotFound(log);
  if (item.trimPoint <= position) return;
  throw new FencelineError("position_trimmed", {
    message:
      `log ${log.name}: ${position} was trimmed away; the first record that is left is ` +
      `${item.trimPoint}; read from there`,
    details: { first_available: item.trimPoint },
  });
}
