/**
 * Bounds of JSON text, found before a value is made of it: whatever walks the value later, schemas and
 * recursion included, has little to walk. The same scan finds names that an object has twice, of which a
 * parser keeps the last one without a word.
 *
 * JB1 The scan looks at nesting, commas and names alone. Text that is no JSON may pass; the parser refuses
 *     it.
 */
import { limits } from "../protocol/limits.ts";
import { shortened } from "./log-name.ts";
import { type Fault, pointerTo } from "./pointers.ts";

/** A full batch of records with all their headers has five levels and some fewer brackets and commas. */
const jsonLimits = {
  depthMax: 16,
  /** Opening brackets and commas, which a value has about as many of as it has parts. */
  partsMax: limits.batchRecordsMax * (3 * limits.recordHeadersMax + 8),
  /** Members of one object. */
  membersMax: 64,
} as const;

/** An object or a list that the scan is in. */
interface Frame {
  /** Names of an object so far; absent of a list. */
  readonly names?: Set<string>;
  /** Where the scan is: a name, or an index. */
  step: string | number;
}

const [QUOTE, COMMA, COLON, OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT, BACKSLASH] = [
  0x22, 0x2c, 0x3a, 0x5b, 0x5d, 0x7b, 0x7d, 0x5c,
];

/** What of the bounds the text of a JSON body breaks first, if anything. */
export function boundsFault(text: string): Fault | undefined {
  const frames: Frame[] = [];
  let parts = 0;
  let lastString: readonly [start: number, end: number] = [0, 0];
  const faultAt = (detail: string): Fault => ({ pointer: pointerOf(frames), detail });
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      const end = endOfString(text, at);
      lastString = [at, end];
      at = end - 1;
      continue;
    }
    const frame = frames.at(-1);
    if (code === COLON && frame?.names !== undefined) {
      const name = nameIn(text.slice(...lastString));
      if (name === undefined) return undefined; // JB1
      if (frame.names.has(name)) return faultAt(`has ${JSON.stringify(shortened(name))} twice`);
      frame.step = name;
      frame.names.add(name);
      if (frame.names.size > jsonLimits.membersMax) {
        frames.pop();
        return faultAt(`must be an object of at most ${jsonLimits.membersMax} members, got more`);
      }
    } else if (code === CLOSE_LIST || code === CLOSE_OBJECT) {
      frames.pop();
    } else if (code === COMMA || code === OPEN_LIST || code === OPEN_OBJECT) {
      parts += 1;
      if (parts > jsonLimits.partsMax) {
        frames.length = 0;
        return faultAt(`must have at most ${jsonLimits.partsMax} parts (brackets and commas), got more`);
      }
      if (code !== COMMA) frames.push(code === OPEN_LIST ? { step: 0 } : { names: new Set(), step: "" });
      else if (typeof frame?.step === "number") frame.step += 1;
      if (frames.length > jsonLimits.depthMax) {
        return faultAt(`must be nested at most ${jsonLimits.depthMax} levels deep, got more`);
      }
    }
  }
  return undefined;
}

function pointerOf(frames: readonly Frame[]): string {
  const steps = frames.slice(0, -1).map(({ step }) => (typeof step === "string" ? shortened(step) : step));
  return pointerTo("body", steps);
}

/** The index behind the quote that ends the string; that of the text's end if none does. */
function endOfString(text: string, start: number): number {
  const quote = text.indexOf('"', start + 1);
  // Most strings have no escaped quote, and are found fast.
  if (quote !== -1 && text.charCodeAt(quote - 1) !== BACKSLASH) return quote + 1;
  for (let at = start + 1; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) return at + 1;
    if (code === BACKSLASH) at += 1;
  }
  return text.length;
}

/** A name as it is written, quotes included, without its escapes; undefined if it is no string. */
function nameIn(written: string): string | undefined {
  if (!written.includes("\\")) return written.slice(1, -1);
  try {
    return String(JSON.parse(written));
  } catch {
    return undefined;
  }
}
