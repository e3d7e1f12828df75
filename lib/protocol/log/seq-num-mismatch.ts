/**
 * The answer to an append whose match_seq_num does not hold. A caller whose earlier attempt got no answer
 * meets this error when that attempt was recorded after all; the same batch at the expected place says so.
 */
import { FencelineError } from "../errors.ts";
import type { SeqNum } from "../ids.ts";
import { sameBytes } from "../ledger/entry.ts";
import { formatDlsn } from "./dlsn.ts";
import type { LogRecord, RecordInput, RecordPosition } from "./operations.ts";
import type { LogIdentity } from "./start-segment.ts";

/** Reads up to `count` records from `from` on, as far as that is cheap; what cannot be read is left out. */
export type RecordsAt = (log: LogIdentity, from: SeqNum, count: number) => Promise<RecordsThere>;

export interface RecordsThere {
  readonly records: readonly LogRecord[];
  /** Where the batches begin that they belong to. */
  readonly batchStarts: ReadonlySet<SeqNum>;
}

export async function seqNumMismatch(
  log: LogIdentity,
  records: readonly RecordInput[],
  expected: SeqNum,
  actual: SeqNum,
  recordsAt: RecordsAt,
): Promise<FencelineError> {
  const own = expected < actual ? await earlierAttempt(log, records, expected, recordsAt) : undefined;
  const found =
    own === undefined ? "" : "; the very same batch stands there already, so nothing is left to do";
  return new FencelineError("seq_num_mismatch", {
    message:
      `log ${log.name}: match_seq_num ${expected} was given and the next record gets ${actual}${found}; ` +
      (own === undefined ? `read from ${Math.min(expected, actual)} on and decide again` : "go on behind it"),
    details: { expected_seq_num: expected, actual_seq_num: actual, ...(own ?? {}) },
  });
}

/** The batch as it stands at `expected`, if it does: one whole batch, with the same bytes. */
async function earlierAttempt(
  log: LogIdentity,
  records: readonly RecordInput[],
  expected: SeqNum,
  recordsAt: RecordsAt,
) {
  const { records: withNext, batchStarts } = await recordsAt(log, expected, records.length + 1);
  const there = withNext.slice(0, records.length);
  const next = withNext[records.length];
  const first = there[0];
  const last = there.at(-1);
  if (first === undefined || last === undefined || there.length !== records.length) return undefined;
  const inside = there.slice(1).some(({ seqNum }) => batchStarts.has(seqNum));
  const isBatch = batchStarts.has(expected) && !inside && endsBatch(last, next, batchStarts);
  const same = there.every((record, index) => sameRecord(record, records[index]));
  if (!isBatch || !same) return undefined;
  return { already_appended: true, start: onWire(first), last: onWire(last) };
}

function endsBatch(last: LogRecord, next: LogRecord | undefined, starts: ReadonlySet<SeqNum>): boolean {
  return next === undefined || starts.has((last.seqNum + 1) as SeqNum);
}

function sameRecord(there: LogRecord, given: RecordInput | undefined): boolean {
  if (given === undefined || !sameBytes(there.body, given.body)) return false;
  if (there.headers.length !== given.headers.length) return false;
  return there.headers.every(([name, value], index) => {
    const header = given.headers[index];
    return header !== undefined && sameBytes(name, header[0]) && sameBytes(value, header[1]);
  });
}

function onWire({ seqNum, dlsn, timestampMs }: RecordPosition) {
  return { seq_num: seqNum, dlsn: formatDlsn(dlsn), timestamp: timestampMs };
}
