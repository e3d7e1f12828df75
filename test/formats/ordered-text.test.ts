/** Text whose UTF-8 bytes compare as its code units do. */
import fc from "fast-check";
import { expect, it } from "vitest";
import { decodeOrderedText, encodeOrderedText } from "../../lib/formats/ordered-text.ts";

/** Any code units: lone surrogates too. */
const anyText = fc
  .array(fc.oneof(fc.nat(0xffff), fc.constantFrom(0xd7ff, 0xd800, 0xdbff, 0xdc00, 0xdfff, 0xe000, 0xffff)))
  .map((units) => String.fromCharCode(...units));
const byUnits = (one: string, other: string) => (one === other ? 0 : one < other ? -1 : 1);
const bytes = (text: string) => Buffer.from(encodeOrderedText(text), "utf8");

it("the order of bytes is the order of code units", () => {
  fc.assert(
    fc.property(anyText, anyText, (one, other) => {
      expect(Buffer.compare(bytes(one), bytes(other))).toBe(byUnits(one, other));
    }),
  );
});

it("what is stored is valid text, and comes back as it was", () => {
  fc.assert(
    fc.property(anyText, (text) => {
      const stored = encodeOrderedText(text);
      expect(stored.isWellFormed()).toBe(true);
      expect(decodeOrderedText(bytes(text).toString("utf8"))).toBe(text);
    }),
  );
});

it("names of plain text stay readable, and the longest name fits a sort key of 1,024 bytes", () => {
  expect(encodeOrderedText("orders/\u00e4\u65e5")).toBe("orders/\u00e4\u65e5");
  for (const longest of [
    "a".repeat(512),
    "\u00e4".repeat(256),
    "\uffff".repeat(170),
    "\u{10ffff}".repeat(128),
  ]) {
    expect(Buffer.byteLength(longest)).toBeGreaterThan(509);
    expect(bytes(longest).length).toBeLessThan(1_000);
  }
});

it("what was never stored so is damage", () => {
  for (const foreign of ["\ud800", "\udfff", "\u{10800}", "\u{10ffff}"]) {
    expect(() => decodeOrderedText(foreign)).toThrow("damaged");
  }
});
