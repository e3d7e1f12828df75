/** Values of command-line options, checked before anything is done. */
import { InvalidArgumentError } from "commander";

export const ENDPOINT_DEFAULT = "http://127.0.0.1:4701";
export const DATA_DEFAULT = ".fenceline";

/** A whole number from `min` to `max`. */
export function wholeNumber(min: number, max: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (/^\d{1,16}$/.test(text) && value >= min && value <= max) return value;
    throw new InvalidArgumentError(`It is a whole number from ${min} to ${max}.`);
  };
}

export const seqNum = wholeNumber(0, Number.MAX_SAFE_INTEGER);

export function endpoint(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url !== undefined && ["http:", "https:"].includes(url.protocol)) return text;
  throw new InvalidArgumentError(`It is a region's base URL, such as ${ENDPOINT_DEFAULT}.`);
}
