/**
 * What one region's functions ask of another region's `append` function, as it travels: JSON, bytes in base
 * 64.
 *
 *     append    an append that is served or refused there, never forwarded again
 *     can-own   whether that region can own logs now
 *     ask       what its owner is asked about a log: to settle it, to hand it over, to take it over
 *     settle    to make everything acknowledged readable, through the owner or by takeover (rule 14)
 */
import { decodeBatch, encodeBatch, noOthers } from "../../formats/append-format.ts";
import { type JsonFields, type JsonObject, readObject } from "../../formats/json-fields.ts";
import { type LogIncarnation, type LogName, logIncarnation, logName } from "../../protocol/ids.ts";
import type { OwnerRequest } from "../../protocol/log/log-ports.ts";
import type { AppendRequest } from "../../protocol/log/operations.ts";
import { CALL_FORMAT } from "./call-envelope.ts";
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
    fields.format(CALL_FORMAT);
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
    ...encodeBatch(request),
    ...(route === undefined ? {} : { route }),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
  };
}

function decodeAppend(fields: JsonFields): AppendRequest {
  return {
    log: logName(fields.text("log")),
    ...decodeBatch(fields),
    ...(fields.has("route") ? { route: fields.oneOf("route", ["forward", "refuse"]) } : {}),
    ...(fields.has("timeoutMs") ? { timeoutMs: fields.number("timeoutMs") } : {}),
  };
}
