/** What the routes of the surface share: its options, its parameters, and how the rest is refused. */
import type { MiddlewareHandler } from "hono";
import * as z from "zod/mini";
import type { Region, SegmentNumber } from "../protocol/ids.ts";
import type { LogConfig } from "../protocol/items.ts";
import { limits } from "../protocol/limits.ts";
import type { AppendOperations, AppendRequest, ReadOperations } from "../protocol/log/operations.ts";
import { appendLimits } from "../protocol/log/records/append-limits.ts";
import type { RegionOperations } from "../protocol/placement/registry.ts";
import type { ApiContext, ApiEnv } from "./api-env.ts";
import { ApiError } from "./api-error.ts";
import { SENDER_NAME_LENGTH_MAX, senderNameNotes } from "./append-sender.ts";
import type { Health } from "./health.ts";
import { checkRawQuery, checkRawTarget, LOG_NAME_PATTERN, nameFault, shortened } from "./log-name.ts";
import { type AllowedOrigins, optionsAnswer } from "./origins.ts";
import type { ProblemCode } from "./problem.ts";
import type { RegionWork } from "./region-work.ts";
import type { ApiApp, Route } from "./route.ts";
import { noted, once } from "./schema.ts";
import { logFormat } from "./wire.ts";

export interface ApiOptions {
  readonly append: AppendOperations;
  readonly read: ReadOperations;
  readonly regions: RegionOperations;
  /** Where this surface runs. */
  readonly region: Region;
  /** Configuration of logs whose creator does not choose one. */
  readonly defaultConfig: LogConfig;
  /** Pages that are served beside programs; none if absent. */
  readonly allowedOrigins?: AllowedOrigins;
  readonly health: () => Promise<Health>;
  /** Bounds what is worked on at a time; absent where the caller of the process does. */
  readonly work?: RegionWork;
  /** Gets each failure that is a defect of the server. Must not throw. */
  readonly onFault?: (error: unknown, requestId: string) => void;
  /** Gets each failure that its route does not declare. Must not throw. */
  readonly onUndeclared?: (route: Route, code: ProblemCode) => void;
}

export const logNameGiven = once(() =>
  noted(
    z.string().check(
      z.superRefine((name, context) => {
        const fault = nameFault(name);
        if (fault !== undefined) context.addIssue({ code: "custom", message: `is no log name: ${fault}` });
      }),
    ),
    {
      description: `A log's name, of 1 to ${limits.logNameBytesMax} bytes in UTF-8.`,
      minLength: 1,
      maxLength: limits.logNameBytesMax,
      pattern: LOG_NAME_PATTERN,
    },
  ),
);

export const logParams = once(() => z.object({ log: logNameGiven() }));

/** Of a route that takes a log's name and nothing else. */
export const logRequest = once(() => ({ params: logParams() }));

const logFormatHeader = () =>
  z.optional(
    noted(logFormat(), {
      description:
        "How record bytes stand in JSON: as text, or as base 64 with padding, whose unused bits are 0. " +
        "Bodies that are not JSON are bytes, whatever it says.",
      default: "utf8",
    }),
  );

export const formatHeader = once(() => z.object({ "log-format": logFormatHeader() }));

const KEYS_KEPT_MINUTES = appendLimits.producerWindowMs / 60_000;

/** Of a POST of records. Preferences that are not known are left alone (RFC 7240); the log checks the key. */
export const recordsHeaders = once(() =>
  z.object({
    "log-format": logFormatHeader(),
    prefer: z.optional(
      noted(z.string(), {
        description:
          "no-forward: a region that does not own the log answers 421 and names the owner in Log-Owner, " +
          "instead of sending the append on. wait=N: an answer within N seconds, whatever is known then; " +
          "the patience goes with an append that is sent on. At most, and without it, " +
          `${limits.appendDeadlineMs / 1_000} seconds.`,
      }),
    ),
    "idempotency-key": z.optional(
      noted(z.string(), {
        ...senderNameNotes,
        description:
          `1 to ${SENDER_NAME_LENGTH_MAX} printable ASCII characters, no spaces. A request that ` +
          "repeats a key with the same records is answered with their positions and `duplicate: true`; " +
          "with other records it is refused (422), also where match_seq_num names a place that is taken by " +
          `now. Keys are kept for ${KEYS_KEPT_MINUTES} minutes at ` +
          "least. Not together with a producer. A sealed log answers repetitions, of keys and producers, " +
          "likewise; where it says log_sealed, earlier_attempts says not_recorded (the batch is not in the " +
          "log, nor will ever be, unless it came before the log forgot this producer once) or " +
          "not_remembered; earlier_attempts_detail says it in words.",
      }),
    ),
  }),
);

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

/** Names the log's owner, which feeds the callers' ownership caches. */
export function nameOwner(c: ApiContext, owner: Region | undefined, epoch?: SegmentNumber): void {
  if (owner === undefined) return;
  c.header("Log-Owner", epoch === undefined ? owner : `${owner};epoch=${epoch}`);
}

/** Refuses targets that a URL parser would change. */
export function refuseBadTargets(): MiddlewareHandler<ApiEnv> {
  return async (c, next) => {
    const { pathname, search } = new URL(c.req.url);
    checkRawTarget(c.env?.rawPath ?? pathname);
    checkRawQuery(search.slice(1));
    await next();
  };
}

/** On every path that has a route, answers OPTIONS, and 405 with what is allowed to any other method. */
export function refuseOtherMethods(app: ApiApp): void {
  const methodsOf = new Map<string, Set<string>>();
  for (const { path, method } of app.routes) {
    if (method === "ALL") continue;
    const methods = methodsOf.get(path) ?? new Set(["OPTIONS"]);
    methodsOf.set(path, methods.add(method));
    if (method === "GET") methods.add("HEAD");
  }
  for (const [path, methods] of methodsOf) {
    const allowed = [...methods].sort().join(", ");
    app.on("OPTIONS", [path], (c) => optionsAnswer(c, [...methods].sort()));
    app.all(path, (c) => {
      throw new ApiError(
        "method_not_allowed",
        `${c.req.method} is not allowed on ${path}; ${allowed} are.`,
        { allowed: [...methods].sort() },
        { allow: allowed },
      );
    });
  }
}

export function refuseUnknownRoute(c: ApiContext): never {
  throw new ApiError(
    "route_not_found",
    `there is no ${c.req.method} ${shortened(c.req.path)}; GET /v1/openapi.json lists what there is. ` +
      "A '/' inside a log name is written %2F.",
  );
}
