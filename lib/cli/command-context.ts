/** What all commands share: where they write, and the options of those that talk to a region. */
import { type Command, Option } from "commander";
import { LogClient } from "../client/log-client.ts";
import type { Patience } from "../client/retry.ts";
import { UsageError } from "./exit-codes.ts";
import { ENDPOINT_DEFAULT, endpoint, logName, wholeNumber } from "./options.ts";
import { note, type OutputFormat, type Streams } from "./output.ts";
import { wayTo } from "./proxied-send.ts";

export interface CommandContext {
  readonly streams: Streams;
  /** Aborted when the person at the terminal interrupts. */
  readonly signal: AbortSignal;
  /** What was said before the command. */
  readonly said?: () => PlaceFlags;
}

/** Where the region to ask is; said before the command or after it. */
export interface PlaceFlags extends DeploymentFlags {
  readonly endpoint?: string;
}

/** Where a deployment on AWS is. */
interface DeploymentFlags {
  readonly outputs?: string;
  readonly region?: string;
  readonly direct?: boolean;
}

export interface ClientFlags extends PlaceFlags {
  readonly output: OutputFormat;
  readonly retryFor: number;
}

const RETRY_SECONDS_DEFAULT = 10;
/** Of commands whose one request may have to wait for silent bookies, entry after entry. */
export const RETRY_SECONDS_LONG = 30;

/** A command that talks to a region. */
export function clientCommand(
  parent: Command,
  usage: string,
  description: string,
  retrySeconds = RETRY_SECONDS_DEFAULT,
): Command {
  const command = placeOptions(parent.command(usage).description(description));
  for (const argument of command.registeredArguments) {
    if (argument.name() === "log") argument.argParser(logName);
  }
  return command
    .option(
      "--retry-for <seconds>",
      "go on trying for so long, and wait no longer for an answer",
      wholeNumber(0, 86_400),
      retrySeconds,
    )
    .addOption(outputOption());
}

export function outputOption(): Option {
  return new Option("--output <format>", "results for people or for programs")
    .choices(["text", "json"])
    .default("text");
}

/** Options that say where the region to ask is. */
export function placeOptions(command: Command): Command {
  return command
    .option("--endpoint <url>", `a region's base URL (default: ${ENDPOINT_DEFAULT})`, endpoint)
    .option("--outputs <file>", "a deployment on AWS, as cdk deploy --outputs-file wrote it")
    .option("--region <name>", "the deployment's region to ask; without it, AWS's usual chain says")
    .option("--direct", "invoke the region's functions, without the gateway in front of them");
}

/** The client of the region that was named. Code for AWS is loaded only if there is a deployment to ask. */
export async function clientOf(flags: ClientFlags, { signal, said }: CommandContext): Promise<LogClient> {
  const { outputs, region, direct, endpoint: url = ENDPOINT_DEFAULT } = { ...said?.(), ...flags };
  if (outputs !== undefined) {
    const { deployedClient } = await import("./deployed-client.ts");
    return await deployedClient({ outputs, region, isDirect: direct === true, signal });
  }
  if (region === undefined && direct !== true) {
    return new LogClient({ endpoint: url, signal, ...wayTo(url) });
  }
  throw needsOutputs(region === undefined ? "--direct" : "--region");
}

export function needsOutputs(given: "--direct" | "--region"): UsageError {
  return new UsageError(`${given} is of a deployment on AWS, which --outputs names`);
}

/**
 * Before any command: what was said in front of it is heeded or refused, and never both a deployment and an
 * endpoint. Throws UsageError.
 */
export function refuseUnheeded(program: Command, command: Command): void {
  const takes = new Set(command.options.map((option) => option.attributeName()));
  for (const { long, attributeName } of placeFlags) {
    if (program.getOptionValue(attributeName) === undefined || takes.has(attributeName)) continue;
    throw new UsageError(`${long} means nothing to ${nameOf(command)}, which asks no region; leave it out`);
  }
  const isGiven = (name: string) => {
    return command.getOptionValue(name) !== undefined || program.getOptionValue(name) !== undefined;
  };
  if (isGiven("outputs") && isGiven("endpoint")) {
    throw new UsageError("--endpoint and --outputs both say where the regions are; leave one out");
  }
}

const placeFlags = [
  { long: "--endpoint", attributeName: "endpoint" },
  { long: "--outputs", attributeName: "outputs" },
  { long: "--region", attributeName: "region" },
  { long: "--direct", attributeName: "direct" },
] as const;

/** "local region", as it was typed. */
function nameOf(command: Command): string {
  const { parent } = command;
  return parent?.parent ? `${nameOf(parent)} ${command.name()}` : command.name();
}

/** The options that say where, as words: "--endpoint", "x". What the environment says stays there. */
export function whereOf(flags: ClientFlags, { said }: CommandContext): readonly string[] {
  const { outputs, region, direct, endpoint: url = ENDPOINT_DEFAULT } = { ...said?.(), ...flags };
  if (outputs === undefined) return url === ENDPOINT_DEFAULT ? [] : ["--endpoint", url];
  const inRegion = region === undefined ? [] : ["--region", region];
  return ["--outputs", outputs, ...inRegion, ...(direct === true ? ["--direct"] : [])];
}

export function patienceOf(flags: ClientFlags, { streams, signal }: CommandContext): Patience {
  const told = new Set<string>();
  const tell = (message: string) => {
    if (!told.has(message)) note(streams, `${message}; trying again for ${flags.retryFor} s at most`);
    told.add(message);
  };
  return { patienceMs: flags.retryFor * 1_000, signal, onRetry: (error) => tell(error.message) };
}
