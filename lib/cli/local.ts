/** `fenceline local`: the embedded cloud, and its regions up and down. */
import { resolve } from "node:path";
import { type Command, InvalidArgumentError, Option } from "commander";
import { type AllowedOrigins, isOrigin, LOOPBACK_ORIGINS } from "../api/origins.ts";
import { Control } from "../local/control-client.ts";
import type { RegionState } from "../local/control-server.ts";
import { EmbeddedCloud } from "../local/embedded-cloud.ts";
import type { Manner } from "../local/region-switch.ts";
import { type CommandContext, outputOption } from "./command-context.ts";
import { UsageError } from "./exit-codes.ts";
import { DATA_DEFAULT, wholeNumber } from "./options.ts";
import { note, type OutputFormat, type Streams, writeData, writeResult } from "./output.ts";
import { fencelineLine } from "./shell-words.ts";

interface LocalFlags {
  readonly port: number;
  readonly data: string;
  readonly regions?: string;
  readonly delayMs: number;
  readonly wan: boolean;
  readonly cors?: AllowedOrigins;
  readonly trace: "off" | "error" | "warn" | "info" | "debug";
  readonly output: OutputFormat;
}

interface BookieFlags {
  readonly rack?: string;
  readonly data: string;
  readonly output: OutputFormat;
}

interface RegionFlags {
  readonly manner: Manner;
  readonly bookies: number;
  readonly data: string;
  readonly output: OutputFormat;
}

const BOOKIES_DEFAULT = 2;

export function addLocalCommands(program: Command, context: CommandContext): void {
  const local = program
    .command("local")
    .description("Runs the embedded cloud on this machine: every region of it, on the loopback interface.")
    .enablePositionalOptions()
    .option(
      "--port <n>",
      "the first region's port, the others follow; 0 takes free ones",
      wholeNumber(0, 65_000),
      4701,
    )
    .option("--data <dir>", "where everything is kept", DATA_DEFAULT)
    .option("--regions <list>", "how many regions, or their names with commas; 3 if the directory is new")
    .addOption(delayOption())
    .addOption(corsOption())
    .option("--wan", "as far apart as the regions of AWS, with storage as slow as S3", false)
    .addOption(
      new Option("--trace <level>", "what the log tells of itself on standard error")
        .choices(["off", "error", "warn", "info", "debug"])
        .default("error"),
    )
    .addOption(outputOption())
    .argument("[command]", "region or bookie; none runs the cloud")
    .allowExcessArguments()
    .action((word: string | undefined, flags: LocalFlags) => {
      if (word === undefined) return runCloud(flags, context);
      throw new UsageError(
        `local has no command ${word}; it is region or bookie, or nothing to run the cloud`,
      );
    });
  local
    .command("region <name> <state>")
    .description("Takes a region of the running cloud down, brings it up, or adds one: down, up or add.")
    .addOption(mannerOption())
    .option("--bookies <n>", "bookies of a region that is added", wholeNumber(1, 1_000), BOOKIES_DEFAULT)
    .option("--data <dir>", "the directory of the running cloud", DATA_DEFAULT)
    .addOption(outputOption())
    .action((name: string, state: string, flags: RegionFlags) =>
      state === "add"
        ? addRegion(name, flags, context.streams)
        : setRegion(name, state, flags, context.streams),
    );
  const bookie = local.command("bookie").description("Bookies of the running cloud.");
  for (const state of ["down", "up"] as const) {
    bookie
      .command(`${state} <name>`)
      .description(`Takes a bookie, or all of a region, ${state}; the region's functions go on.`)
      .addOption(mannerOption())
      .option("--data <dir>", "the directory of the running cloud", DATA_DEFAULT)
      .addOption(outputOption())
      .action((name: string, flags: RegionFlags) => setBookies(name, state, flags, context.streams));
  }
  bookie
    .command("add <region>")
    .description("Adds a bookie to a region, with storage of its own.")
    .option("--rack <name>", "where it stands; in the rack with fewest if left out")
    .option("--data <dir>", "the directory of the running cloud", DATA_DEFAULT)
    .addOption(outputOption())
    .action((region: string, flags: BookieFlags) => addBookie(region, flags, context.streams));
}

function delayOption(): Option {
  return new Option("--delay-ms <n>", "round trip between two regions; not with --wan")
    .argParser(wholeNumber(0, 60_000))
    .default(0)
    .conflicts("wan");
}

function corsOption(): Option {
  return new Option(
    "--cors [origins]",
    "pages that may use the regions: origins with commas, such as http://localhost:3000; all of this machine " +
      "if none is named",
  )
    .argParser(originsIn)
    .preset(LOOPBACK_ORIGINS);
}

