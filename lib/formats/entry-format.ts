/**
 * Bytes of an entry. All numbers are big-endian; nothing may follow the last field.
 *
 *     header   ledger id 8 · entry id 8 · last add confirmed 8 (signed) · length 8 · tenure 2 + UTF-8
 *     entry    format 1 · header · digest 1 + bytes · payload 4 + bytes
 *
 * EF1 The header's bytes are what the digest covers, so they have no version and never change: a digest
 *     computed once holds for ever, in whatever format the entry is stored.
 * EF2 One entry has exactly one encoding (rule 5: a resend is byte-identical).
 */
import { assert } from "../protocol/assert.ts";
import { type EntryId, type LedgerId, NO_ENTRY, tenure } from "../protocol/ids.ts";
import type { EntryHeader, SealedEntry } from "../protocol/ports.ts";
import { damaged, unknownFormat } from "./format-errors.ts";
import { readText, textBytes } from "./utf8-text.ts";

const ENTRY_FORMAT = 1;

const HEADER_FIXED_BYTES = 34;
const TENURE_BYTES_MAX = 0xffff;
const DIGEST_BYTES_MAX = 0xff;
const PAYLOAD_BYTES_MAX = 0xffff_ffff;
const WORD = 2 ** 32;

/** The canonical bytes of a header, which the entry's digest covers together with the payload (EF1). */
export function entryHeaderBytes(header: EntryHeader): Uint8Array {
  const tenureBytes = textBytes(header.tenure);
  const bytes = new Uint8Array(HEADER_FIXED_BYTES + tenureBytes.length);
  writeHeader(header, tenureBytes, bytes, 0);
  return bytes;
}

export function encodeEntry(entry: SealedEntry): Uint8Array {
  return encodeEntryAfter(new Uint8Array(0), entry);
}

/** `prefix` followed by the entry's bytes: one copy of the payload, where more than the entry is stored. */
export function encodeEntryAfter(prefix: Uint8Array, entry: SealedEntry): Uint8Array {
  const { header, digest, payload } = entry;
  assert(digest.length <= DIGEST_BYTES_MAX, `a digest has at most ${DIGEST_BYTES_MAX} bytes`);
  assert(payload.length <= PAYLOAD_BYTES_MAX, `a payload has at most ${PAYLOAD_BYTES_MAX} bytes`);
  const tenureBytes = textBytes(header.tenure);
  const headerEnd = prefix.length + 1 + HEADER_FIXED_BYTES + tenureBytes.length;
  const payloadStart = headerEnd + 1 + digest.length + 4;
  const bytes = new Uint8Array(payloadStart + payload.length);
  bytes.set(prefix, 0);
  bytes[prefix.length] = ENTRY_FORMAT;
  writeHeader(header, tenureBytes, bytes, prefix.length + 1);
  bytes[headerEnd] = digest.length;
  bytes.set(digest, headerEnd + 1);
  new DataView(bytes.buffer).setUint32(payloadStart - 4, payload.length);
  bytes.set(payload, payloadStart);
  return bytes;
}

/** Reads an entry that starts at `offset` and ends with `bytes`. Payload and digest are views of `bytes`. */
export function decodeEntry(bytes: Uint8Array, offset = 0): SealedEntry {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const need = (end: number) => {
    if (end > bytes.length) throw damaged("an entry", `it needs ${end} bytes and has ${bytes.length}`);
  };
  need(offset + 1);
  if (view.getUint8(offset) !== ENTRY_FORMAT) {
    throw unknownFormat("an entry", view.getUint8(offset), ENTRY_FORMAT);
  }
  const headerStart = offset + 1;
  const tenureStart = headerStart + HEADER_FIXED_BYTES;
  need(tenureStart);
  const headerEnd = tenureStart + view.getUint16(tenureStart - 2);
  need(headerEnd + 1);
  const digestStart = headerEnd + 1;
  const digestEnd = digestStart + view.getUint8(headerEnd);
  need(digestEnd + 4);
  const payloadStart = digestEnd + 4;
  const end = payloadStart + view.getUint32(digestEnd);
  if (end !== bytes.length) {
    throw damaged("an entry", `its fields end at byte ${end}, it has ${bytes.length} bytes`);
  }
  return {
    header: readHeader(view, headerStart, plainBytes(bytes, tenureStart, headerEnd)),
    digest: plainBytes(bytes, digestStart, digestEnd),
    payload: plainBytes(bytes, payloadStart, end),
  };
}

function writeHeader(header: EntryHeader, tenureBytes: Uint8Array, bytes: Uint8Array, offset: number): void {
  assert(tenureBytes.length <= TENURE_BYTES_MAX, `a tenure has at most ${TENURE_BYTES_MAX} bytes`);
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  writeInteger(view, offset, header.ledgerId, 0, "ledger id");
  writeInteger(view, offset + 8, header.entryId, 0, "entry id");
  writeInteger(view, offset + 16, header.lastAddConfirmed, NO_ENTRY, "last add confirmed");
  writeInteger(view, offset + 24, header.length, 0, "length");
  view.setUint16(offset + 32, tenureBytes.length);
  bytes.set(tenureBytes, offset + HEADER_FIXED_BYTES);
}

function readHeader(view: DataView, offset: number, tenureBytes: Uint8Array): EntryHeader {
  return {
    ledgerId: readInteger(view, offset, 0, "ledger id") as LedgerId,
    entryId: readInteger(view, offset + 8, 0, "entry id") as EntryId,
    lastAddConfirmed: readInteger(view, offset + 16, NO_ENTRY, "last add confirmed") as EntryId,
    length: readInteger(view, offset + 24, 0, "length"),
    tenure: tenure(readText(tenureBytes, "an entry's tenure")),
  };
}

/** Two's complement in 8 bytes, without bigint: a safe integer's high word is its quotient by 2^32. */
function writeInteger(view: DataView, offset: number, value: number, min: number, what: string): void {
  assert(Number.isSafeInteger(value) && value >= min, `${what} must be an integer >= ${min}, got ${value}`);
  const high = Math.floor(value / WORD);
  view.setInt32(offset, high);
  view.setUint32(offset + 4, value - high * WORD);
}

function readInteger(view: DataView, offset: number, min: number, what: string): number {
  const value = view.getInt32(offset) * WORD + view.getUint32(offset + 4);
  if (!Number.isSafeInteger(value) || value < min) throw damaged("an entry", `its ${what} reads ${value}`);
  return value;
}

/** A view as plain Uint8Array, also of a Buffer, whose own `slice` and `subarray` give Buffers. */
function plainBytes(bytes: Uint8Array, start: number, end: number): Uint8Array {
  return new Uint8Array(bytes.buffer, bytes.byteOffset + start, end - start);
}
