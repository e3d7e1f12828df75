/** One request and its answer: JSON, a problem document, or a word on why there is neither. */
import type { Problem } from "../api/problem.ts";
import type { SideEffects } from "../protocol/errors.ts";
import { AbandonedError, ProblemError, RequestError } from "./client-errors.ts";
import { foreignAnswer, retryAfterMsOf } from "./foreign-answer.ts";
import {
  type Answered,
  noAnswer,
  parsed,
  queryText,
  type RequestFields,
  type SendHttp,
} from "./http-words.ts";

export interface ExchangeOptions {
  /** A region's base URL, without /v1. */
  readonly endpoint: string;
  /** What errors call it; the endpoint if absent. For a `send` that goes elsewhere than its URL says. */
  readonly asked?: string;
  /** Wait for a whole answer. */
  readonly timeoutMs: number;
  /** Says stop: AbandonedError. */
  readonly signal?: AbortSignal;
  /** Asks what reads cost, and gets each answer's `Server-Timing`. */
  readonly onTiming?: (serverTiming: string) => void;
  /** How requests get there; `fetch` if absent. */
  readonly send?: SendHttp;
}

/** Throws RequestError. */
export async function exchange<T>(options: ExchangeOptions, request: RequestFields): Promise<Answered<T>> {
  const effects: SideEffects = request.method === "GET" ? "none" : "possible";
  const { status, type, text, owner, retryAfterMs, location } = await answerTo(options, request, effects);
  const json = type.endsWith("json") ? parsed(text) : undefined;
  if (isProblem(json)) throw new ProblemError(json, retryAfterMs);
  const isAnswer = (status < 300 || status === request.answers) && hasMember(json, request.has);
  if (isAnswer) return { status, json: json as T, owner };
  throw foreignAnswer(options.asked ?? options.endpoint, { status, type, effects, retryAfterMs, location });
}

function hasMember(json: unknown, name: string): boolean {
  return typeof json === "object" && json !== null && name in json;
}

/** One of ours: others answer with problem documents, too. */
function isProblem(json: unknown): json is Problem {
  if (typeof json !== "object" || json === null) return false;
  const { code, detail, retryable, side_effects: effects } = json as Readonly<Record<string, unknown>>;
  const isNamed = typeof code === "string" && typeof detail === "string" && typeof retryable === "boolean";
  return isNamed && (effects === "none" || effects === "possible");
}

async function answerTo(options: ExchangeOptions, request: RequestFields, effects: SideEffects) {
  const { endpoint, timeoutMs, signal, onTiming, send = fetch } = options;
  const timeout = AbortSignal.timeout(timeoutMs);
  try {
    const response = await send(`${endpoint}${request.path}${queryText(request.query)}`, {
      method: request.method,
      headers: headersOf(request, onTiming !== undefined),
      ...(request.body === undefined ? {} : { body: JSON.stringify(request.body) }),
      redirect: "manual", // Followed, a POST may become a GET, whose answer is none to what was asked.
      signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
    });
    const timing = response.headers.get("server-timing");
    if (timing !== null) onTiming?.(timing);
    const { status, headers } = response;
    const [type = ""] = (headers.get("content-type") ?? "").toLowerCase().split(";");
    const owner = headers.get("log-owner")?.split(";")[0];
    const location = headers.get("location") ?? undefined;
    const text = await response.text();
    return { status, type: type.trim(), text, owner, location, retryAfterMs: retryAfterMsOf(headers) };
  } catch (error) {
    if (error instanceof RequestError) throw error; // it was not sent
    const what = `${request.method} ${request.path}`;
    if (signal?.aborted !== true) throw noAnswer(options, what, error, effects);
    throw new AbandonedError(`${what} was given up before it was answered`, effects, error);
  }
}

function headersOf({ method, format, body, prefer }: RequestFields, asksTiming: boolean) {
  const wish = asksTiming && method === "GET" ? "server-timing" : prefer;
  return {
    accept: "application/json",
    ...(format === undefined ? {} : { "log-format": format }),
    ...(body === undefined ? {} : { "content-type": "application/json" }),
    ...(wish === undefined ? {} : { prefer: wish }),
  };
}