function originsIn(list: string): AllowedOrigins {
  const origins = list.split(",").map((origin) => origin.trim());
  const strange = origins.find((origin) => origin !== LOOPBACK_ORIGINS && !isOrigin(origin));
  if (strange === undefined) return origins;
  throw new InvalidArgumentError(
    `${JSON.stringify(strange)} is no origin, which is a scheme, a host and a port: https://app.example:8443.`,
  );
}

function mannerOption(): Option {
  return new Option("--manner <manner>", "how what is lost looks: connections refused, or silence")
    .choices(["refusing", "hanging"])
    .default("refusing");
}

async function runCloud(flags: LocalFlags, { streams, signal }: CommandContext): Promise<void> {
  const cloud = await EmbeddedCloud.open({
    dataDir: resolve(flags.data),
    port: flags.port,
    delayMs: flags.delayMs,
    wan: flags.wan,
    traceLevel: flags.trace,
    write: (line) => note(streams, line),
    ...(flags.cors === undefined ? {} : { allowedOrigins: flags.cors }),
    ...(flags.regions === undefined ? {} : { regions: flags.regions }),
  });
  try {
    for (const warning of cloud.warnings) note(streams, warning);
    await writeData(streams, flags.output === "json" ? readyJson(cloud) : readyText(cloud, flags.data));
    await aborted(signal);
    note(streams, "stopping");
  } finally {
    await cloud.close();
  }
}

function readyJson(cloud: EmbeddedCloud): string {
  return `${JSON.stringify({ regions: cloud.regions(), control: cloud.controlUrl })}\n`;
}

const HELLO = JSON.stringify({ records: [{ body: "hello, log" }] });

function readyText(cloud: EmbeddedCloud, data: string): string {
  const regions = cloud.regions();
  const [first] = regions;
  const count = regions.length === 1 ? "one region" : `${regions.length} regions`;
  const where = data === DATA_DEFAULT ? [] : ["--data", data];
  const lost = regions.at(1)?.name ?? first?.name ?? "";
  const records = `${first?.url}/v1/logs/hello/records`;
  return [
    `Fenceline runs ${count} on this machine; data in ${data};`,
    `${cloud.presetText}.`,
    "",
    ...regions.map((region) => `  ${region.name.padEnd(16)}${region.url}`),
    "",
    "Try it:",
    `  curl -X PUT ${first?.url}/v1/logs/hello`,
    `  curl ${records} -H 'Content-Type: application/json' -d '${HELLO}'`,
    `  curl ${regions.at(-1)?.url}/v1/logs/hello/records`,
    "",
    `Lose a region: ${fencelineLine({ command: "local region", operands: [lost, "down"], options: where })}`,
    `Control endpoint: ${cloud.controlUrl}`,
    "Stop with Ctrl-C.",
    "",
  ].join("\n");
}

async function setRegion(name: string, state: string, flags: RegionFlags, streams: Streams): Promise<void> {
  if (state !== "up" && state !== "down") {
    throw new UsageError(`a region is taken down, brought up or added: say down, up or add, not ${state}`);
  }
  const control = await Control.open(resolve(flags.data));
  const regions = await control.setRegion(name, state === "down" ? flags.manner : state);
  await writeResult(streams, flags.output, { regions }, regionsText(regions));
}

async function setBookies(
  name: string,
  state: "up" | "down",
  flags: RegionFlags,
  streams: Streams,
): Promise<void> {
  const control = await Control.open(resolve(flags.data));
  const now = state === "down" ? flags.manner : state;
  const bookies = await control.setBookies(name, now);
  await writeResult(streams, flags.output, { bookies, state: now }, `${bookies.join(", ")}: ${now}`);
}

async function addRegion(name: string, flags: RegionFlags, streams: Streams): Promise<void> {
  const control = await Control.open(resolve(flags.data));
  const { added, regions } = await control.addRegion(name, flags.bookies);
  const told = `${name} has ${added.join(", ")}; new ledgers use it within ten seconds`;
  const text = `${regionsText(regions)}\n${told}`;
  await writeResult(streams, flags.output, { added, regions }, text);
}

async function addBookie(region: string, flags: BookieFlags, streams: Streams): Promise<void> {
  const control = await Control.open(resolve(flags.data));
  const { added } = await control.addBookie(region, flags.rack);
  const text = `${region} has ${added.join(", ")}, too; new ledgers use it within ten seconds`;
  await writeResult(streams, flags.output, { added }, text);
}

function regionsText(regions: readonly RegionState[]): string {
  return regions
    .map((region) => `${region.name.padEnd(16)}${region.state.padEnd(10)}${region.url}`)
    .join("\n");
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
