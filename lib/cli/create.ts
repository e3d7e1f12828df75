/** `fenceline create`: a log by preset, by quorum sizes, or as the deployment says. */
import { type Command, Option } from "commander";
import type { CreateLogJson } from "../api/wire.ts";
import { retrying } from "../client/retry.ts";
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
  readonly segmentBytes?: number;
  readonly segmentAge?: number;
  readonly prefer?: string;
}

export function addCreate(program: Command, context: CommandContext): void {
  clientCommand(program, "create <log>", "Creates a log, or finds it with the same configuration.")
    .addOption(
      new Option("--preset <name>", "quorum sizes by name").choices(["standard", "economy", "resilient"]),
    )
    .option("--ensemble <n>", "bookies that a fragment is striped over", quorumSize)
    .option("--write-quorum <n>", "bookies that each entry goes to", quorumSize)
    .option("--ack-quorum <n>", "bookies that must hold an entry before it is acknowledged", quorumSize)
    .option("--min-regions <n>", "regions that those must span", quorumSize)
    .addOption(new Option("--digest <type>", "how entries are sealed").choices(["crc32", "hmac-sha256"]))
    .option("--segment-bytes <n>", "size at which a segment is rolled", wholeNumber(1_024, 2 ** 40))
    .option("--segment-age <s>", "age in seconds at which it is", wholeNumber(1, 366 * 24 * 60 * 60))
    .option("--prefer <region>", "the region that should own it")
    .action(async (log: string, flags: ClientFlags & CreateFlags) => {
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

function configOf(flags: CreateFlags): CreateLogJson {
  refuseSizesBesidePreset(flags);
  const replication = replicationOf(flags);
  return {
    ...(flags.preset === undefined ? {} : { preset: flags.preset }),
    ...(replication === undefined ? {} : { replication }),
    ...(flags.digest === undefined ? {} : { digest: flags.digest }),
    ...(flags.segmentBytes === undefined ? {} : { segment_bytes_max: flags.segmentBytes }),
    ...(flags.segmentAge === undefined ? {} : { segment_age_max_ms: 1_000 * flags.segmentAge }),
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
