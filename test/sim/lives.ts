/** How a log stands in the metadata, whatever anybody says of it: for the judge. */
import { type LogIncarnation, logName } from "../../lib/protocol/ids.ts";
import { logKey, logNameKey, segmentsPartition } from "../../lib/protocol/items.ts";
import type { World } from "./world.ts";

export interface Stand {
  readonly log: LogIncarnation;
  readonly trimPoint: number;
  /** Its last item is an END: nothing can be appended. */
  readonly isEnded: boolean;
}

/** Undefined: the name names no log, or one that is being deleted. */
export function standOf(world: World, name: string): Stand | undefined {
  const named = world.table.get(logNameKey(logName(name)))?.item;
  if (named?.kind !== "log-name") return undefined;
  const { incarnation: log } = named;
  const item = world.table.get(logKey(log))?.item;
  if (item?.kind !== "log" || item.state !== "active") return undefined;
  const query = { partition: segmentsPartition(log), order: "descending", limit: 1 } as const;
  const [last] = world.table.query(query);
  return { log, trimPoint: item.trimPoint, isEnded: last?.item.kind === "end" };
}

/** Whether an append to the log need not be accepted any more. */
export function isOver(world: World, name: string, { log }: Stand): boolean {
  const now = standOf(world, name);
  return now === undefined || now.log !== log || now.isEnded;
}

/** Whether this life is deleted, or about to be. */
export const isGone = (world: World, name: string, { log }: Stand): boolean =>
  standOf(world, name)?.log !== log;
