/**
 * Finds logs by name and remembers them, and lists them by the directory. A log's identity and configuration
 * never change in one life of its name. When names can be released (rule 29), an operation on a remembered
 * life ends in `log_not_found`, at the check of rule 25 or in 33f; the name is looked up again then.
 */
import { BoundedMap } from "../../bounded-map.ts";
import { Age, type Clock } from "../../deadline.ts";
import { FencelineError, hasCode, unavailable } from "../../errors.ts";
import type { LogName } from "../../ids.ts";
import { DIRECTORY_SHARDS, directoryPartition, type LogItem, logNameKey } from "../../items.ts";
import { limits } from "../../limits.ts";
import type { MetadataConsistency, MetadataStore } from "../../ports.ts";
import { readItem } from "../../update-item.ts";
import { type LogRef, logItem, logNotFound } from "../log-ref.ts";
import type { ListLogsRequest, LogPage } from "../operations.ts";

/** Bounds the look-ups of one operation. */
export type Ask = <A>(lookUp: () => Promise<A>) => Promise<A>;

/**
 * For an operation whose caller waits for so long from now on. What is found later is not used: the name may
 * be another log's by then, and nobody asked for that to be trimmed, sealed or deleted.
 */
export function askInTime(clock: Clock, what: string, timeoutMs: number): Ask {
  const begun = new Age(clock);
  return async (lookUp) => {
    const found = await lookUp();
    if (begun.isWithin(timeoutMs)) return found;
    const message = `${what}: its log was found too late, when nobody waited any more; ask again`;
    throw new FencelineError("not_ready", { message, sideEffects: "none", details: { phase: "asking" } });
  };
}

export class LogNames {
  /** Look-ups, also those on the way: operations that wait for one begin in the order of their arrival. */
  readonly #known = new BoundedMap<LogName, Promise<LogRef>>(limits.knownLogsMax);

  constructor(private readonly metadata: MetadataStore) {}

  /** Runs `operation` on the name's present life; `ask` bounds the look-ups. Throws `log_not_found`. */
  async with<T>(
    name: LogName,
    operation: (log: LogRef) => Promise<T>,
    ask: Ask = (lookUp) => lookUp(),
  ): Promise<T> {
    const { lookUp, log } = await ask(() => this.#find(name));
    try {
      return await operation(log);
    } catch (error) {
      if (!hasCode(error, "log_not_found")) throw error;
      const known = this.#known.get(name);
      const isOld = known === lookUp || known === undefined;
      const now = await ask(() => (isOld ? this.#lookUp(name, "consistent") : known));
      if (now.incarnation === log.incarnation) throw error;
      return await operation(now);
    }
  }

  /** A look-up that another began earlier does not show that there is no such log: there may be by now. */
  async #find(name: LogName): Promise<{ lookUp: Promise<LogRef>; log: LogRef }> {
    const joined = this.#known.get(name);
    const lookUp = joined ?? this.#lookUp(name, "stale");
    try {
      return { lookUp, log: await lookUp };
    } catch (error) {
      if (joined === undefined || !hasCode(error, "log_not_found")) throw error;
    }
    const again = this.#known.get(name) ?? this.#lookUp(name, "consistent");
    return { lookUp: again, log: await again };
  }

  #lookUp(name: LogName, consistency: MetadataConsistency): Promise<LogRef> {
    const found = findLog(this.metadata, name, consistency);
    const lookUp = found.then(({ incarnation, config }) => ({ name, incarnation, config }));
    this.#known.set(name, lookUp);
    lookUp.catch(() => {
      if (this.#known.get(name) === lookUp) this.#known.delete(name);
    });
    return lookUp;
  }
}

/**
 * The log item that the name names now. Throws `log_not_found`, on consistent reads only: the log may just
 * have been created, or created again, elsewhere.
 */
export async function findLog(
  metadata: MetadataStore,
  name: LogName,
  consistency: MetadataConsistency = "stale",
): Promise<LogItem> {
  const log = await namedLog(metadata, name, consistency);
  if (log?.state === "active") return log;
  if (consistency === "stale") return await findLog(metadata, name, "consistent");
  throw logNotFound({ name });
}

/** The same in any state: a log that is being deleted keeps its name until the end. */
export async function namedLog(
  metadata: MetadataStore,
  name: LogName,
  consistency: MetadataConsistency = "consistent",
): Promise<LogItem | undefined> {
  try {
    const named = await readItem(metadata, logNameKey(name), "log-name", consistency);
    return named === undefined ? undefined : await logItem(metadata, named.incarnation, consistency);
  } catch (error) {
    throw unavailable(`metadata ${logNameKey(name).partition} could not be read`, "none", error);
  }
}

/** One page, merged of the directory's shards, each of them in order. */
export async function listLogs(metadata: MetadataStore, request: ListLogsRequest): Promise<LogPage> {
  const { limit } = request;
  if (!Number.isSafeInteger(limit) || limit < 1 || limit > limits.listLogsMax) {
    throw new FencelineError("invalid_request", {
      message: `limit is an integer from 1 to ${limits.listLogsMax}, got ${limit}`,
    });
  }
  const shards = Array.from({ length: DIRECTORY_SHARDS }, (_, shard) => shard);
  // Any shard may hold the whole page, and one name more says that there is another.
  const names = await Promise.all(shards.map((shard) => namesOfShard(metadata, shard, request, limit + 1)));
  const merged = names.flat().sort(byCodeUnit);
  return { logs: merged.slice(0, limit), hasMore: merged.length > limit };
}

async function namesOfShard(
  metadata: MetadataStore,
  shard: number,
  { prefix, startAfter }: ListLogsRequest,
  limit: number,
): Promise<LogName[]> {
  const behind = startAfter === undefined ? "" : `${startAfter}\u0000`;
  const from = prefix > behind ? prefix : behind;
  const query = { partition: directoryPartition(shard), from, order: "ascending", limit } as const;
  try {
    const page = await metadata.query(query, "consistent");
    const names = page.map(({ item, key }) => (item.kind === "directory" ? item.name : key.sort) as LogName);
    return names.filter((name) => name.startsWith(prefix));
  } catch (error) {
    throw unavailable("the directory of logs could not be read", "none", error);
  }
}

/** The order of the store: by code unit, in every locale. */
function byCodeUnit(one: string, other: string): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}
