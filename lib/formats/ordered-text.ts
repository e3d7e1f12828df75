/**
 * Text for stores that sort strings by their UTF-8 bytes, such as DynamoDB, while the ports sort by code
 * unit. The two orders differ only where surrogates (from U+D800) meet U+E000 to U+FFFF. So each code unit
 * from U+D800 on is stored as the code point 0x800 above it: all of them are valid characters, in the order
 * of the units, lone surrogates included; everything below is stored as it is. Never change this: stored keys
 * are found by it.
 */
import { damaged } from "./format-errors.ts";

const FIRST_SHIFTED = 0xd800;
const SHIFT = 0x800;
const LAST_UNIT = 0xffff;

/** Stored texts compare by UTF-8 bytes as the given ones do by code units. */
export function encodeOrderedText(text: string): string {
  return text.replace(/[\ud800-\uffff]/g, (unit) => String.fromCodePoint(unit.charCodeAt(0) + SHIFT));
}

/** `data_corrupt` for what `encodeOrderedText` never gives. */
export function decodeOrderedText(stored: string): string {
  let text = "";
  for (const character of stored) {
    const code = character.codePointAt(0) ?? 0;
    if (code < FIRST_SHIFTED) text += character;
    else if (code >= FIRST_SHIFTED + SHIFT && code <= LAST_UNIT + SHIFT) {
      text += String.fromCharCode(code - SHIFT);
    } else throw damaged("a stored key", JSON.stringify(stored));
  }
  return text;
}
