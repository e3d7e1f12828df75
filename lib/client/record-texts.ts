/** Record bytes in the wire's two forms. */
import type { WireFormat } from "./http-words.ts";

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** A batch in the form that is shorter in JSON: as text, if all of it is text, or as base 64. */
export function wireTexts(records: readonly Uint8Array[]): { format: WireFormat; texts: string[] } {
  const encodedBytes = records.reduce((sum, { length }) => sum + 4 * Math.ceil(length / 3), 0);
  const textBytes = records.reduce((sum, record) => sum + escapedBytes(record), 0);
  const texts = textBytes <= encodedBytes ? textsOf(records) : undefined;
  return texts === undefined ? { format: "base64", texts: records.map(base64) } : { format: "utf8", texts };
}

/** Undefined: something of it is no text. */
function textsOf(records: readonly Uint8Array[]): string[] | undefined {
  try {
    return records.map((record) => decoder.decode(record));
  } catch {
    return undefined;
  }
}

const [SPACE, QUOTE, BACKSLASH] = [0x20, 0x22, 0x5c];
/** \b, \t, \n, \f, \r; all other controls are \u and four digits. */
const SHORT_ESCAPES = new Set([0x08, 0x09, 0x0a, 0x0c, 0x0d]);

/** What UTF-8 takes between the quotes of a JSON string. */
function escapedBytes(record: Uint8Array): number {
  let bytes = record.length;
  for (const byte of record) {
    if (byte === QUOTE || byte === BACKSLASH) bytes += 1;
    else if (byte < SPACE) bytes += SHORT_ESCAPES.has(byte) ? 1 : 5;
  }
  return bytes;
}

export function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("base64");
}
