/** Entries and stored values as bytes: there and back, golden bytes, and every damage refused. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decodeEntry, encodeEntry, entryHeaderBytes } from "../../lib/formats/entry-format.ts";
import { decodeStoreValue, encodeStoreValue } from "../../lib/formats/store-value-format.ts";
import { AssertionError } from "../../lib/protocol/assert.ts";
import { FencelineError } from "../../lib/protocol/errors.ts";
import { type EntryId, entryId, ledgerId, tenure } from "../../lib/protocol/ids.ts";
import type { SealedEntry, StoreValue } from "../../lib/protocol/ports.ts";
import { anyEntry, anyStoreValue } from "./arbitraries.ts";

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex");
const unhex = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, "hex"));

const entry: SealedEntry = {
  header: {
    ledgerId: ledgerId(2 ** 53 - 1),
    entryId: entryId(2 ** 32 + 5),
    lastAddConfirmed: entryId(-1),
    length: 3,
    tenure: tenure("té"),
  },
  payload: Uint8Array.of(0, 255, 7),
  digest: Uint8Array.of(0xde, 0xad, 0xbe, 0xef),
};

// Bytes that exist in stores. If a change to the code changes them, the code is wrong.
const goldenHeader = "001fffffffffffff0000000100000005ffffffffffffffff00000000000000030003" + "74c3a9";
const goldenEntry = `01${goldenHeader}04deadbeef0000000300ff07`;
const goldenValues: readonly (readonly [StoreValue, string])[] = [
  [{ kind: "incarnation", storage: "s-é" }, "0149732dc3a9"],
  [{ kind: "fence" }, "0146"],
  [{ kind: "tombstone" }, "0154"],
  [{ kind: "original", entry }, `014f${goldenEntry}`],
  [{ kind: "recovered", entry }, `0152${goldenEntry}`],
];

/** The error of a decoder that refuses, which must be one that a caller can act on. */
function refusal(decode: () => unknown): FencelineError {
  try {
    decode();
  } catch (error) {
    if (error instanceof FencelineError && error.code === "data_corrupt") return error;
    throw error;
  }
  throw new Error("damage was not refused");
}

describe("entry format", () => {
  it("F1: the header's bytes are these, for ever", () => {
    expect(hex(entryHeaderBytes(entry.header))).toBe(goldenHeader);
  });

  it("F2: the entry's bytes are these, for ever, and read back", () => {
    expect(hex(encodeEntry(entry))).toBe(goldenEntry);
    expect(decodeEntry(unhex(goldenEntry))).toEqual(entry);
  });

  it("any entry comes back as it was, from plain bytes and from a Buffer in a pool", () => {
    fc.assert(
      fc.property(anyEntry, (any) => {
        const bytes = encodeEntry(any);
        expect(decodeEntry(bytes)).toEqual(any);
        const decoded = decodeEntry(Buffer.concat([Buffer.of(1, 2, 3), bytes]).subarray(3));
        expect(decoded).toEqual(any);
        expect(Object.getPrototypeOf(decoded.payload)).toBe(Uint8Array.prototype);
      }),
    );
  });

  it("entries that differ have bytes that differ", () => {
    fc.assert(
      fc.property(anyEntry, anyEntry, (one, other) => {
        const same = hex(encodeEntry(one)) === hex(encodeEntry(other));
        expect(same).toBe(JSON.stringify(one) === JSON.stringify(other));
      }),
    );
  });

  it("bytes cut anywhere, or followed by more, are refused", () => {
    const bytes = unhex(goldenEntry);
    for (let length = 0; length < bytes.length; length++) {
      refusal(() => decodeEntry(bytes.subarray(0, length)));
    }
    refusal(() => decodeEntry(unhex(`${goldenEntry}00`)));
  });

  it("numbers beyond 2^53, negative ids and a tenure that is no text are refused", () => {
    const changed = (from: string, to: string) => unhex(goldenEntry.replace(from, to));
    refusal(() => decodeEntry(changed("001fffffffffffff", "0020000000000000")));
    refusal(() => decodeEntry(changed("0000000100000005", "ffffffffffffffff")));
    refusal(() => decodeEntry(changed("ffffffffffffffff", "fffffffffffffffe")));
    refusal(() => decodeEntry(changed("74c3a9", "74c328")));
  });

  it("an unknown format says which one it is, which is known, and what to do; trying again is no use", () => {
    const error = refusal(() => decodeEntry(unhex(goldenEntry.replace(/^01/, "02"))));
    expect(error.message).toMatch(/format 2.*reads format 1.*newer/);
    expect(error.retryable).toBe(false);
  });

  it("what cannot be read back is never written", () => {
    const bad = (header: object) => () =>
      encodeEntry({ ...entry, header: { ...entry.header, ...header } as SealedEntry["header"] });
    for (const header of [
      { entryId: -1 as EntryId },
      { ledgerId: 0.5 },
      { length: 2 ** 53 },
      { lastAddConfirmed: -2 },
      { tenure: "x".repeat(70_000) },
    ]) {
      expect(bad(header)).toThrow(AssertionError);
    }
    expect(() => encodeEntry({ ...entry, digest: new Uint8Array(256) })).toThrow(AssertionError);
  });
});

describe("stored value format", () => {
  it.each(goldenValues)("the bytes of %o are these, for ever, and read back", (value, golden) => {
    expect(hex(encodeStoreValue(value))).toBe(golden);
    expect(decodeStoreValue(unhex(golden))).toEqual(value);
  });

  it("any value comes back as it was", () => {
    fc.assert(
      fc.property(anyStoreValue, (value) => {
        expect(decodeStoreValue(encodeStoreValue(value))).toEqual(value);
      }),
    );
  });

  it("no single flipped bit in format or kind makes one value into another", () => {
    for (const [value, golden] of goldenValues) {
      for (let bit = 0; bit < 16; bit++) {
        const bytes = unhex(golden);
        bytes[bit >> 3] = (bytes[bit >> 3] ?? 0) ^ (1 << (bit & 7));
        expect(refusal(() => decodeStoreValue(bytes)).message, value.kind).toMatch(/damaged|format/);
      }
    }
  });

  it("cut or lengthened bytes, and an unknown format, are refused", () => {
    for (const [value, golden] of goldenValues) {
      if (value.kind !== "incarnation") refusal(() => decodeStoreValue(unhex(`${golden}00`)));
      refusal(() => decodeStoreValue(unhex(golden).subarray(0, 1)));
      const error = refusal(() => decodeStoreValue(unhex(golden.replace(/^01/, "09"))));
      expect(error.message).toMatch(/format 9.*reads format 1/);
    }
    refusal(() => decodeStoreValue(new Uint8Array(0)));
    refusal(() => decodeStoreValue(unhex("0149ff")));
  });
});
