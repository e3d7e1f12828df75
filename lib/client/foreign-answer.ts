/** Answers that are no region's: what they say of the request, and whether it may be sent again. */
import type { SideEffects } from "../protocol/errors.ts";
import { ForeignAnswerError, GatewayError, type RequestError } from "./client-errors.ts";

interface ForeignAnswer {
  readonly status: number;
  /** Its content type, without parameters. */
  readonly type: string;
  /** What the request may have done, had it got to a region. */
  readonly effects: SideEffects;
  readonly retryAfterMs: number | undefined;
  /** Where it sends us. */
  readonly location: string | undefined;
}

/** What passes: too many requests, a region that is not reached, silent or starting, a request cut off. */
const PASSING = new Set([408, 429, 500, 502, 503, 504]);

/** Moved: the request is to go elsewhere, and has gone nowhere. */
const MOVED = new Set([301, 307, 308]);

/** Refusals that say nothing of what became of the request. */
const VAGUE = new Set([408, 409, 499]);

/** An answer that is neither a result nor a problem document, as an error. */
export function foreignAnswer(asked: string, answer: ForeignAnswer): RequestError {
  const { status, type, effects, retryAfterMs, location } = answer;
  const said = `${asked} answered ${status} with ${type || "no content type"}`;
  if (PASSING.has(status)) {
    const between = "something between here and the region answers in its place";
    const wait = retryAfterMs === undefined ? "" : `, and asks to wait ${retryAfterMs / 1_000} s`;
    return new GatewayError(`${said}: ${between}${wait}`, status, effects, retryAfterMs);
  }
  const isRefused = MOVED.has(status) || (status >= 400 && status < 500 && !VAGUE.has(status));
  const left = isRefused ? "none" : effects;
  if (status === 413) return new ForeignAnswerError(`${said}: the request is too large for it`, left);
  const elsewhere = status >= 300 && status < 400 ? originOf(location) : undefined;
  const remedy =
    elsewhere === undefined ? "is it a Fenceline endpoint?" : `it sends requests to ${elsewhere}`;
  return new ForeignAnswerError(`${said}: ${remedy}`, left);
}

/** The rest of such an address may hold secrets. */
function originOf(location: string | undefined): string | undefined {
  return location !== undefined && URL.canParse(location) ? new URL(location).origin : undefined;
}

/** In ms. A date is taken from the answer's own clock, which ours need not agree with. */
export function retryAfterMsOf(headers: Headers): number | undefined {
  const text = headers.get("retry-after")?.trim() ?? "";
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1_000;
  const waitMs = Date.parse(text) - Date.parse(headers.get("date") ?? "");
  return Number.isNaN(waitMs) ? undefined : Math.max(0, waitMs);
}
