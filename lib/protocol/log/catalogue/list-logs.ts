/** Lists logs by name: the directory's shards, each in order, merged into one page. */
import { FencelineError, unavailable } from "../../errors.ts";
import type { LogName } from "../../ids.ts";
import { DIRECTORY_SHARDS, directoryPartition } from "../../items.ts";
import { limits } from "../../limits.ts";
import type { MetadataStore } from "../../ports.ts";
import type { LogPage } from "../operations.ts";

export interface ListLogsRequest {
  /** Only names that begin with this. */
  readonly prefix: string;
  /** Only names behind this one, in the order of code units. */
  readonly startAfter?: LogName;
  readonly limit: number;
}

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
