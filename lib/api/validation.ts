/** What a schema found wrong with a request: where, the value given, what is allowed. */
import type { core } from "zod/mini";
import { FencelineError } from "../protocol/errors.ts";
import { shortened } from "./log-name.ts";
import { pointerTo, type RequestPart } from "./pointers.ts";

interface Fault {
  readonly pointer: string;
  readonly detail: string;
}

const FAULTS_MAX = 10;

/** `invalid_request` with one line per fault; `given` is what was checked. */
export function invalidRequest(part: RequestPart, error: core.$ZodError, given: unknown): FencelineError {
  const faults = error.issues.slice(0, FAULTS_MAX).map((found) => faultOf(part, found, given));
  const lines = faults.map((fault) => `${fault.pointer} ${fault.detail}`);
  return new FencelineError("invalid_request", {
    message: `${lines.join("; ")}. Nothing was done; GET /v1/openapi.json has the whole form.`,
    details: { errors: faults },
  });
}

function faultOf(part: RequestPart, found: core.$ZodIssue, given: unknown): Fault {
  const pointer = pointerTo(part, found.path);
  if (found.code === "unrecognized_keys") {
    const strange = found.keys.map((key) => JSON.stringify(key)).join(", ");
    const known = found.message.startsWith("there are ") ? `; ${found.message}` : "";
    return { pointer, detail: `does not take ${strange}${known}` };
  }
  const value = valueAt(given, found.path);
  const rule = isDefaultText(found.message) ? ruleOf(found) : found.message;
  return { pointer, detail: value === undefined ? `is missing; it ${rule}` : `${rule}, got ${told(value)}` };
}

/** The library's own words, which no schema of this surface chose. */
function isDefaultText(message: string): boolean {
  return /^(Invalid|Too (small|big))/.test(message);
}

/** What is allowed, as "must be ...". */
function ruleOf(found: core.$ZodIssue): string {
  switch (found.code) {
    case "invalid_type":
      return `must be ${NAMES[found.expected] ?? found.expected}`;
    case "invalid_value":
      return `must be ${found.values.map(String).join(" or ")}`;
    case "too_small":
      return `must ${sizeRule(found.origin, `at least ${found.minimum}`)}`;
    case "too_big":
      return `must ${sizeRule(found.origin, `at most ${found.maximum}`)}`;
    default:
      return found.message;
  }
}

const NAMES: Readonly<Record<string, string>> = {
  array: "a list",
  tuple: "a list",
  object: "an object",
  string: "a string",
  boolean: "true or false",
  number: "a number",
  int: "an integer",
};

function sizeRule(origin: string, size: string): string {
  if (origin === "array" || origin === "tuple") return `have ${size} elements`;
  return origin === "string" ? `have ${size} characters` : `be ${size}`;
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
  return shortened(JSON.stringify(value));
}
