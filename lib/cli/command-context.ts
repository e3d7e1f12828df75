/** What all commands share: where they write, and the options of those that talk to a region. */
import { type Command, Option } from "commander";
import { LogClient } from "../client/log-client.ts";
import type { Patience } from "../client/retry.ts";
import { UsageError } from "./exit-codes.ts";
import { ENDPOINT_DEFAULT, endpoint, wholeNumber } from "./options.ts";
import { note, type OutputFormat, type Streams } from "./output.ts";

export interface CommandContext {
  readonly streams: Streams;
  /** Aborted when the person at the terminal interrupts. */
  readonly signal: AbortSignal;
  /** What was said before the command. */
  readonly deployment?: () => DeploymentFlags;
}

/** Where a deployment on AWS is; said before the command or after it. */
export interface DeploymentFlags {
  readonly outputs?: string;
  readonly region?: string;
  readonly direct?: boolean;
}

export interface ClientFlags extends DeploymentFlags {
  readonly endpoint: string;
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
  return deploymentOptions(parent.command(usage).description(description))
    .option("--endpoint <url>", "a region's base URL", endpoint, ENDPOINT_DEFAULT)
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

/** Options that say where a deployment on AWS is. */
export function deploymentOptions(command: Command): Command {
  return command
    .option("--outputs <file>", "a deployment on AWS, as cdk deploy --outputs-file wrote it")
    .option("--region <name>", "the deployment's region to ask; without it, AWS's usual chain says")
    .option("--direct", "invoke the region's functions, without the gateway in front of them");
}

/** The client of the region that was named. Code for AWS is loaded only if there is a deployment to ask. */
export async function clientOf(
  flags: ClientFlags,
  { signal, deployment }: CommandContext,
): Promise<LogClient> {
  const { outputs, region, direct } = { ...deployment?.(), ...flags };
  if (outputs !== undefined) {
    const { deployedClient } = await import("./deployed-client.ts");
    return await deployedClient({ outputs, region, isDirect: direct === true, signal });
  }
  if (region === undefined && direct !== true) return new LogClient({ endpoint: flags.endpoint, signal });
  throw needsOutputs(region === undefined ? "--direct" : "--region");
}

export function needsOutputs(given: "--direct" | "--region"): UsageError {
  return new UsageError(`${given} is of a deployment on AWS, which --outputs names`);
}

export function patienceOf(flags: ClientFlags, { streams, signal }: CommandContext): Patience {
  return {
    patienceMs: flags.retryFor * 1_000,
    signal,
    onRetry: (error, pauseMs) => note(streams, `${error.message}; trying again in ${Math.round(pauseMs)} ms`),
  };
}
