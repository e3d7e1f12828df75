/**
 * What one region's functions ask of another region's `append` function, as it travels: JSON, bytes in base
 * 64.
 *
 *     append    an append that is served or refused there, never forwarded again
 *     can-own   whether that region can own logs now
 *     ask       what its owner is asked about a log: to settle it, to hand it over, to take it over
 *     settle    to make everything acknowledged readable, through the owner or by takeover (rule 14)
 */
import { damaged } from "../../formats/format-errors.ts";
import { type JsonFields, type JsonObject, type JsonValue, readObject } from "../../formats/json-fields.ts";
import { type LogIncarnation, type LogName, logIncarnation, logName, seqNum } from "../../protocol/ids.ts";
import type { OwnerRequest } from "../../protocol/log/log-ports.ts";
import type { AppendRequest } from "../../protocol/log/operations.ts";
import type { RecordHeader, RecordInput, Sender } from "../../protocol/log/records/record.ts";
import { CALL_FORMAT, checkFormat } from "./call-envelope.ts";
import { decodeOwnerRequest, encodeOwnerRequest } from "./owner-call.ts";

export type AppendCall =
  | { readonly operation: "append"; readonly request: AppendRequest }
  | { readonly operation: "can-own"; readonly log: LogIncarnation }
  | { readonly operation: "ask"; readonly request: OwnerRequest }
  | { readonly operation: "settle"; readonly log: LogName };

export function encodeAppendCall(call: AppendCall): JsonObject {
  const head = { format: CALL_FORMAT, operation: call.operation };
  switch (call.operation) {
    case "append":
      return { ...head, request: encodeAppend(call.request) };
    case "ask":
      return { ...head, request: encodeOwnerRequest(call.request) };
    default:
      return { ...head, log: call.log };
  }
}

/** `data_corrupt` for what `encodeAppendCall` never gives. */
export function decodeAppendCall(value: unknown): AppendCall {
  return readObject("a call of an append function", value, (fields): AppendCall => {
    checkFormat(fields, "a call of an append function");
    const operation = fields.oneOf("operation", ["append", "can-own", "ask", "settle"]);
    switch (operation) {
      case "append":
        return { operation, request: fields.object("request", decodeAppend) };
      case "ask":
        return { operation, request: fields.object("request", decodeOwnerRequest) };
      case "can-own":
        return { operation, log: logIncarnation(fields.text("log")) };
      case "settle":
        return { operation, log: logName(fields.text("log")) };
    }
  });
}

function encodeAppend(request: AppendRequest): JsonObject {
  const { log, records, matchSeqNum, sender, route, timeoutMs, ...others } = request;
  noOthers(others);
  return {
    log,
    records: records.map(encodeRecord),
    ...(matchSeqNum === undefined ? {} : { matchSeqNum }),
    ...(route === undefined ? {} : { route }),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    ...(sender === undefined ? {} : { sender: encodeSender(sender) }),
  };
}

function decodeAppend(fields: JsonFields): AppendRequest {
  return {
    log: logName(fields.text("log")),
    records: fields.list("records", decodeRecord),
    ...(fields.has("matchSeqNum") ? { matchSeqNum: seqNum(fields.integer("matchSeqNum", 0)) } : {}),
    ...(fields.has("route") ? { route: fields.oneOf("route", ["forward", "refuse"]) } : {}),
    ...(fields.has("timeoutMs") ? { timeoutMs: fields.number("timeoutMs") } : {}),
    ...(fields.has("sender") ? { sender: fields.object("sender", decodeSender) } : {}),
  };
}

function encodeSender(sender: Sender): JsonObject {
  const { id, epoch, seq, ...others } = sender;
  noOthers(others);
  return { id, epoch, seq };
}

function decodeSender(fields: JsonFields): Sender {
  return { id: fields.text("id"), epoch: fields.integer("epoch", 0), seq: fields.integer("seq", 0) };
}

/** A field that is not named above would be lost on the way: the compiler says so. */
function noOthers(_others: Readonly<Record<string, never>>): void {}

function encodeRecord(record: RecordInput): JsonObject {
  const { body, headers, timestampMs, ...others } = record;
  noOthers(others);
  return {
    body: base64(body),
    headers: headers.map((header): JsonValue => header.map(base64)),
    ...(timestampMs === undefined ? {} : { timestampMs }),
  };
}

function decodeRecord(fields: JsonFields): RecordInput {
  const headers = fields.json("headers");
  if (!Array.isArray(headers)) throw damaged("a record", "headers is no list");
  return {
    body: bytesOf(fields.text("body")),
    headers: headers.map(decodeHeader),
    ...(fields.has("timestampMs") ? { timestampMs: fields.number("timestampMs") } : {}),
  };
}

function decodeHeader(header: unknown): RecordHeader {
  const [name, value] = Array.isArray(header) ? header : [];
  if (typeof name === "string" && typeof value === "string") return [bytesOf(name), bytesOf(value)];
  throw damaged("a record", "a header is no pair of texts");
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64");
}

function bytesOf(text: string): Uint8Array {
  return new Uint8Array(Buffer.from(text, "base64"));
}
