/** Records in the form that makes the shorter request. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { wireTexts } from "../../lib/client/record-texts.ts";

const json = (texts: readonly string[]) => Buffer.byteLength(JSON.stringify(texts));
const base64 = (records: readonly Uint8Array[]) => records.map((one) => Buffer.from(one).toString("base64"));

test.each([
  ["plain text", "hello, log", "utf8"],
  ["letters beyond ASCII", "grüße, 日本 🦀", "utf8"],
  ["nothing", "", "utf8"],
  ["a document", JSON.stringify({ name: "value of some length", other: 12_345 }), "utf8"],
  ["controls", "\x00\x01\x02\x1f".repeat(9), "base64"],
  ["quotes", '"'.repeat(99), "base64"],
  ["backslashes", "\\".repeat(99), "base64"],
  ["tabs", "\t".repeat(99), "base64"],
  ["one tab among letters", "a\tbcdefgh", "utf8"],
  ["DEL, which JSON leaves as it is", "\x7f".repeat(99), "utf8"],
])("%s", (_, text, wanted) => {
  expect(wireTexts([Buffer.from(text)]).format).toBe(wanted);
});

test("a mebibyte of controls is a request of less than two", () => {
  const { format, texts } = wireTexts([Buffer.alloc(1_048_568)]);
  expect(format).toBe("base64");
  expect(json(texts)).toBeLessThan(1_400_000);
});

test("always the shorter one, and always the same bytes", () => {
  const record = fc.oneof(
    fc.string({ unit: "binary" }).map((text) => Buffer.from(text)),
    fc.uint8Array(),
  );
  fc.assert(
    fc.property(fc.array(record, { maxLength: 5 }), (records) => {
      const { format, texts } = wireTexts(records);
      const back = texts.map((text) => Buffer.from(text, format));
      expect(back.map((one) => one.toString("hex"))).toEqual(
        records.map((one) => Buffer.from(one).toString("hex")),
      );
      const asText = records.map((one) => Buffer.from(one).toString("utf8"));
      const isText = records.every(
        (one, index) => Buffer.compare(Buffer.from(asText[index] ?? ""), one) === 0,
      );
      const least = isText ? Math.min(json(asText), json(base64(records))) : json(base64(records));
      expect(json(texts)).toBe(least);
    }),
  );
});
