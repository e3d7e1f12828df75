/** Reads records from a seq_num on: for readers of the log. */
import { FencelineError } from "../../errors.ts";
import type { SeqNum } from "../../ids.ts";
import { limits } from "../../limits.ts";
import { ReadCounters } from "../../reads/read-counters.ts";
import type { LogIdentity } from "../log-identity.ts";
import type { ReadAnswer, ReadRequest } from "../operations.ts";
import { LogReader, type ReaderPorts } from "./log-reader.ts";
import { ReadCollector } from "./read-collector.ts";

/**
 * Throws what `LogReader` throws, and `position_unwritten` if the position is beyond a tail that is
 * certain.
 */
export async function readRecords(
  ports: ReaderPorts,
  log: LogIdentity,
  request: Omit<ReadRequest, "log" | "from"> & { readonly from: SeqNum },
  cost = new ReadCounters(),
): Promise<ReadAnswer> {
  const { from, limit, bytesMax = limits.readBytesMax, consistency } = request;
  const collector = new ReadCollector(from, limit, bytesMax, cost);
  const goal = { consistency, collector, begin: "position" } as const;
  const { tail, upToDate, sealed } = await new LogReader(ports, log, goal).run();
  const next = collector.position;
  if (upToDate && next > tail) {
    throw new FencelineError("position_unwritten", {
      message: `log ${log.name} ends at ${tail}, and ${next} was asked for; read from ${tail} or wait`,
      details: { tail },
    });
  }
  return { records: collector.records, next, tail, upToDate, sealed };
}
