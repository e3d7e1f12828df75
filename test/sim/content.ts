/** Payloads that carry their own number, so that content is compared by number and damage shows. */
import type { Digest, EntryHeader } from "../../lib/protocol/ports.ts";
import type { LedgerDigest } from "../../lib/protocol/replication.ts";
import type { Content } from "./history.ts";

const MIXED = 0x9e3779b1;

/** Bytes for this number: the number, then `size` bytes made from it. */
export function payloadOf(content: Content, size: number): Uint8Array {
  const bytes = new Uint8Array(6 + size);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, content);
  view.setUint16(4, size);
  for (let index = 0; index < size; index++) bytes[6 + index] = filler(content, index);
  return bytes;
}

/** The number in these bytes; -1 if they are not what `payloadOf` made. */
export function contentOf(bytes: Uint8Array): Content {
  if (bytes.length < 6) return -1;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const content = view.getUint32(0);
  if (view.getUint16(4) !== bytes.length - 6) return -1;
  for (let index = 6; index < bytes.length; index++) {
    if (bytes[index] !== filler(content, index - 6)) return -1;
  }
  return content;
}

const filler = (content: Content, index: number): number => Math.imul(content + index, MIXED) >>> 24;

/**
 * A cheap digest in place of CRC and HMAC: 64 bits of FNV over every header field and the payload. Its
 * strength is not what is simulated; that it is checked is.
 */
export const simulatedDigest: Digest = {
  compute(digest: LedgerDigest, header: EntryHeader, payload: Uint8Array): Uint8Array {
    let low = digest.type === "crc32" ? 0x811c9dc5 : 0x01234567;
    let high = low ^ 0x5bd1e995;
    const mix = (word: number) => {
      low = Math.imul(low ^ word, 0x01000193);
      high = Math.imul(high ^ (word + low), 0x85ebca6b);
    };
    for (const field of [header.ledgerId, header.entryId, header.lastAddConfirmed, header.length]) {
      mix(field | 0);
      mix(Math.floor(field / 4_294_967_296));
    }
    for (let index = 0; index < header.tenure.length; index++) mix(header.tenure.charCodeAt(index));
    for (const byte of payload) mix(byte);
    const bytes = new Uint8Array(8);
    const view = new DataView(bytes.buffer);
    view.setUint32(0, low);
    view.setUint32(4, high);
    return bytes;
  },
};
