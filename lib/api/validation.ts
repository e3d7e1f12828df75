/**
 * What is wrong with a request: where, the value given, what is allowed. What is said has a bound, however
 * much is wrong.
 */
import type { core } from "zod/mini";
import { FencelineError } from "../protocol/errors.ts";
import { beginning, shortened } from "./log-name.ts";
import { type Fault, pointerTo, type RequestPart } from "./pointers.ts";

/** Faults that are listed; those who check may stop there. */
export const FAULTS_MAX = 10;
const NAMES_MAX = 5;
const DETAIL_LENGTH_MAX = 300;

/** `invalid_request` with one line per fault. `count`: how many there are at least; these are the first. */
export function invalidRequest(found: readonly Fault[], count = found.length): FencelineError {
  const faults = found.slice(0, FAULTS_MAX);
  const lines = faults.map((fault) => `${fault.pointer} ${fault.detail}`);
  const more = count > faults.length ? `; and ${count - faults.length} more at least` : "";
  return new FencelineError("invalid_request", {
    message: `${lines.join("; ")}${more}. Nothing was done; GET /v1/openapi.json has the whole form.`,
    details: { errors: faults, ...(more === "" ? {} : { error_count: count }) },
  });
}

/** What a schema found; `given` is what it checked, which stood at `at`. */
export function faultsOf(
  part: RequestPart,
  error: core.$ZodError,
  given: unknown,
  at: readonly PropertyKey[] = [],
): readonly Fault[] {
  return error.issues.slice(0, FAULTS_MAX).map((found) => faultOf(part, found, given, at));
}

function faultOf(
  part: RequestPart,
  found: core.$ZodIssue,
  given: unknown,
  at: readonly PropertyKey[],
): Fault {
  const pointer = pointerTo(part, [...at, ...found.path]);
  if (found.code === "unrecognized_keys") {
    const strange = found.keys.slice(0, NAMES_MAX).map((key) => JSON.stringify(shortened(key)));
    const more = found.keys.length > NAMES_MAX ? ` and ${found.keys.length - NAMES_MAX} more` : "";
    const known = /^there (are|is) /.test(found.message) ? `; ${found.message}` : "";
    return { pointer, detail: `does not take ${strange.join(", ")}${more}${known}` };
  }
  const value = valueAt(given, found.path);
  if (part === "query" && Array.isArray(value)) {
    return {
      pointer,
      detail: `is given ${value.length === 2 ? "twice" : `${value.length} times`}; give it once`,
    };
  }
  const rule = isDefaultText(found.message) ? ruleOf(found) : found.message;
  const detail = value === undefined ? `is missing; it ${rule}` : `${rule}, got ${told(value)}`;
  return { pointer, detail: beginning(detail, DETAIL_LENGTH_MAX) };
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
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, key)) return undefined;
    value = (value as Record<PropertyKey, unknown>)[key];
  }
  return value;
}

/** The beginning of a value, without walking the rest of it. */
function told(value: unknown): string {
  if (typeof value === "string") return shortened(JSON.stringify(shortened(value)));
  if (typeof value !== "object" || value === null) return String(value);
  const LENGTH_TOLD = 4;
  if (Array.isArray(value)) {
    return value.length > LENGTH_TOLD ? `a list of ${value.length}` : shortened(`[${listed(value)}]`);
  }
  const names = Object.keys(value);
  if (names.length > LENGTH_TOLD) return `an object of ${names.length} members`;
  const members = names.map((name) => `${JSON.stringify(shortened(name))}:${inside(value, name)}`);
  return shortened(`{${members.join(",")}}`);
}

function listed(values: readonly unknown[]): string {
  return values.map((value) => (typeof value === "object" && value !== null ? "..." : told(value))).join(",");
}

function inside(value: object, name: string): string {
  const member = (value as Record<string, unknown>)[name];
  return typeof member === "object" && member !== null ? "..." : told(member);
}
