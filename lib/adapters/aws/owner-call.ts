/** What regions ask of each other about a log's owner, and positions and acknowledgements, as they travel. */
import { type JsonFields, type JsonObject, readObject } from "../../formats/json-fields.ts";
import { entryId, logName, type Region, region, segmentNumber, seqNum } from "../../protocol/ids.ts";
import type { OwnerRequest, TakeOverRequest } from "../../protocol/log/log-ports.ts";
import type { AppendAck, Ownership } from "../../protocol/log/operations.ts";
import type { RecordPosition } from "../../protocol/log/records/record.ts";

export function encodeOwnerRequest(request: OwnerRequest): JsonObject {
  const head = { kind: request.kind, log: request.log };
  if (request.kind === "hand-over") return { ...head, to: request.to };
  return request.kind === "take-over" ? { ...head, ...takenFrom(request) } : head;
}

export function decodeOwnerRequest(fields: JsonFields): OwnerRequest {
  const kind = fields.oneOf("kind", ["hand-over", "take-over", "settle"]);
  const log = logName(fields.text("log"));
  if (kind === "hand-over") return { kind, log, to: region(fields.text("to")) };
  if (kind === "settle") return { kind, log };
  return { kind, log, ...optionalRegion(fields, "from"), ...optionalEpoch(fields) };
}

function takenFrom({ from, epoch }: TakeOverRequest): JsonObject {
  return { ...(from === undefined ? {} : { from }), ...(epoch === undefined ? {} : { epoch }) };
}

function optionalEpoch(fields: JsonFields): Pick<Ownership, "epoch"> {
  return fields.has("epoch") ? { epoch: segmentNumber(fields.integer("epoch", 1)) } : {};
}

export function encodeOwnership({ owner, epoch, preferred }: Ownership): JsonObject {
  return {
    ...(owner === undefined ? {} : { owner }),
    ...(epoch === undefined ? {} : { epoch }),
    ...(preferred === undefined ? {} : { preferred }),
  };
}

export function decodeOwnership(fields: JsonFields): Ownership {
  return {
    ...optionalRegion(fields, "owner"),
    ...optionalEpoch(fields),
    ...optionalRegion(fields, "preferred"),
  };
}

export function encodeAck(ack: AppendAck): JsonObject {
  return {
    start: encodePosition(ack.start),
    last: encodePosition(ack.last),
    tail: ack.tail,
    ...(ack.durableIn === undefined ? {} : { durableIn: [...ack.durableIn] }),
    duplicate: ack.duplicate,
    epoch: ack.epoch,
    ownerRegion: ack.ownerRegion,
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

function optionalRegion<K extends string>(fields: JsonFields, name: K): Partial<Record<K, Region>> {
  const found: Partial<Record<K, Region>> = {};
  if (fields.has(name)) found[name] = region(fields.text(name));
  return found;
}
