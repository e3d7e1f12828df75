/**
 * Log names: 1 to 512 bytes of UTF-8, any characters but control characters; "/" parts them into segments of
 * which none is "." or "..". Such segments would be folded away by clients and proxies, so that a request
 * would reach another log than the one it names.
 */
import { FencelineError } from "../protocol/errors.ts";
import { limits } from "../protocol/limits.ts";
import { pointerTo } from "./pointers.ts";

/** The same as a pattern, but for its bytes: no control characters, no segment that is "." or "..". */
export const LOG_NAME_PATTERN = "^(?!(?:[^/]*/)*\\.\\.?(?:/|$))[^\\u0000-\\u001f\\u007f-\\u009f]+$";

const REMEDY = "Percent-encode the name as one path segment ('/' is %2F), without '.' or '..' segments.";

/** What is wrong with the name, if anything. */
export function nameFault(name: string): string | undefined {
  const byteCount = new TextEncoder().encode(name).length;
  if (byteCount < 1 || byteCount > limits.logNameBytesMax) {
    return `it has ${byteCount} bytes, and 1 to ${limits.logNameBytesMax} are allowed`;
  }
  if (!name.isWellFormed()) return "it has half of a surrogate pair, and only whole characters are allowed";
  if (/\p{Cc}/u.test(name)) return "it has a control character, and none is allowed";
  if (name.split("/").some(isDotSegment)) return "it has a '.' or '..' segment, and none is allowed";
  return undefined;
}

/**
 * Checks the target as it stood on the request line, before any URL parser folded dot segments, so that
 * `/v1/logs/a/..` is refused and never answered as another route, and before one mended or dropped what is
 * not percent-encoded. Throws `invalid_request`.
 */
export function checkRawTarget(rawTarget: string): void {
  const [path = "", ...query] = rawTarget.split("?");
  if (query.length > 0) checkRawQuery(query.join("?"));
  // The rest of the target would be dropped, or stored as other characters.
  if (/[^\x21-\x7e]|#/.test(rawTarget)) throw invalidName(path, NOT_ENCODED);
  for (const segment of path.split("/")) {
    const decoded = decodedSegment(segment);
    if (decoded === undefined || segment.includes("\\")) {
      throw invalidName(path, NOT_ENCODED);
    }
    if (isDotSegment(decoded)) throw invalidName(path, "the path has a '.' or '..' segment");
  }
}

const NOT_ENCODED = "the path is not percent-encoded UTF-8";

/** Throws `invalid_request` unless each name and value is percent-encoded UTF-8. */
export function checkRawQuery(query: string): void {
  for (const part of query.split(/[&=]/)) {
    if (decodedSegment(part) !== undefined && /^[\x21-\x7e]*$/.test(part)) continue;
    const detail = "is not percent-encoded UTF-8";
    const pointer = pointerTo("query");
    throw new FencelineError("invalid_request", {
      message: `${pointer} ${detail}: ${JSON.stringify(shortened(part))}. Encode each byte as %XX.`,
      details: { errors: [{ pointer, detail }] },
    });
  }
}

const isDotSegment = (segment: string) => segment === "." || segment === "..";

function decodedSegment(segment: string): string | undefined {
  try {
    return decodeURIComponent(segment);
  } catch {
    return undefined;
  }
}

function invalidName(given: string, fault: string): FencelineError {
  const pointer = pointerTo("path", ["log"]);
  return new FencelineError("invalid_request", {
    message: `${JSON.stringify(shortened(given))} is no log name: ${fault}. ${REMEDY}`,
    details: { errors: [{ pointer, detail: fault }] },
  });
}

/** What the caller gave, short enough to repeat. */
export function shortened(text: string): string {
  const LENGTH_MAX = 80;
  return text.length <= LENGTH_MAX ? text : `${beginning(text, LENGTH_MAX)}...`;
}

/** So many UTF-16 units of it, or one less where the last would be half of a character. */
export function beginning(text: string, lengthMax: number): string {
  const cut = text.slice(0, lengthMax);
  return text.length > lengthMax && /[\ud800-\udbff]$/.test(cut) ? cut.slice(0, -1) : cut;
}
