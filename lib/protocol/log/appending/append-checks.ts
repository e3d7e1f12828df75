/** What an append may contain, and its sender. Nothing of a refused append is sent anywhere. */
import type { Clock } from "../../deadline.ts";
import { FencelineError } from "../../errors.ts";
import { entryId, ledgerId, NO_ENTRY, seqNum, tenure } from "../../ids.ts";
import { limits } from "../../limits.ts";
import type { Digest, EntryHeader } from "../../ports.ts";
import type { AppendRequest } from "../operations.ts";
import { appendLimits } from "../records/append-limits.ts";
import type { RecordInput } from "../records/record.ts";
import type { BatchSender } from "../records/record-set.ts";
import { encodeRecordSet, meteredBytes } from "../records/record-set.ts";

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

const ID_PATTERN = /^[\x20-\x7e]+$/;

function checkSender({ sender, records }: AppendRequest): void {
  if (sender === undefined) return;
  const { id, epoch, seq } = sender;
  if (id.length > appendLimits.senderIdLengthMax || !ID_PATTERN.test(id)) {
    const allowed = `1 to ${appendLimits.senderIdLengthMax} printable ASCII characters`;
    const shown = JSON.stringify(id.slice(0, 2 * appendLimits.senderIdLengthMax));
    throw invalid(`producer/id has ${allowed}, got ${shown}; a UUID will do`, "producer/id");
  }
  for (const [name, value] of Object.entries({ epoch, seq })) {
    if (Number.isSafeInteger(value) && value >= 0) continue;
    throw invalid(`producer/${name} is an integer from 0 to 2^53 - 1, got ${value}`, `producer/${name}`);
  }
  if (Number.isSafeInteger(seq + records.length)) return;
  throw invalid(`producer/seq ${seq} leaves no room for more; begin a new epoch with seq 0`, "producer/seq");
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

/**
 * An append's sender in the form that goes into entries: with a checksum of the records, which distinguishes
 * a repetition from another batch under a seq that came before. Undefined: a plain append.
 */
export function batchSender(
  { clock, digest }: { readonly clock: Clock; readonly digest: Digest },
  { sender, records }: Pick<AppendRequest, "sender" | "records">,
): BatchSender | undefined {
  if (sender === undefined) return undefined;
  return {
    ...sender,
    content: contentOf(digest, records),
    arrivedAtMs: Math.max(0, Math.floor(clock.nowMs())),
  };
}

/** Of headers and bodies. Timestamps are left out: a client may give each attempt its own. */
function contentOf(digest: Digest, records: readonly RecordInput[]): number {
  const plain = records.map(({ headers, body }) => ({ headers, body, timestampMs: 0 }));
  const checksum = digest.compute({ type: "crc32" }, NO_HEADER, encodeRecordSet(seqNum(0), plain));
  return new DataView(checksum.buffer, checksum.byteOffset, checksum.byteLength).getUint32(0);
}

/** The checksum is about records alone, wherever they come to stand. */
const NO_HEADER: EntryHeader = {
  ledgerId: ledgerId(0),
  entryId: entryId(0),
  lastAddConfirmed: NO_ENTRY,
  length: 0,
  tenure: tenure(""),
};
