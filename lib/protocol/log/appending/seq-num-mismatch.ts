/**
 * The answer to an append whose match_seq_num does not hold. A caller whose earlier attempt got no answer
 * meets this error when that attempt was recorded after all, and the answer says so.
 *
 * M1 `already_appended` is said only of the caller's own attempt: the batch at the expected place has the
 *    same token, or the same producer or key, and the same records.
 * M2 Equal records alone are no proof of it, since others may append the same: `equal_records`. Without a
 *    token whose they are stays open; with one they are another's.
 */

import { sameBytes } from "../../entry.ts";
import { FencelineError } from "../../errors.ts";
import type { SeqNum } from "../../ids.ts";
import type { LogIdentity } from "../log-identity.ts";
import type { RecordsAt } from "../reading/read-records.ts";
import { formatDlsn } from "../records/dlsn.ts";
import type { BatchProducer, EntryBatch } from "../records/entry-batches.ts";
import type { LogRecord, RecordInput, RecordPosition } from "../records/record.ts";

/** The append that was refused, and who it says it is. */
export interface MismatchedAppend {
  readonly records: readonly RecordInput[];
  readonly appendToken: string | undefined;
  readonly producer: BatchProducer | undefined;
}

interface Places {
  readonly expected: SeqNum;
  readonly actual: SeqNum;
}

export async function seqNumMismatch(
  log: LogIdentity,
  append: MismatchedAppend,
  { expected, actual }: Places,
  recordsAt: RecordsAt,
): Promise<FencelineError> {
  const equal = expected < actual ? await equalBatch(log, append.records, expected, recordsAt) : undefined;
  const isOwn = equal !== undefined && isAttemptAt(append, equal.batch); // M1
  const again = `read from ${Math.min(expected, actual)} on and decide again`;
  const places = `match_seq_num ${expected} was given and the next record gets ${actual}`;
  const found = isOwn
    ? "an earlier attempt at this very append is recorded there, so nothing is left to do; go on behind it"
    : equal === undefined
      ? again
      : `${whoseEqual(append)}; ${again}`;
  return new FencelineError("seq_num_mismatch", {
    message: `log ${log.name}: ${places}; ${found}`,
    details: {
      expected_seq_num: expected,
      actual_seq_num: actual,
      ...(equal === undefined ? {} : { [isOwn ? "already_appended" : "equal_records"]: true }),
      ...(equal === undefined ? {} : { start: onWire(equal.start), last: onWire(equal.last) }),
    },
  });
}

function isAttemptAt({ appendToken, producer: own }: MismatchedAppend, batch: EntryBatch): boolean {
  if (appendToken !== undefined) return batch.appendToken === appendToken;
  const { producer } = batch;
  if (own === undefined || producer === undefined) return false;
  return (
    own.kind === producer.kind &&
    own.id === producer.id &&
    own.epoch === producer.epoch &&
    own.seq === producer.seq
  );
}

/** M2 */
function whoseEqual({ appendToken, producer }: MismatchedAppend): string {
  if (appendToken !== undefined || producer !== undefined) {
    return "equal records stand there, appended by another than this append";
  }
  return (
    "equal records stand there, and whether by an earlier attempt at this append or by another caller only " +
    "an append_token tells, the same in each attempt"
  );
}

/** The batch at `expected`, if it is one whole batch with the same bytes. */
async function equalBatch(
  log: LogIdentity,
  records: readonly RecordInput[],
  expected: SeqNum,
  recordsAt: RecordsAt,
) {
  const { records: there, batches } = await recordsAt(log, expected, records.length);
  const batch = batches.get(expected);
  const [start, last] = [there[0], there.at(-1)];
  if (batch?.count !== records.length || there.length !== records.length) return undefined;
  if (start === undefined || last === undefined) return undefined;
  const isSame = there.every((record, index) => sameRecord(record, records[index]));
  return isSame ? { batch, start, last } : undefined;
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
