/** A failure that was foreseen, as it travels: a value with its code and what it says of its effects. */
import { type ErrorCode, errorRules, FencelineError } from "../protocol/errors.ts";
import { damaged } from "./format-errors.ts";
import type { JsonFields, JsonObject } from "./json-fields.ts";

const errorCodes = Object.keys(errorRules) as ErrorCode[];

export function encodeError(error: FencelineError): JsonObject {
  return {
    code: error.code,
    message: error.message,
    retryable: error.retryable,
    sideEffects: error.sideEffects,
    // Facts for programs, as they go over HTTP: what is no JSON is left out there, too.
    details: JSON.parse(JSON.stringify({ ...causeDetails(error.cause), ...error.details })),
  };
}

/** What an error leaves out its causes may say, and those stay behind. */
function causeDetails(cause: unknown): Readonly<Record<string, unknown>> {
  if (!(cause instanceof FencelineError)) return {};
  return { ...causeDetails(cause.cause), ...cause.details };
}

export function decodeError(fields: JsonFields): FencelineError {
  const details = fields.json("details");
  if (typeof details !== "object" || details === null || Array.isArray(details))
    throw damaged("a failure", "its details are no object");
  return new FencelineError(fields.oneOf("code", errorCodes), {
    message: fields.text("message"),
    retryable: fields.boolean("retryable"),
    sideEffects: fields.oneOf("sideEffects", ["none", "possible"]),
    details: { ...details },
  });
}
