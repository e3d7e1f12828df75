/**
 * The numbers of a log's configuration, in one table: what is stored, what HTTP takes and answers, what a
 * repeated creation is compared by, and the options of `fenceline create` are all made from it. A new field
 * is a line in `LogConfig` and a row here.
 */
import type { LogConfig } from "./items.ts";
import { limits } from "./limits.ts";

type ConfigNumber = Exclude<keyof LogConfig, "replication" | "digest">;

interface ConfigNumberRow {
  /** As HTTP names it. */
  readonly wire: string;
  /** What HTTP takes; below it the protocol itself takes whole numbers from 1. */
  readonly min: number;
  readonly max: number;
  /** What an absent one means; without it, absent stays absent. */
  readonly default?: number;
  /** Whether every stored configuration has it. */
  readonly isStoredAlways: boolean;
  readonly flag: string;
  /** How many of the number's units are one of the flag's: ms are given in seconds. */
  readonly unitsPerFlag: number;
  readonly text: string;
}

const configNumbers = {
  segmentBytesMax: {
    wire: "segment_bytes_max",
    min: 1_024,
    max: 2 ** 40,
    default: limits.segmentBytesMaxDefault,
    isStoredAlways: true,
    flag: "--segment-bytes <n>",
    unitsPerFlag: 1,
    text: "size at which a segment is rolled",
  },
  segmentAgeMaxMs: {
    wire: "segment_age_max_ms",
    min: 1_000,
    max: 366 * 24 * 60 * 60_000,
    default: limits.segmentAgeMaxMsDefault,
    isStoredAlways: false,
    flag: "--segment-age <s>",
    unitsPerFlag: 1_000,
    text: "age in seconds at which it is",
  },
} as const satisfies Record<ConfigNumber, ConfigNumberRow>;

type Table = typeof configNumbers;

/** Names of the numbers on the wire. */
export type WireNumber = Table[ConfigNumber]["wire"];
/** Names of those that a log always has, since they have a default. */
export type DefaultedWireNumber = Extract<Table[ConfigNumber], { readonly default: number }>["wire"];

export const configNumberRows = Object.entries(configNumbers) as unknown as readonly (readonly [
  name: ConfigNumber,
  row: ConfigNumberRow & { readonly wire: WireNumber },
])[];

/** The numbers that `numberOf` has, by their names in `LogConfig`. */
export function configNumbersFrom(
  numberOf: (name: ConfigNumber, row: ConfigNumberRow & { readonly wire: WireNumber }) => number | undefined,
): Pick<LogConfig, ConfigNumber> {
  const given = configNumberRows.flatMap(([name, row]) => {
    const value = numberOf(name, row);
    return value === undefined ? [] : [[name, value] as const];
  });
  return Object.fromEntries(given) as unknown as Pick<LogConfig, ConfigNumber>;
}

/** The numbers by their names on the wire, an absent one by its default. */
export function wireNumbers(
  config: LogConfig,
): Readonly<Record<DefaultedWireNumber, number>> & Readonly<Partial<Record<WireNumber, number>>> {
  const values = configNumberRows.flatMap(([name, row]) => {
    const value = config[name] ?? row.default;
    return value === undefined ? [] : [[row.wire, value] as const];
  });
  return Object.fromEntries(values) as Record<DefaultedWireNumber, number>;
}
