/** Appends as they arrive: JSON, lines of text, or the bytes of one record as they are. */
import { FencelineError } from "../protocol/errors.ts";
import { type LogName, seqNum } from "../protocol/ids.ts";
import { limits } from "../protocol/limits.ts";
import type { AppendRequest } from "../protocol/log/operations.ts";
import type { RecordHeader, RecordInput, Sender } from "../protocol/log/records/record.ts";
import { ApiError } from "./api-error.ts";
import { senderOf } from "./append-sender.ts";
import { appendBody, recordInput } from "./append-wire.ts";
import { shortened } from "./log-name.ts";
import { type Fault, pointerTo } from "./pointers.ts";
import { bytesOf, type LogFormat } from "./record-body.ts";
import { mediaType, readBody, readJson } from "./request-body.ts";
import type { Wire } from "./schema.ts";
import { checkedBody } from "./small-body.ts";
import { FAULTS_MAX, faultsOf, invalidRequest } from "./validation.ts";

/**
 * Bytes read of a JSON body. A full batch of control characters takes six times its size as JSON escapes;
 * the rest is room for the framing of 1,000 records.
 */
export const APPEND_BODY_BYTES_MAX = 8 * 1024 * 1024;

const REMEDY =
  `A batch holds at most ${limits.batchRecordsMax} records and ${limits.batchBytesMax} metered bytes ` +
  "(for each record 8, 2 per header, and the bytes of headers and body); split it.";

/** Bodies of lines, each the bytes of one record: what stands in a line is not looked into. */
export const LINE_TYPES: ReadonlySet<string> = new Set([
  "application/x-ndjson",
  "application/jsonl",
  "text/plain",
]);

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
  const isLines = LINE_TYPES.has(type);
  if (isLines || type === "application/octet-stream") {
    if (isLines) checkCharset(request);
    const body = await readBody(request, APPEND_BODY_BYTES_MAX, REMEDY);
    const bodies = isLines ? linesOf(body) : [body];
    const records = bodies.map((one): RecordInput => ({ body: one, headers: [] }));
    return append(log, records, inQuery, senderOf(undefined, key));
  }
  if (type !== "application/json") {
    throw new ApiError(
      "unsupported_media_type",
      `Content-Type ${JSON.stringify(shortened(type))} is not taken: send application/json, ` +
        `${[...LINE_TYPES].join(", ")} with one record a line, ` +
        "or application/octet-stream for the bytes of one record.",
    );
  }
  for (const [name, value] of Object.entries(inQuery)) {
    if (value === undefined) continue;
    const pointer = pointerTo("query", [name]);
    const detail = "goes with bodies that are not JSON; in JSON it is a member of the body";
    throw new FencelineError("invalid_request", {
      message: `${pointer} ${detail}.`,
      details: { errors: [{ pointer, detail }] },
    });
  }
  const given = await readJson(request, APPEND_BODY_BYTES_MAX, REMEDY);
  const { records: sent, match_seq_num, producer } = checkedAppend(given);
  const records = sent.map((record, index) => recordOf(record, format, index));
  return append(log, records, { match_seq_num }, senderOf(producer, key));
}

/**
 * Checks records one by one, and stops where enough is wrong, so that a batch of nothing but faults costs no
 * more than a good one. Throws `invalid_request` or `batch_too_large`.
 */
function checkedAppend(given: unknown): Wire<typeof appendBody> {
  if (typeof given !== "object" || given === null || !("records" in given) || !Array.isArray(given.records)) {
    return checkedBody(appendBody, given);
  }
  refuseCount(given.records.length);
  const envelope = { ...given, records: [] };
  const around = appendBody().safeParse(envelope);
  const faults = around.success ? [] : [...faultsOf("body", around.error, envelope)];
  const records: Wire<typeof recordInput>[] = [];
  for (const [index, record] of given.records.entries()) {
    if (faults.length >= FAULTS_MAX) break;
    const at = ["records", index];
    const headers = record?.headers;
    const fault = Array.isArray(headers) ? headersFault(headers.length, at) : undefined;
    if (fault !== undefined) {
      faults.push(fault);
      continue;
    }
    const { success, data, error } = recordInput().safeParse(record);
    if (success) records.push(data);
    else faults.push(...faultsOf("body", error, record, at));
  }
  if (around.success && faults.length === 0) return { ...around.data, records };
  const unchecked = given.records.length - records.length;
  throw invalidRequest(faults, faults.length + (unchecked > faults.length ? 1 : 0));
}

/** More than a batch holds is not made into records. Fewer, or none, are the log's to judge. */
function refuseCount(count: number): void {
  if (count <= limits.batchRecordsMax) return;
  throw new FencelineError("batch_too_large", {
    message: `a batch holds at most ${limits.batchRecordsMax} records, got ${count}; split the batch`,
    details: { limit_records: limits.batchRecordsMax, actual_records: count },
  });
}

function headersFault(count: number, at: readonly PropertyKey[]): Fault | undefined {
  if (count <= limits.recordHeadersMax) return undefined;
  const rule = `must have at most ${limits.recordHeadersMax} elements`;
  const detail = `${rule}, got ${count}; move some into the body`;
  return { pointer: pointerTo("body", [...at, "headers"]), detail };
}

const NEWLINE = 0x0a;

/** Each without its newline, carriage return included; what follows the last newline, if anything, is one. */
function linesOf(bytes: Uint8Array): Uint8Array[] {
  const lines: Uint8Array[] = [];
  let count = 0;
  for (let start = 0; start < bytes.length; count++) {
    const newline = bytes.indexOf(NEWLINE, start);
    const end = newline === -1 ? bytes.length : newline;
    if (count < limits.batchRecordsMax) lines.push(bytes.subarray(start, end));
    start = end + 1;
  }
  refuseCount(count);
  return lines;
}

/** Lines are parted at bytes, and records are read as UTF-8. */
function checkCharset(request: Request): void {
  const stated = /;\s*charset\s*=\s*"?([^\s";]*)/i.exec(request.headers.get("content-type") ?? "")?.[1];
  if (stated === undefined || /^(utf-?8|us-ascii)$/i.test(stated)) return;
  throw new ApiError(
    "unsupported_media_type",
    `charset ${JSON.stringify(shortened(stated))} is not taken: send lines in UTF-8.`,
  );
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
