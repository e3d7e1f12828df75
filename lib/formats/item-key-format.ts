/**
 * An item's key as one ASCII string whose byte order is the port's order: partitions apart, and inside a
 * partition by the code units of the sort key. (UTF-8 bytes would sort characters beyond U+FFFF behind
 * U+E000 to U+FFFF, where code units sort them before, and could not hold a lone surrogate.)
 *
 *     <partition> 00 <sort>      code units 00, 01 -> 01 '0', 01 '1'; 7F and above -> 7F and 4 hex digits
 */
import type { ItemKey } from "../protocol/items.ts";
import { damaged } from "./format-errors.ts";

const SEPARATOR = "\u0000";
const LOW = "\u0001";
const HIGH = "\u007f";
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is escaped
const escapable = /[\u0000\u0001\u007f-\uffff]/g;
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is escaped
const escaped = /\u0001([01])|\u007f([0-9a-f]{4})/g;

export function encodeItemKey(key: ItemKey): string {
  return `${escapeUnits(key.partition)}${SEPARATOR}${escapeUnits(key.sort)}`;
}

export function decodeItemKey(text: string): ItemKey {
  const [partition, sort, ...rest] = text.split(SEPARATOR);
  if (partition === undefined || sort === undefined || rest.length > 0) {
    throw damaged("an item's key", JSON.stringify(text));
  }
  return { partition: restoreUnits(partition), sort: restoreUnits(sort) };
}

/** The keys of a partition lie between these two, which are none of them unless a sort key is empty. */
export function partitionBounds(partition: string): { readonly from: string; readonly before: string } {
  const prefix = escapeUnits(partition);
  return { from: `${prefix}${SEPARATOR}`, before: `${prefix}${LOW}` };
}

function escapeUnits(text: string): string {
  return text.replace(escapable, (unit) => {
    const code = unit.charCodeAt(0);
    return code < 2 ? `${LOW}${code}` : `${HIGH}${code.toString(16).padStart(4, "0")}`;
  });
}

function restoreUnits(text: string): string {
  return text.replace(escaped, (_, low: string | undefined, high: string) =>
    String.fromCharCode(low === undefined ? Number.parseInt(high, 16) : Number(low)),
  );
}
