/** What regions ask of each other about a log's owner, and who owns it, as it travels. */
import type { JsonFields, JsonObject } from "../../formats/json-fields.ts";
import { logName, type Region, region, segmentNumber } from "../../protocol/ids.ts";
import type { OwnerRequest, TakeOverRequest } from "../../protocol/log/log-ports.ts";
import type { Ownership } from "../../protocol/log/operations.ts";

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

function optionalRegion<K extends string>(fields: JsonFields, name: K): Partial<Record<K, Region>> {
  const found: Partial<Record<K, Region>> = {};
  if (fields.has(name)) found[name] = region(fields.text(name));
  return found;
}
