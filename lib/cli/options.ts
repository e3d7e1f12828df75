/** Values of command-line options, checked before anything is done. */
import { InvalidArgumentError } from "commander";
import { nameFault } from "../api/log-name.ts";
import { endpointFault } from "../client/endpoint.ts";
import { ensembleSizeMax } from "../protocol/placement/admission.ts";
import type { PlannedRegion } from "../protocol/placement/what-if.ts";
import { UsageError } from "./exit-codes.ts";

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

/**
 * A quorum size or a number of regions. One that is out of range is still a number: whether it is legal, and
 * what would be, is for admission to say.
 */
export function quorumSize(text: string): number {
  if (/^-?\d{1,15}$/.test(text)) return Number(text);
  throw new InvalidArgumentError(`It is a whole number from 1 to ${ensembleSizeMax}.`);
}

export const seqNum = wholeNumber(0, Number.MAX_SAFE_INTEGER);

/** A log's name, by the server's own rules. */
export function logName(text: string): string {
  const fault = nameFault(text);
  if (fault === undefined) return text;
  throw new InvalidArgumentError(`The log's name is refused: ${fault}.`);
}

/**
 * A region's base URL. Commander would print what it refuses, and with it a password that stands there, so a
 * URL that may have one is a UsageError of our own.
 */
export function endpoint(text: string): string {
  const fault = endpointFault(text);
  if (fault !== undefined) throw new UsageError(`--endpoint ${fault}`);
  const { origin, pathname } = new URL(text);
  const url = `${origin}${pathname.replace(/\/+$/, "")}`;
  if (!url.endsWith("/v1")) return url;
  throw new InvalidArgumentError(`It is a region's base URL, without /v1: ${url.replace(/\/+v1$/, "")}`);
}

const RACKS_DEFAULT = 2;
const PLANNED_BOOKIES_MAX = 100_000;

/** "us-east-1:20,us-west-2:6/3": regions with their bookies, and their racks. */
export function plannedTopology(text: string): readonly PlannedRegion[] {
  const allowed =
    `it is regions with their bookies, ${PLANNED_BOOKIES_MAX} at most, such as us-east-1:20,us-west-2:20, ` +
    "or with their racks, such as us-east-1:20/3.";
  const regions = text.split(",").map((part) => {
    const [, name, bookies, racks] = /^\s*([^\s:,/]+):(\d{1,6})(?:\/(\d{1,6}))?\s*$/.exec(part) ?? [];
    if (name === undefined || Number(racks ?? RACKS_DEFAULT) < 1)
      throw new InvalidArgumentError(
        `${JSON.stringify(part.trim())} is no region with its bookies; ${allowed}`,
      );
    return { name, bookies: Number(bookies), racks: Number(racks ?? RACKS_DEFAULT) };
  });
  const names = regions.map(({ name }) => name);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) throw new InvalidArgumentError(`It names ${twice} twice; ${allowed}`);
  const bookies = regions.reduce((sum, region) => sum + region.bookies, 0);
  if (bookies <= PLANNED_BOOKIES_MAX) return regions;
  throw new InvalidArgumentError(`It has ${bookies} bookies; ${allowed}`);
}
