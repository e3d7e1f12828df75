/** A small JSON body of a request that says one thing, checked by its schema. */
import { ApiError } from "./api-error.ts";
import { shortened } from "./log-name.ts";
import { pointerTo } from "./pointers.ts";
import { mediaType, readBody, readJson } from "./request-body.ts";
import type { Schema, Wire } from "./schema.ts";
import { faultsOf, invalidRequest } from "./validation.ts";

export const SMALL_BODY_BYTES_MAX = 1024;

/** `what` is to be sent alone; `example` shows how. Throws what `readJson` throws, and `invalid_request`. */
export async function readSmallBody<S extends Schema>(
  request: Request,
  schema: S,
  { what, example }: { readonly what: string; readonly example: string },
): Promise<Wire<S>> {
  const type = mediaType(request);
  if (type !== "application/json") {
    throw new ApiError(
      "unsupported_media_type",
      `Content-Type ${JSON.stringify(shortened(type))} is not taken: ` +
        `send application/json, such as ${example}.`,
    );
  }
  const given = await readJson(request, SMALL_BODY_BYTES_MAX, `Send the ${what} alone.`);
  return checkedBody(schema, given);
}

/** Of a request that takes none, or an empty object. Throws what `readBody` throws, and `invalid_request`. */
export async function refuseBody(request: Request): Promise<void> {
  const bytes = await readBody(request, SMALL_BODY_BYTES_MAX, "Send no body.");
  const text = new TextDecoder().decode(bytes);
  if (["", "{}"].includes(text.replaceAll(/\s/g, ""))) return;
  const detail = `must be empty, or {}, got ${JSON.stringify(shortened(text))}`;
  throw invalidRequest([{ pointer: pointerTo("body"), detail }]);
}

/** Throws `invalid_request`. */
export function checkedBody<S extends Schema>(schema: S, given: unknown): Wire<S> {
  const parsed = schema().safeParse(given);
  if (!parsed.success) {
    throw invalidRequest(faultsOf("body", parsed.error, given), parsed.error.issues.length);
  }
  return parsed.data as Wire<S>;
}
