/** Reads a range of a log whose end is known to be written, page by page, and does not stop short of it. */
import type { LogRecordJson } from "../api/wire.ts";
import { IncompleteReadError } from "./client-errors.ts";
import type { Consistency, LogClient } from "./log-client.ts";
import { type Patience, retrying } from "./retry.ts";

interface LogRange {
  readonly log: string;
  /** The first record. */
  readonly from: number;
  /** The seq_num after the last record. */
  readonly end: number;
  readonly consistency?: Consistency;
}

const PAGE_RECORDS = 1_000;

/** Pages of records, bodies and headers as base 64. Throws what requests throw when patience is used up. */
export async function* readRange(
  client: LogClient,
  range: LogRange,
  patience: Patience,
): AsyncGenerator<readonly LogRecordJson[]> {
  const { log, end, consistency = "strong" } = range;
  for (let next = range.from; next < end; ) {
    const count = Math.min(PAGE_RECORDS, end - next);
    const page = await retrying(patience, client, async (bounded) => {
      const answer = await bounded.read(log, { from: next, count, consistency, format: "base64" });
      if (answer.records.length > 0) return answer.records;
      throw new IncompleteReadError(
        `log ${log} reaches to seq_num ${end}, but nothing could be read at ${next}`,
      );
    });
    yield page;
    next += page.length;
  }
}
