/** `fenceline create`: a log by preset, by quorum sizes, or as the deployment says. */
import { type Command, Option } from "commander";
import type { CreateLogJson } from "../api/wire.ts";
import { retrying } from "../client/retry.ts";
import { configNumberRows, type WireNumber } from "../protocol/log-config.ts";
import {
  type ClientFlags,
  type CommandContext,
  clientCommand,
  clientOf,
  patienceOf,
} from "./command-context.ts";
import { UsageError } from "./exit-codes.ts";
import { quorumSize, wholeNumber } from "./options.ts";
import { commandWords, note, writeResult } from "./output.ts";

interface CreateFlags {
  readonly preset?: NonNullable<CreateLogJson["preset"]>;
  readonly ensemble?: number;
  readonly writeQuorum?: number;
  readonly ackQuorum?: number;
  readonly minRegions?: number;
  readonly digest?: NonNullable<CreateLogJson["digest"]>;
  readonly prefer?: string;
}

/** The flags of the configuration's numbers, whose names are the table's. */
type NumberFlags = Readonly<Record<string, unknown>>;

export function addCreate(program: Command, context: CommandContext): void {
  const create = clientCommand(
    program,
    "create <log>",
    "Creates a log, or finds it with the same configuration.",
  )
    .addOption(
      new Option("--preset <name>", "quorum sizes by name").choices(["standard", "economy", "resilient"]),
    )
    .option("--ensemble <n>", "bookies that a fragment is striped over", quorumSize)
    .option("--write-quorum <n>", "bookies that each entry goes to", quorumSize)
    .option("--ack-quorum <n>", "bookies that must hold an entry before it is acknowledged", quorumSize)
    .option("--min-regions <n>", "regions that those must span", quorumSize)
    .addOption(new Option("--digest <type>", "how entries are sealed").choices(["crc32", "hmac-sha256"]));
  for (const option of numberOptions()) create.addOption(option);
  create
    .option("--prefer <region>", "the region that should own it")
    .action(async (log: string, flags: ClientFlags & CreateFlags & NumberFlags) => {
      const config = configOf(flags);
      const client = await clientOf(flags, context);
      const made = await retrying(patienceOf(flags, context), client, (bounded) =>
        bounded.createLog(log, config),
      );
      const text = made.created ? `created ${log}` : `${log} was there, with this configuration`;
      for (const warning of made.log.warnings) note(context.streams, `warning: ${commandWords(warning)}`);
      await writeResult(context.streams, flags.output, { created: made.created, ...made.log }, text);
    });
}

function numberOptions(): Option[] {
  return configNumberRows.map(([, { flag, text, min, max, unitsPerFlag }]) => {
    return new Option(flag, text).argParser(wholeNumber(min / unitsPerFlag, max / unitsPerFlag));
  });
}

function numbersOf(flags: NumberFlags): Partial<Record<WireNumber, number>> {
  const given = numberOptions().flatMap((option, index) => {
    const [value, row] = [flags[option.attributeName()], configNumberRows[index]?.[1]];
    return row === undefined || value === undefined
      ? []
      : [[row.wire, Number(value) * row.unitsPerFlag] as const];
  });
  return Object.fromEntries(given);
}

function configOf(flags: CreateFlags & NumberFlags): CreateLogJson {
  refuseSizesBesidePreset(flags);
  const replication = replicationOf(flags);
  return {
    ...(flags.preset === undefined ? {} : { preset: flags.preset }),
    ...(replication === undefined ? {} : { replication }),
    ...(flags.digest === undefined ? {} : { digest: flags.digest }),
    ...numbersOf(flags),
    ...(flags.prefer === undefined ? {} : { preferred_region: flags.prefer }),
  };
}

function refuseSizesBesidePreset({ preset, ...flags }: CreateFlags): void {
  const sizes = sizesIn(flags).filter(([, size]) => size !== undefined);
  if (preset === undefined || sizes.length === 0) return;
  throw new UsageError(
    `--preset ${preset} gives all quorum sizes; leave out ${sizes.map(([name]) => name).join(", ")}, ` +
      "or give all four sizes and no preset",
  );
}

function sizesIn({ ensemble, writeQuorum, ackQuorum, minRegions }: CreateFlags) {
  return [
    ["--ensemble", ensemble],
    ["--write-quorum", writeQuorum],
    ["--ack-quorum", ackQuorum],
    ["--min-regions", minRegions],
  ] as const;
}

/** All four sizes or none: what is left out has no value that would be right for the others. */
function replicationOf(flags: CreateFlags): CreateLogJson["replication"] {
  const { ensemble, writeQuorum, ackQuorum, minRegions } = flags;
  const missing = sizesIn(flags).filter(([, size]) => size === undefined);
  if (
    ensemble !== undefined &&
    writeQuorum !== undefined &&
    ackQuorum !== undefined &&
    minRegions !== undefined
  ) {
    return {
      ensemble_size: ensemble,
      write_quorum: writeQuorum,
      ack_quorum: ackQuorum,
      min_regions: minRegions,
    };
  }
  if (missing.length === 4) return undefined;
  const names = missing.map(([name]) => name).join(", ");
  throw new UsageError(
    `quorum sizes are given all together; ${names} ${missing.length === 1 ? "is" : "are"} missing`,
  );
}
