/**
 * Pages of other origins. A browser sends their requests with all the rights that the browser's machine has,
 * so none is served unless its origin is allowed: it is refused by what the browser says of it, before its
 * body is read and whatever that is. Programs send neither of these headers.
 *
 * OR1 What is refused gets no header of CORS, so that its page cannot read the refusal either.
 */
import type { MiddlewareHandler } from "hono";
import type { ApiContext, ApiEnv } from "./api-env.ts";
import { ApiError } from "./api-error.ts";
import { shortened } from "./log-name.ts";

/** Origins as browsers write them, such as `https://app.example`; LOOPBACK_ORIGINS for all of this machine. */
export type AllowedOrigins = readonly string[];

/** Any page of this machine, whatever its port. */
export const LOOPBACK_ORIGINS = "loopback";

const LOOPBACK = /^https?:\/\/(localhost|127\.0\.0\.1|\[::1\])(:\d{1,5})?$/;

/** Whether this is an origin as browsers write it: scheme, host and port, and nothing else. */
export function isOrigin(text: string): boolean {
  return /^https?:\/\//.test(text) && URL.canParse(text) && new URL(text).origin === text;
}

function isAllowed(origin: string, allowed: AllowedOrigins): boolean {
  if (allowed.includes(LOOPBACK_ORIGINS) && LOOPBACK.test(origin)) return true;
  return isOrigin(origin) && allowed.includes(origin);
}

/**
 * The origin that the request was sent from, if it is one that may read the answer; undefined if a program
 * or a page of the server itself sent it. Throws `origin_not_allowed` for any other page.
 */
export function checkOrigin(headers: Headers, url: string, allowed: AllowedOrigins): string | undefined {
  const origin = headers.get("origin");
  if (origin !== null) {
    if (isAllowed(origin, allowed)) return origin;
    if (origin === new URL(url).origin) return undefined;
    throw refused(`Origin ${JSON.stringify(shortened(origin))}`);
  }
  const site = headers.get("sec-fetch-site");
  if (site === null || site === "same-origin" || site === "none") return undefined;
  throw refused(`a page of another origin (Sec-Fetch-Site ${JSON.stringify(shortened(site))})`);
}

function refused(page: string): ApiError {
  return new ApiError(
    "origin_not_allowed",
    `${page} is not allowed here, and nothing was done. Pages of other origins are served only where they ` +
      "are named: on a laptop by fenceline local --cors, on AWS by allowedOrigins in the topology.",
    {},
    { vary: "Origin", connection: "close" },
  );
}

/** What pages may send and read beside what every page may. */
export const REQUEST_HEADERS = "Content-Type, Idempotency-Key, Log-Format, Prefer";
export const ANSWER_HEADERS =
  "Allow, Log-Format, Log-Owner, Log-Region, Preference-Applied, Request-Id, Retry-After, Server-Timing";
export const PREFLIGHT_KEPT_S = 600;

/** Refuses pages of other origins, and says of an allowed one that it may read the answer. */
export function servePages(allowed: AllowedOrigins): MiddlewareHandler<ApiEnv> {
  return async (c, next) => {
    const origin = checkOrigin(c.req.raw.headers, c.req.url, allowed);
    await next();
    if (allowed.length > 0) c.header("Vary", "Origin", { append: true });
    if (origin === undefined) return;
    c.header("Access-Control-Allow-Origin", origin);
    c.header("Access-Control-Expose-Headers", ANSWER_HEADERS);
  };
}

/** The answer to OPTIONS: what the path takes, and for a page that asks before it sends, what it may send. */
export function optionsAnswer(c: ApiContext, methods: readonly string[]): Response {
  const list = methods.join(", ");
  c.header("Allow", list);
  if (c.req.header("access-control-request-method") !== undefined) {
    c.header("Access-Control-Allow-Methods", list);
    c.header("Access-Control-Allow-Headers", REQUEST_HEADERS);
    c.header("Access-Control-Max-Age", String(PREFLIGHT_KEPT_S));
    // A page of the internet asks before it sends to a machine of its reader's.
    if (c.req.header("access-control-request-private-network") === "true") {
      c.header("Access-Control-Allow-Private-Network", "true");
    }
  }
  return c.body(null, 204);
}
