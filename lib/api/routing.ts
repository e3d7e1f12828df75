/** What the routes of the surface share: its types, its parameters and its error answers. */
import { type OpenAPIHono, z } from "@hono/zod-openapi";
import type { Context, MiddlewareHandler } from "hono";
import type { Region, SegmentNumber } from "../protocol/ids.ts";
import type { LogConfig } from "../protocol/items.ts";
import { limits } from "../protocol/limits.ts";
import { appendLimits } from "../protocol/log/append-limits.ts";
import type {
  AppendOperations,
  AppendRequest,
  ReadOperations,
  RegionOperations,
} from "../protocol/log/operations.ts";
import { ApiError } from "./api-error.ts";
import type { Health } from "./health.ts";
import { checkRawPath, nameFault } from "./log-name.ts";
import { invalidRequest, type RequestPart } from "./validation.ts";
import { logFormat, problem } from "./wire.ts";

export interface ApiOptions {
  readonly append: AppendOperations;
  readonly read: ReadOperations;
  readonly regions: RegionOperations;
  /** Where this surface runs. */
  readonly region: Region;
  /** Configuration of logs whose creator does not choose one. */
  readonly defaultConfig: LogConfig;
  readonly health: () => Promise<Health>;
  /** Told of failures that are a defect of the server. Must not throw. */
  readonly onFault?: (error: unknown, requestId: string) => void;
}

export interface ApiEnv {
  Bindings: {
    /** The target as it stood on the request line. Without it the URL's path is checked, already folded. */
    readonly rawPath?: string;
  };
  Variables: { requestId: string };
}

export type ApiApp = OpenAPIHono<ApiEnv>;
export type ApiContext = Context<ApiEnv>;

export const logParams = z.object({
  log: z.string().superRefine((name, context) => {
    const fault = nameFault(name);
    if (fault !== undefined) context.addIssue({ code: "custom", message: `is no log name: ${fault}` });
  }),
});

export const formatHeader = z.object({
  "log-format": logFormat
    .optional()
    .openapi({ description: "How record bytes stand in JSON; utf8 if absent." }),
});

/** Of an append; preferences that are not known are left alone (RFC 7240). */
export const appendHeaders = formatHeader.extend({
  prefer: z
    .string()
    .optional()
    .openapi({
      description:
        "no-forward: a region that does not own the log answers 421 and names the owner in Log-Owner, " +
        "instead of sending the append on. wait=N: an answer within N seconds, whatever is known then; the " +
        "patience goes with an append that is sent on. At most, and without it, " +
        `${limits.appendDeadlineMs / 1_000} seconds.`,
    }),
});

/** Of a POST of records; the log checks the key itself. */
export const recordsHeaders = appendHeaders.extend({
  "idempotency-key": z
    .string()
    .optional()
    .openapi({
      description:
        `1 to ${appendLimits.producerIdLengthMax} printable ASCII characters, no spaces. A request that ` +
        "repeats a key with the same records is answered with their positions and `duplicate: true`; with " +
        `other records it is refused (422). Keys are kept for ${appendLimits.producerWindowMs / 60_000} ` +
        "minutes at least. Not together with a producer.",
    }),
});

/** What of an append's preferences is known: the caller's patience, and where it wants it served. */
export function appendPreferences(prefer = ""): Pick<AppendRequest, "route" | "timeoutMs"> {
  const all = preferences(prefer);
  const wait = all.map((preference) => /^wait=([1-9]\d{0,4})$/.exec(preference)?.[1]).find(Boolean);
  return {
    route: all.includes("no-forward") ? "refuse" : "forward",
    ...(wait === undefined ? {} : { timeoutMs: Math.min(Number(wait) * 1_000, limits.appendDeadlineMs) }),
  };
}

/** Whether a `Prefer` header names a preference. */
export function prefers(prefer: string | undefined, wanted: string): boolean {
  return preferences(prefer ?? "").includes(wanted);
}

function preferences(prefer: string): string[] {
  return prefer.split(",").map((preference) => preference.trim().toLowerCase());
}

/** Every error of every route. */
export const errorAnswers = {
  default: {
    description: "A problem document (RFC 9457).",
    content: { "application/problem+json": { schema: problem } },
  },
} as const;

/** The answer of a route that went well. */
export function answer<S extends z.ZodType>(schema: S, description: string) {
  return { description, content: { "application/json": { schema } } };
}

/** Tells who owns the log, which feeds the callers' ownership caches. */
export function nameOwner(c: ApiContext, owner: Region | undefined, epoch?: SegmentNumber): void {
  if (owner === undefined) return;
  c.header("Log-Owner", epoch === undefined ? owner : `${owner};epoch=${epoch}`);
}

/** Turns what a route's schemas refuse into `invalid_request`. */
export function refuseInvalid(result: {
  readonly success: boolean;
  readonly target: string;
  readonly error?: z.ZodError;
  readonly data?: unknown;
}): void {
  if (result.success || result.error === undefined) return;
  const parts: Readonly<Record<string, RequestPart>> = { param: "path", query: "query", header: "header" };
  throw invalidRequest(parts[result.target] ?? "body", result.error, result.data);
}

export function refuseDotSegments(): MiddlewareHandler<ApiEnv> {
  return async (c, next) => {
    checkRawPath(c.env?.rawPath ?? new URL(c.req.url).pathname);
    await next();
  };
}

/** Answers 405 with what is allowed, on every path that has a route. */
export function refuseOtherMethods(app: ApiApp): void {
  const methodsOf = new Map<string, Set<string>>();
  for (const { path, method } of app.routes) {
    if (method === "ALL") continue;
    const methods = methodsOf.get(path) ?? new Set();
    methodsOf.set(path, methods.add(method));
    if (method === "GET") methods.add("HEAD");
  }
  for (const [path, methods] of methodsOf) {
    const allowed = [...methods].sort().join(", ");
    app.all(path, (c) => {
      throw new ApiError(
        "method_not_allowed",
        `${c.req.method} is not allowed on ${path}; ${allowed} ${methods.size === 1 ? "is" : "are"}.`,
        { allowed: [...methods].sort() },
        { allow: allowed },
      );
    });
  }
}

export function refuseUnknownRoute(c: ApiContext): never {
  throw new ApiError(
    "route_not_found",
    `there is no ${c.req.method} ${c.req.path}; GET /v1/openapi.json lists what there is. ` +
      "A '/' inside a log name is written %2F.",
  );
}
