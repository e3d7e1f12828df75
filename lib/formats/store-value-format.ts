/**
 * Bytes of what a bookie keeps under one key: format 1 · kind 1 · body.
 *
 *     'I' incarnation   storage identity, UTF-8        'O' original    entry (entry-format.ts)
 *     'F' fence         nothing                        'R' recovered   entry
 *     'T' tombstone     nothing
 *
 * The kinds decide what may be lost (rules 2, 4, 13), so they differ from each other in more than one bit:
 * no single flipped bit turns a Tombstone, an Original or a Recovered copy into another of them.
 */
import type { SealedEntry, StoreValue } from "../protocol/ports.ts";
import { decodeEntry, encodeEntryAfter } from "./entry-format.ts";
import { damaged, unknownFormat } from "./format-errors.ts";
import { readText, textBytes } from "./utf8-text.ts";

const STORE_VALUE_FORMAT = 1;

const kindCodes = {
  incarnation: 0x49,
  fence: 0x46,
  original: 0x4f,
  recovered: 0x52,
  tombstone: 0x54,
} as const satisfies Record<StoreValue["kind"], number>;

const PREFIX_BYTES = 2;

export function encodeStoreValue(value: StoreValue): Uint8Array {
  const prefix = Uint8Array.of(STORE_VALUE_FORMAT, kindCodes[value.kind]);
  switch (value.kind) {
    case "fence":
    case "tombstone":
      return prefix;
    case "original":
    case "recovered":
      return encodeEntryAfter(prefix, value.entry);
    case "incarnation": {
      const text = textBytes(value.storage);
      const bytes = new Uint8Array(PREFIX_BYTES + text.length);
      bytes.set(prefix, 0);
      bytes.set(text, PREFIX_BYTES);
      return bytes;
    }
  }
}

/** Payload and digest of an entry are views of `bytes`. */
export function decodeStoreValue(bytes: Uint8Array): StoreValue {
  const format = bytes[0];
  const kind = bytes[1];
  if (format === undefined || kind === undefined) {
    throw damaged("a stored value", `it has ${bytes.length} bytes`);
  }
  if (format !== STORE_VALUE_FORMAT) throw unknownFormat("a stored value", format, STORE_VALUE_FORMAT);
  switch (kind) {
    case kindCodes.fence:
      return empty({ kind: "fence" }, bytes);
    case kindCodes.tombstone:
      return empty({ kind: "tombstone" }, bytes);
    case kindCodes.original:
      return { kind: "original", entry: storedEntry(bytes) };
    case kindCodes.recovered:
      return { kind: "recovered", entry: storedEntry(bytes) };
    case kindCodes.incarnation:
      return { kind: "incarnation", storage: readText(bytes.subarray(PREFIX_BYTES), "a storage identity") };
    default:
      throw damaged("a stored value", `its kind reads 0x${kind.toString(16)}`);
  }
}

function storedEntry(bytes: Uint8Array): SealedEntry {
  return decodeEntry(bytes, PREFIX_BYTES);
}

function empty(value: StoreValue, bytes: Uint8Array): StoreValue {
  if (bytes.length !== PREFIX_BYTES) {
    throw damaged(`a stored ${value.kind}`, `it has ${bytes.length} bytes instead of ${PREFIX_BYTES}`);
  }
  return value;
}
