/** Record bytes in the wire's two forms. */
import type { WireFormat } from "./http-words.ts";

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** A batch as text if all of it is text, else as base 64. */
export function wireTexts(records: readonly Uint8Array[]): { format: WireFormat; texts: string[] } {
  try {
    return { format: "utf8", texts: records.map((record) => decoder.decode(record)) };
  } catch {
    return { format: "base64", texts: records.map(base64) };
  }
}

export function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("base64");
}
