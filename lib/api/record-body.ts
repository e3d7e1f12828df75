/**
 * Record bytes on the JSON wire: as text where they are UTF-8, else as base 64. Both ways are lossless or
 * refused: nothing is mended, replaced or dropped.
 */
import { FencelineError } from "../protocol/errors.ts";
import type { SeqNum } from "../protocol/ids.ts";
import { ApiError } from "./api-error.ts";

export type LogFormat = "utf8" | "base64";

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Bytes of a string that came over the wire. `pointer` names it in the error. */
export function bytesOf(text: string, format: LogFormat, pointer: string): Uint8Array {
  if (format === "utf8") {
    if (text.isWellFormed()) return encoder.encode(text);
    throw badText(pointer, "it has half of a surrogate pair, which has no UTF-8 form");
  }
  const bytes = decodedBase64(text);
  if (bytes === undefined) {
    throw badText(pointer, "it is not base 64 (A-Z a-z 0-9 + / with = padding, its unused bits 0)");
  }
  return bytes;
}

/** The wire's form of bytes that were read; `not_utf8` if the format cannot spell them exactly. */
export function textOf(bytes: Uint8Array, format: LogFormat, of: SeqNum): string {
  if (format === "base64") return encodedBase64(bytes);
  try {
    return decoder.decode(bytes);
  } catch {
    throw new ApiError(
      "not_utf8",
      `record ${of} holds bytes that are not UTF-8, so Log-Format utf8 cannot tell them truly. ` +
        "Read it with the header Log-Format: base64.",
      { seq_num: of },
    );
  }
}

function encodedBase64(bytes: Uint8Array): string {
  const CHUNK_BYTES = 0x8000;
  let binary = "";
  for (let start = 0; start < bytes.length; start += CHUNK_BYTES) {
    binary += String.fromCharCode(...bytes.subarray(start, start + CHUNK_BYTES));
  }
  return btoa(binary);
}

/** Undefined if the text is not the one base 64 of some bytes (RFC 4648, 3.5): padded, its unused bits 0. */
function decodedBase64(text: string): Uint8Array | undefined {
  if (text.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(text)) return undefined;
  const last = text.slice(-4);
  if (btoa(atob(last)) !== last) return undefined;
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let index = 0; index < binary.length; index++) bytes[index] = binary.charCodeAt(index);
  return bytes;
}

function badText(pointer: string, fault: string): FencelineError {
  return new FencelineError("invalid_request", {
    message:
      `${pointer} cannot be stored as given: ${fault}. ` +
      "Send bytes that are not text with Log-Format: base64.",
    details: { errors: [{ pointer, detail: fault }] },
  });
}
