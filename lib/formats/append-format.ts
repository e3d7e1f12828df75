/**
 * What travels of an append, as JSON with bytes in base 64: the batch on its way to its writer, and the
 * acknowledgement on its way back. Calls between functions and inboxes carry the same.
 */
import { entryId, region, segmentNumber, seqNum } from "../protocol/ids.ts";
import type { PostedAppend } from "../protocol/log/inbox-store.ts";
import type { AppendAck } from "../protocol/log/operations.ts";
import type { RecordHeader, RecordInput, RecordPosition, Sender } from "../protocol/log/records/record.ts";
import { damaged } from "./format-errors.ts";
import { type JsonFields, type JsonObject, type JsonValue, readObject } from "./json-fields.ts";

export function encodeBatch(batch: PostedAppend): JsonObject {
  const { records, matchSeqNum, sender, ...others } = batch;
  noOthers(others);
  return {
    records: records.map(encodeRecord),
    ...(matchSeqNum === undefined ? {} : { matchSeqNum }),
    ...(sender === undefined ? {} : { sender: encodeSender(sender) }),
  };
}

export function decodeBatch(fields: JsonFields): PostedAppend {
  return {
    records: fields.list("records", decodeRecord),
    ...(fields.has("matchSeqNum") ? { matchSeqNum: seqNum(fields.integer("matchSeqNum", 0)) } : {}),
    ...(fields.has("sender") ? { sender: fields.object("sender", decodeSender) } : {}),
  };
}

/** A field that its caller does not name would be lost on the way: the compiler says so. */
export function noOthers(_others: Readonly<Record<string, never>>): void {}

function encodeSender(sender: Sender): JsonObject {
  const { id, epoch, seq, ...others } = sender;
  noOthers(others);
  return { id, epoch, seq };
}

function decodeSender(fields: JsonFields): Sender {
  return { id: fields.text("id"), epoch: fields.integer("epoch", 0), seq: fields.integer("seq", 0) };
}

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
  const [name, value, ...rest] = Array.isArray(header) ? header : [];
  if (typeof name === "string" && typeof value === "string" && rest.length === 0) {
    return [bytesOf(name), bytesOf(value)];
  }
  throw damaged("a record", "a header is no pair of texts");
}

export function encodeAck(ack: AppendAck): JsonObject {
  const { start, last, tail, durableIn, duplicate, epoch, ownerRegion, ...others } = ack;
  noOthers(others);
  return {
    start: encodePosition(start),
    last: encodePosition(last),
    tail,
    ...(durableIn === undefined ? {} : { durableIn: [...durableIn] }),
    duplicate,
    epoch,
    ownerRegion,
  };
}

export function decodeAck(value: unknown): AppendAck {
  return readObject("an acknowledgement", value, (fields) => ({
    start: fields.object("start", decodePosition),
    last: fields.object("last", decodePosition),
    tail: seqNum(fields.integer("tail", 0)),
    ...(fields.has("durableIn") ? { durableIn: fields.textList("durableIn").map(region) } : {}),
    duplicate: fields.boolean("duplicate"),
    epoch: segmentNumber(fields.integer("epoch", 1)),
    ownerRegion: region(fields.text("ownerRegion")),
  }));
}

function encodePosition({ seqNum: number, dlsn, timestampMs }: RecordPosition): JsonObject {
  return { seqNum: number, segment: dlsn.segment, entry: dlsn.entry, slot: dlsn.slot, timestampMs };
}

function decodePosition(fields: JsonFields): RecordPosition {
  return {
    seqNum: seqNum(fields.integer("seqNum", 0)),
    dlsn: {
      segment: segmentNumber(fields.integer("segment", 1)),
      entry: entryId(fields.integer("entry", 0)),
      slot: fields.integer("slot", 0),
    },
    timestampMs: fields.number("timestampMs"),
  };
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64");
}

/** Buffer passes over what is no base 64, so that damage would read as fewer bytes: lengths are compared. */
function bytesOf(text: string): Uint8Array {
  const bytes = new Uint8Array(Buffer.from(text, "base64"));
  const padding = text.endsWith("==") ? 2 : Number(text.endsWith("="));
  if (text.length % 4 === 0 && bytes.length === (text.length / 4) * 3 - padding) return bytes;
  throw damaged("a record", `${text.length} characters hold ${bytes.length} bytes of base 64`);
}
