/**
 * What every call between functions is wrapped in: `{format, answer}` or `{format, failure}`. A failure that
 * was foreseen travels as a value, with its code and what it says of its effects; a function that dies has no
 * answer, and its caller knows nothing (rule 21).
 */
import { decodeError, encodeError } from "../../formats/error-format.ts";
import { type JsonObject, type JsonValue, readObject } from "../../formats/json-fields.ts";
import { FencelineError, unavailable } from "../../protocol/errors.ts";

export const CALL_FORMAT = 1;

/** Bytes that Lambda takes and gives in one call. */
export const PAYLOAD_BYTES_MAX = 6 * 1024 * 1024;

export type Reply<T> =
  | { readonly kind: "answer"; readonly answer: T }
  | { readonly kind: "failure"; readonly error: FencelineError };

/** Runs a call for somebody else; what it throws beyond a FencelineError is a defect and stays one. */
export async function replyTo<T>(
  call: () => Promise<T>,
  encode: (answer: T) => JsonValue,
): Promise<JsonObject> {
  try {
    return { format: CALL_FORMAT, answer: encode(await call()) };
  } catch (error) {
    if (error instanceof FencelineError) return { format: CALL_FORMAT, failure: encodeError(error) };
    throw error;
  }
}

/**
 * Throws `unavailable` for what `replyTo` of this build never gives: the call was made, and what it says of
 * its effects cannot be read. A newer build may speak so.
 */
export function decodeReply<T>(value: unknown, decode: (answer: unknown) => T): Reply<T> {
  try {
    return readObject("a reply", value, (fields) => {
      fields.format(CALL_FORMAT);
      if (fields.has("failure")) return { kind: "failure", error: fields.object("failure", decodeError) };
      return { kind: "answer", answer: decode(fields.json("answer")) };
    });
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw unavailable(`an answer that cannot be read is none: ${why}`, "possible", error);
  }
}
