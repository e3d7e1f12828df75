/** A small JSON body of a request that says one thing, checked by its schema. */
import type { z } from "@hono/zod-openapi";
import { ApiError } from "./api-error.ts";
import { mediaType, readJson } from "./request-body.ts";
import { invalidRequest } from "./validation.ts";

const SMALL_BODY_BYTES_MAX = 1024;

/** `what` is to be sent alone; `example` shows how. Throws what `readJson` throws, and `invalid_request`. */
export async function readSmallBody<S extends z.ZodType>(
  request: Request,
  schema: S,
  { what, example }: { readonly what: string; readonly example: string },
): Promise<z.infer<S>> {
  const type = mediaType(request);
  if (type !== "application/json") {
    throw new ApiError(
      "unsupported_media_type",
      `Content-Type ${JSON.stringify(type)} is not taken: send application/json, such as ${example}.`,
    );
  }
  const given = await readJson(request, SMALL_BODY_BYTES_MAX, `Send the ${what} alone.`);
  const parsed = schema.safeParse(given);
  if (!parsed.success) throw invalidRequest("body", parsed.error, given);
  return parsed.data;
}

/** A route in the OpenAPI document with the body that is read by hand. */
export function withBody<R extends { readonly request: object }, S extends z.ZodType>(route: R, body: S) {
  const content = { "application/json": { schema: body } };
  return { ...route, request: { ...route.request, body: { required: true, content } } };
}
