/** Appends as they arrive: JSON with up to 1,000 records, or the bytes of one record as they are. */
import { FencelineError } from "../protocol/errors.ts";
import { type LogName, seqNum } from "../protocol/ids.ts";
import { limits } from "../protocol/limits.ts";
import type { AppendRequest } from "../protocol/log/operations.ts";
import type { RecordHeader, RecordInput, Sender } from "../protocol/log/records/record.ts";
import { ApiError } from "./api-error.ts";
import { senderOf } from "./append-sender.ts";
import { appendBody, type recordInput } from "./append-wire.ts";
import { pointerTo } from "./pointers.ts";
import { bytesOf, type LogFormat } from "./record-body.ts";
import { mediaType, readBody, readJson } from "./request-body.ts";
import type { Wire } from "./schema.ts";
import { checkedBody } from "./small-body.ts";

/**
 * Bytes read of a JSON body. A full batch of control characters takes six times its size as JSON escapes;
 * the rest is room for the framing of 1,000 records.
 */
const APPEND_BODY_BYTES_MAX = 8 * 1024 * 1024;

const REMEDY =
  `A batch holds at most ${limits.batchRecordsMax} records and ${limits.batchBytesMax} metered bytes ` +
  "(for each record 8, 2 per header, and the bytes of headers and body); split it.";

/** As it is named on the wire. */
interface Condition {
  readonly match_seq_num?: number | undefined;
}

/**
 * Reads an append and types it. How many records of what size a batch may hold, the log itself checks. `key`:
 * its Idempotency-Key.
 * Throws `invalid_request`, `bad_json`, `body_too_large` or `unsupported_media_type`.
 */
export async function readAppend(
  request: Request,
  log: LogName,
  format: LogFormat,
  inQuery: Condition,
  key: string | undefined,
): Promise<AppendRequest> {
  const type = mediaType(request);
  if (type === "application/octet-stream") {
    const body = await readBody(request, APPEND_BODY_BYTES_MAX, REMEDY);
    return append(log, [{ body, headers: [] }], inQuery, senderOf(undefined, key));
  }
  if (type !== "application/json") {
    throw new ApiError(
      "unsupported_media_type",
      `Content-Type ${JSON.stringify(type)} is not taken: send application/json, ` +
        "or application/octet-stream for the bytes of one record.",
    );
  }
  for (const [name, value] of Object.entries(inQuery)) {
    if (value === undefined) continue;
    const pointer = pointerTo("query", [name]);
    const detail = "goes with application/octet-stream; in JSON it is a member of the body";
    throw new FencelineError("invalid_request", {
      message: `${pointer} ${detail}.`,
      details: { errors: [{ pointer, detail }] },
    });
  }
  const given = await readJson(request, APPEND_BODY_BYTES_MAX, REMEDY);
  const { records: sent, match_seq_num, producer } = checkedBody(appendBody, given);
  const records = sent.map((record, index) => recordOf(record, format, index));
  return append(log, records, { match_seq_num }, senderOf(producer, key));
}

function append(
  log: LogName,
  records: RecordInput[],
  { match_seq_num: match }: Condition,
  sender: Sender | undefined,
): AppendRequest {
  return {
    log,
    records,
    ...(match === undefined ? {} : { matchSeqNum: seqNum(match) }),
    ...(sender === undefined ? {} : { sender }),
  };
}

function recordOf(record: Wire<typeof recordInput>, format: LogFormat, index: number): RecordInput {
  const at = pointerTo("body", ["records", index]);
  const headers = (record.headers ?? []).map(
    ([name, value], number): RecordHeader => [
      bytesOf(name, format, `${at}/headers/${number}/0`),
      bytesOf(value, format, `${at}/headers/${number}/1`),
    ],
  );
  const body = bytesOf(record.body, format, `${at}/body`);
  return { body, headers, ...(record.timestamp === undefined ? {} : { timestampMs: record.timestamp }) };
}
