/** Text as UTF-8 bytes, strictly: bytes that are no text are damage, not replacement characters. */
import { damaged } from "./format-errors.ts";

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

export function textBytes(text: string): Uint8Array {
  return encoder.encode(text);
}

/** `what` names the bytes in the error. */
export function readText(bytes: Uint8Array, what: string): string {
  try {
    return decoder.decode(bytes);
  } catch (error) {
    throw damaged(what, "it is not UTF-8", error);
  }
}
