/** What an append may contain. Nothing of a refused append is sent anywhere. */
import { FencelineError } from "../../errors.ts";
import { limits } from "../../limits.ts";
import type { AppendRequest } from "../operations.ts";
import { appendLimits } from "../records/append-limits.ts";
import type { RecordInput } from "../records/record.ts";
import { meteredBytes } from "../records/record-set.ts";

const REMEDY = "split the batch";

/**
 * Checks counts, sizes, timestamps and who sends it; answers the batch's metered bytes. Throws
 * `invalid_request`, `record_too_large` or `batch_too_large`. `nowMs` is the server's wall clock.
 */
export function checkAppend(request: AppendRequest, nowMs: number): number {
  const { records, matchSeqNum } = request;
  checkSender(request);
  if (records.length === 0) {
    throw invalid("a batch holds at least one record, got none; send the records or no request", "records");
  }
  if (records.length > limits.batchRecordsMax) {
    throw new FencelineError("batch_too_large", {
      message: `a batch holds at most ${limits.batchRecordsMax} records, got ${records.length}; ${REMEDY}`,
      details: { limit_records: limits.batchRecordsMax, actual_records: records.length },
    });
  }
  if (matchSeqNum !== undefined && !(Number.isSafeInteger(matchSeqNum) && matchSeqNum >= 0)) {
    throw invalid(`match_seq_num is an integer from 0 to 2^53 - 1, got ${matchSeqNum}`, "match_seq_num");
  }
  let batchBytes = 0;
  records.forEach((record, index) => {
    batchBytes += checkRecord(record, index, nowMs);
  });
  if (batchBytes > limits.batchBytesMax) {
    throw new FencelineError("batch_too_large", {
      message: `a batch has at most ${limits.batchBytesMax} metered bytes, got ${batchBytes}; ${REMEDY}`,
      details: { limit_bytes: limits.batchBytesMax, actual_bytes: batchBytes },
    });
  }
  return batchBytes;
}

const ID_PATTERN = /^[\x21-\x7e]+$/;

function checkSender({ producer, idempotencyKey, appendToken, matchSeqNum, records }: AppendRequest): void {
  if (appendToken !== undefined) {
    checkId(appendToken, "append_token");
    if (matchSeqNum === undefined) {
      throw invalid("append_token goes with match_seq_num; give both, or neither", "append_token");
    }
    if (producer !== undefined || idempotencyKey !== undefined) {
      const detail = "a producer or an Idempotency-Key names the append already; leave append_token out";
      throw invalid(detail, "append_token");
    }
  }
  if (idempotencyKey !== undefined) {
    checkId(idempotencyKey, "Idempotency-Key");
    if (producer === undefined) return;
    throw invalid("an append has a producer or an Idempotency-Key, not both; leave one out", "producer");
  }
  if (producer === undefined) return;
  checkId(producer.id, "producer/id");
  const { epoch, seq } = producer;
  for (const [name, value] of Object.entries({ epoch, seq })) {
    if (Number.isSafeInteger(value) && value >= 0) continue;
    throw invalid(`producer/${name} is an integer from 0 to 2^53 - 1, got ${value}`, `producer/${name}`);
  }
  if (Number.isSafeInteger(seq + records.length)) return;
  throw invalid(`producer/seq ${seq} leaves no room for more; begin a new epoch with seq 0`, "producer/seq");
}

function checkId(id: string, pointer: string): void {
  if (id.length <= appendLimits.producerIdLengthMax && ID_PATTERN.test(id)) return;
  throw invalid(
    `${pointer} has 1 to ${appendLimits.producerIdLengthMax} printable ASCII characters and no spaces, got ` +
      `${JSON.stringify(id.slice(0, 2 * appendLimits.producerIdLengthMax))}; a UUID will do`,
    pointer,
  );
}

function checkRecord(record: RecordInput, index: number, nowMs: number): number {
  const bytes = meteredBytes(record);
  if (bytes > limits.batchBytesMax) {
    throw new FencelineError("record_too_large", {
      message:
        `record ${index} has ${bytes} metered bytes, and at most ${limits.batchBytesMax} are allowed; ` +
        "split its body over several records",
      details: { limit_bytes: limits.batchBytesMax, actual_bytes: bytes, index },
    });
  }
  checkHeaders(record, index);
  const { timestampMs } = record;
  if (timestampMs === undefined) return bytes;
  const latestMs = Math.floor(nowMs) + limits.timestampAheadMaxMs;
  if (!Number.isSafeInteger(timestampMs) || timestampMs < 0 || timestampMs > latestMs) {
    throw invalid(
      `record ${index} has timestamp ${timestampMs}; it is a whole number of ms from 0 to at most ` +
        `${limits.timestampAheadMaxMs} ms ahead of this server's clock (${latestMs} now); correct the ` +
        "clock or leave the timestamp out",
      `records/${index}/timestamp`,
    );
  }
  return bytes;
}

function checkHeaders({ headers }: RecordInput, index: number): void {
  if (headers.length > limits.recordHeadersMax) {
    throw invalid(
      `record ${index} has ${headers.length} headers, and at most ${limits.recordHeadersMax} are allowed; ` +
        "move some into the body",
      `records/${index}/headers`,
    );
  }
  const bytes = headers.reduce((sum, [name, value]) => sum + name.length + value.length, 0);
  if (bytes > limits.recordHeaderBytesMax) {
    throw invalid(
      `record ${index} has ${bytes} bytes of headers, and at most ${limits.recordHeaderBytesMax} are ` +
        "allowed; move what is large into the body",
      `records/${index}/headers`,
    );
  }
}

function invalid(message: string, pointer: string): FencelineError {
  return new FencelineError("invalid_request", {
    message,
    details: { errors: [{ pointer, detail: message }] },
  });
}
