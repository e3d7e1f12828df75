/** What a schema found wrong with a request, told as: where, the value given, what is allowed. */
import type { z } from "@hono/zod-openapi";
import { FencelineError } from "../protocol/errors.ts";
import { shortened } from "./log-name.ts";

/** Where in the request a checked value stands; the first part of each pointer. */
export type RequestPart = "path" | "query" | "header" | "body";

interface Fault {
  readonly pointer: string;
  readonly detail: string;
}

const FAULTS_MAX = 10;

/** `invalid_request` with one line per fault; `given` is what was checked. */
export function invalidRequest(part: RequestPart, error: z.ZodError, given: unknown): FencelineError {
  const faults = error.issues.slice(0, FAULTS_MAX).map((found) => faultOf(part, found, given));
  const lines = faults.map((fault) => `${fault.pointer} ${fault.detail}`);
  return new FencelineError("invalid_request", {
    message: `${lines.join("; ")}. Nothing was done; GET /v1/openapi.json has the whole form.`,
    details: { errors: faults },
  });
}

function faultOf(part: RequestPart, found: z.core.$ZodIssue, given: unknown): Fault {
  const pointer = [part, ...found.path].join("/");
  if (found.code === "unrecognized_keys") {
    return { pointer, detail: `does not take ${found.keys.map((key) => JSON.stringify(key)).join(", ")}` };
  }
  return { pointer, detail: `${found.message}, got ${told(valueAt(given, found.path))}` };
}

function valueAt(given: unknown, path: readonly PropertyKey[]): unknown {
  let value = given;
  for (const key of path) {
    if (typeof value !== "object" || value === null) return undefined;
    value = (value as Record<PropertyKey, unknown>)[key];
  }
  return value;
}

function told(value: unknown): string {
  return value === undefined ? "nothing" : shortened(JSON.stringify(value));
}
