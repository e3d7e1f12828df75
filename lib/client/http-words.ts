/** What a request says to the network, and what that says back: paths, queries, words. */
import type { SideEffects } from "../protocol/errors.ts";
import { NoAnswerError, NotSentError, type RequestError } from "./client-errors.ts";

export interface RequestFields {
  readonly method: "GET" | "PUT" | "POST" | "PATCH" | "DELETE";
  readonly path: string;
  readonly query?: Readonly<Record<string, string | number | undefined>>;
  readonly format?: WireFormat | undefined;
  readonly body?: unknown;
  /** The member without which an answer is none to this: others speak JSON, too. */
  readonly has: string;
  readonly prefer?: "no-forward";
  /** A status that is an answer here, though it is a failure elsewhere. */
  readonly answers?: 503;
}

export interface Answered<T> {
  readonly status: number;
  readonly json: T;
  /** The region that owns the log, if the answer names it. */
  readonly owner: string | undefined;
}

export function logPath(log: string, rest = ""): string {
  return `/v1/logs/${segment("log", log)}${rest}`;
}

export function ledgerPath(id: string, rest = ""): string {
  return `/v1/ledgers/${segment("ledger", id)}${rest}`;
}

export function regionPath(region: string): string {
  return `/v1/regions/${segment("region", region)}`;
}

export function bookiePath(region: string, bookie: string): string {
  return `${regionPath(region)}/bookies/${segment("bookie", bookie)}`;
}

/** A name in a path. Empty, or dots that are folded away on the way, it would be another request's path. */
function segment(what: string, name: string): string {
  if (!["", ".", ".."].includes(name) && name.isWellFormed()) return encodeURIComponent(name);
  throw new NotSentError(`${JSON.stringify(name)} is no name of a ${what}; nothing was sent`);
}

/** Failures to connect: nothing can have reached the server. Some may end a connection that stood, too. */
const NOT_CONNECTED = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "UND_ERR_CONNECT_TIMEOUT",
]);

/** What fetch says of ports that it sends nothing to, whatever listens there. */
const BAD_PORT = "bad port";

export function queryText(query: Readonly<Record<string, string | number | undefined>> = {}): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined);
  if (given.length === 0) return "";
  return `?${new URLSearchParams(given.map(([name, value]): [string, string] => [name, String(value)]))}`;
}

/** Undefined: it is no JSON. */
export function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** What such a word means, for people. */
const MEANINGS: Readonly<Record<string, string>> = {
  ECONNREFUSED: "nobody listens there",
  ENOTFOUND: "there is no host of that name",
  EAI_AGAIN: "the host's name cannot be looked up now",
  EHOSTUNREACH: "there is no way to that host",
  UND_ERR_CONNECT_TIMEOUT: "nobody there took the connection",
  ECONNRESET: "the connection was cut",
  UND_ERR_SOCKET: "the connection was cut",
};

/** What the network said, and of which call, each in a word; "" if it said nothing of its own. */
function networkWords(error: unknown): { readonly code: string; readonly syscall: string } {
  const cause = error instanceof Error ? error.cause : undefined;
  if (typeof cause !== "object" || cause === null) return { code: "", syscall: "" };
  const word = (name: string) => (name in cause ? String(cause[name as keyof typeof cause]) : "");
  return { code: word("code") || word("message"), syscall: word("syscall") };
}

/** Reading or writing, it had stood. */
const CONNECTED_CALLS = new Set(["read", "write"]);

interface AskedEndpoint {
  readonly endpoint: string;
  readonly asked?: string;
  readonly timeoutMs: number;
}

/** Why there was no answer, and what may have happened all the same. */
export function noAnswer(
  { endpoint, asked = endpoint, timeoutMs }: AskedEndpoint,
  what: string,
  error: unknown,
  effects: SideEffects,
): RequestError {
  const { code, syscall } = networkWords(error);
  if (code === BAD_PORT) {
    return new NotSentError(
      `${asked} was not asked for ${what}: fetch sends nothing to that port (${BAD_PORT}); a region has ` +
        "to listen on another one",
    );
  }
  const isSilent = error instanceof Error && error.name === "TimeoutError";
  const meaning = MEANINGS[code];
  const plain = code !== "" ? code : error instanceof Error ? error.message : String(error);
  const why = meaning === undefined ? plain : `${meaning} (${plain})`;
  const said = isSilent ? `${timeoutMs / 1_000} s of silence` : why;
  return new NoAnswerError(
    `${asked} gave no answer to ${what}: ${said}`,
    NOT_CONNECTED.has(code) && !CONNECTED_CALLS.has(syscall) ? "none" : effects,
    error,
    endpoint,
    asked,
  );
}

/** As `fetch`: rejects if there is no answer. */
export type SendHttp = (url: string, request: HttpRequest) => Promise<Response>;

export interface HttpRequest {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly redirect?: "manual";
  readonly signal: AbortSignal;
}

export type WireFormat = "utf8" | "base64";
