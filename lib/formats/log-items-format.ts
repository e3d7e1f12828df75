/** Plain JSON of a log's items: name, log, segment, end, directory. */
import {
  ledgerId,
  logIncarnation,
  logName,
  NO_ENTRY,
  region,
  segmentNumber,
  seqNum,
} from "../protocol/ids.ts";
import type {
  DirectoryItem,
  EndItem,
  LogConfig,
  LogItem,
  LogNameItem,
  SegmentCompletion,
  SegmentItem,
} from "../protocol/items.ts";
import { configNumbersFrom } from "../protocol/log-config.ts";
import type { ItemCodec } from "./item-codec.ts";
import type { JsonFields, JsonObject } from "./json-fields.ts";
import { decodeReplication, encodeReplication } from "./ledger-format.ts";

export const logNameCodec: ItemCodec<LogNameItem> = {
  format: 1,
  encode: (item) => ({ name: item.name, incarnation: item.incarnation }),
  decode: (fields) => ({
    kind: "log-name",
    name: logName(fields.text("name")),
    incarnation: logIncarnation(fields.text("incarnation")),
  }),
};

export const logCodec: ItemCodec<LogItem> = {
  format: 1,
  encode: (item) => ({
    name: item.name,
    incarnation: item.incarnation,
    config: encodeConfig(item.config),
    state: item.state,
    trimPoint: item.trimPoint,
    createdAtMs: item.createdAtMs,
    ...(item.preferredRegion === undefined ? {} : { preferredRegion: item.preferredRegion }),
  }),
  decode: (fields) => ({
    kind: "log",
    name: logName(fields.text("name")),
    incarnation: logIncarnation(fields.text("incarnation")),
    config: fields.object("config", decodeConfig),
    state: fields.oneOf("state", ["active", "deleting"]),
    trimPoint: seqNum(fields.integer("trimPoint", 0)),
    createdAtMs: fields.number("createdAtMs"),
    ...(fields.has("preferredRegion") ? { preferredRegion: region(fields.text("preferredRegion")) } : {}),
  }),
};

export const segmentCodec: ItemCodec<SegmentItem> = {
  format: 1,
  encode: (item) => ({
    number: item.number,
    ledgerId: item.ledgerId,
    ownerRegion: item.ownerRegion,
    createdAtMs: item.createdAtMs,
    ...(item.completion === undefined ? {} : { completion: encodeCompletion(item.completion) }),
  }),
  decode: (fields) => ({
    kind: "segment",
    number: segmentNumber(fields.integer("number", 1)),
    ledgerId: ledgerId(fields.integer("ledgerId", 0)),
    ownerRegion: region(fields.text("ownerRegion")),
    createdAtMs: fields.number("createdAtMs"),
    ...(fields.has("completion") ? { completion: fields.object("completion", decodeCompletion) } : {}),
  }),
};

export const endCodec: ItemCodec<EndItem> = {
  format: 1,
  encode: (item) => ({ number: item.number }),
  decode: (fields) => ({ kind: "end", number: segmentNumber(fields.integer("number", 1)) }),
};

export const directoryCodec: ItemCodec<DirectoryItem> = {
  format: 1,
  encode: (item) => ({ name: item.name }),
  decode: (fields) => ({ kind: "directory", name: logName(fields.text("name")) }),
};

function encodeConfig(config: LogConfig): JsonObject {
  return {
    replication: encodeReplication(config.replication),
    digest: config.digest,
    ...configNumbersFrom((name) => config[name]),
  };
}

function decodeConfig(fields: JsonFields): LogConfig {
  return {
    replication: fields.object("replication", decodeReplication),
    digest: fields.oneOf("digest", ["crc32", "hmac-sha256"]),
    ...configNumbersFrom((name, { isStoredAlways }) =>
      isStoredAlways || fields.has(name) ? fields.integer(name, 1) : undefined,
    ),
  };
}

function encodeCompletion(completion: SegmentCompletion): JsonObject {
  return {
    end: completion.end,
    lastEntry: completion.lastEntry,
    lastTimestampMs: completion.lastTimestampMs,
    bytes: completion.bytes,
  };
}

function decodeCompletion(fields: JsonFields): SegmentCompletion {
  return {
    end: seqNum(fields.integer("end", 0)),
    lastEntry: fields.integer("lastEntry", NO_ENTRY),
    lastTimestampMs: fields.number("lastTimestampMs"),
    bytes: fields.integer("bytes", 0),
  };
}
