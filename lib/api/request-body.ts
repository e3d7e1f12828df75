/**
 * Request bodies, read under a limit: a body that is too large is refused at its stated length or at the
 * first byte beyond the limit, and never held as a whole.
 *
 * RQB1 A body that has brought more than a small one, and then too little in a while, is refused: what it has
 *      brought counts against the region's other clients. A small body may take as long as a request may.
 */
import { FencelineError } from "../protocol/errors.ts";
import { ApiError } from "./api-error.ts";
import { boundsFault } from "./json-bounds.ts";
import { shortened } from "./log-name.ts";
import type { Fault } from "./pointers.ts";
import { invalidRequest } from "./validation.ts";

/** Gets how many bytes of a body are there by now; throws `over_capacity` if they are more than may be. */
export type OnBytes = (byteCount: number) => void;

/** RQB1. The documents state it, too. */
export const bodyPace = { smallBytes: 64 * 1024, leastBytes: 256 * 1024, periodMs: 5_000 } as const;

const watched = new WeakMap<Request, OnBytes>();

/** Calls `onBytes` while the body of this request is read, whichever route reads it. */
export function watchBody(request: Request, onBytes: OnBytes): void {
  watched.set(request, onBytes);
}

/**
 * Reads the whole body, at most `limitBytes`. Throws `body_too_large`, `unsupported_media_type` if it is
 * compressed, since its bytes are not those that are meant, `request_timeout` (RQB1), and `invalid_request`
 * if its end never comes.
 */
export async function readBody(request: Request, limitBytes: number, remedy: string): Promise<Uint8Array> {
  refuseCoding(request);
  const stated = Number(request.headers.get("content-length") ?? Number.NaN);
  if (stated > limitBytes) throw tooLarge(String(stated), limitBytes, remedy, { actual_bytes: stated });
  if (request.body === null) return new Uint8Array();
  const chunks: Uint8Array[] = [];
  let byteCount = 0;
  const reader = request.body.getReader();
  let pace: ReturnType<typeof watchPace> | undefined;
  try {
    for (;;) {
      const next = reader.read().catch(cutOff);
      const { done, value } = await (pace === undefined ? next : Promise.race([next, pace.tooSlow]));
      if (done) return joined(chunks, byteCount);
      byteCount += value.length;
      if (byteCount > limitBytes) throw tooLarge("more", limitBytes, remedy, {});
      watched.get(request)?.(byteCount);
      chunks.push(value);
      if (byteCount > bodyPace.smallBytes) pace ??= watchPace(() => byteCount);
    }
  } catch (error) {
    reader.cancel().catch(() => {});
    throw error;
  } finally {
    pace?.end();
  }
}

/** RQB1, from now on: `tooSlow` rejects a period, at most two, after the body fell behind. */
function watchPace(came: () => number): { readonly tooSlow: Promise<never>; end(): void } {
  const { leastBytes, periodMs } = bodyPace;
  let end = () => {};
  const tooSlow = new Promise<never>((_, reject) => {
    let before: number | undefined;
    const looking = setInterval(() => {
      const now = came();
      if (before !== undefined && now - before < leastBytes) reject(slowBody(now));
      before = now;
    }, periodMs);
    end = () => clearInterval(looking);
  });
  tooSlow.catch(() => {}); // the body's reader gets it
  return { tooSlow, end: () => end() };
}

function slowBody(byteCount: number): ApiError {
  const { smallBytes, leastBytes, periodMs } = bodyPace;
  return new ApiError(
    "request_timeout",
    `a body over ${smallBytes} bytes must bring ${leastBytes} bytes every ${periodMs / 1_000} s; this one ` +
      `stopped or slowed down after ${byteCount}, and nothing was done. Send less at a time.`,
    {},
    { connection: "close" },
  );
}

/** A client that leaves in the middle of its body is no defect of the server. */
function cutOff(cause: unknown): never {
  throw new FencelineError("invalid_request", {
    message: "the connection ended before the body did, and nothing was done; send it again",
    cause,
  });
}

/**
 * Reads a JSON body. Bytes that are not UTF-8 are refused: a decoder that mends them changes records. Throws
 * what `readBody` throws, `bad_json`, and `invalid_request` for what `boundsFault` finds.
 */
export async function readJson(request: Request, limitBytes: number, remedy: string): Promise<unknown> {
  const bytes = await readBody(request, limitBytes, remedy);
  let text = "";
  let fault: Fault | undefined;
  try {
    text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    fault = boundsFault(text);
    if (fault === undefined) return JSON.parse(text);
  } catch (error) {
    const isText = error instanceof SyntaxError;
    const why = isText ? error.message : "it is not UTF-8";
    const position = isText ? positionIn(text, error.message) : undefined;
    throw new ApiError(
      "bad_json",
      `the body of ${bytes.length} bytes is not JSON in UTF-8: ${why}` +
        `${position === undefined || why.includes("at position") ? "" : `, at position ${position}`}. ` +
        "Nothing was done. Send one JSON value with its names in double quotes; in a shell, put all of it " +
        "in single quotes.",
      position === undefined ? {} : { position },
    );
  }
  throw invalidRequest([fault]);
}

/** Codings are never undone: a small body could become one of any size. Chunks are none. */
function refuseCoding({ headers }: Request): void {
  for (const [name, plain] of [
    ["Content-Encoding", "identity"],
    ["Transfer-Encoding", "chunked"],
  ] as const) {
    const coding = (headers.get(name) ?? plain).trim();
    if (coding === "" || coding.toLowerCase() === plain) continue;
    throw new ApiError(
      "unsupported_media_type",
      `${name} ${JSON.stringify(shortened(coding))} is not taken: send the body as it is.`,
      { coding: shortened(coding) },
      { "accept-encoding": "identity" },
    );
  }
}

/** Where the parser stopped, as far as its message says: in characters, from 0. */
function positionIn(text: string, message: string): number | undefined {
  const stated = /at position (\d+)/.exec(message)?.[1];
  if (stated !== undefined) return Number(stated);
  if (message.includes("end of JSON input")) return text.length;
  const token = /^Unexpected token '?(.)/su.exec(message)?.[1];
  const at = token === undefined ? -1 : text.indexOf(token);
  // Only if the token is there once: it is where the parser stopped.
  return token !== undefined && at !== -1 && text.indexOf(token, at + 1) === -1 ? at : undefined;
}

/** The media type without its parameters, in lower case; "" if none is stated. */
export function mediaType(request: Request): string {
  const stated = request.headers.get("content-type") ?? "";
  return (stated.split(";", 1)[0] ?? "").trim().toLowerCase();
}

function tooLarge(
  given: string,
  limitBytes: number,
  remedy: string,
  details: Record<string, unknown>,
): ApiError {
  return new ApiError(
    "body_too_large",
    `at most ${limitBytes} bytes of body are read, and this one has ${given}. ${remedy}`,
    { limit_bytes: limitBytes, ...details },
    { connection: "close" },
  );
}

function joined(chunks: readonly Uint8Array[], byteCount: number): Uint8Array {
  const first = chunks[0];
  if (chunks.length === 1 && first !== undefined) return first;
  const whole = new Uint8Array(byteCount);
  let offset = 0;
  for (const chunk of chunks) {
    whole.set(chunk, offset);
    offset += chunk.length;
  }
  return whole;
}
