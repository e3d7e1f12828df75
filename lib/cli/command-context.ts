/** What all commands share: where they write, and the options of those that talk to a region. */
import { type Command, Option } from "commander";
import { LogClient } from "../client/log-client.ts";
import type { Patience } from "../client/retry.ts";
import { ENDPOINT_DEFAULT, endpoint, wholeNumber } from "./options.ts";
import { note, type OutputFormat, type Streams } from "./output.ts";

export interface CommandContext {
  readonly streams: Streams;
  /** Aborted when the person at the terminal interrupts. */
  readonly signal: AbortSignal;
}

export interface ClientFlags {
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
  return parent
    .command(usage)
    .description(description)
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

/** `onTiming`: is told what each read cost. */
export function clientOf(
  flags: ClientFlags,
  { signal }: CommandContext,
  onTiming?: (serverTiming: string) => void,
): LogClient {
  return new LogClient({
    endpoint: flags.endpoint,
    signal,
    ...(onTiming === undefined ? {} : { onTiming }),
  });
}

export function patienceOf(flags: ClientFlags, { streams, signal }: CommandContext): Patience {
  return {
    patienceMs: flags.retryFor * 1_000,
    signal,
    onRetry: (error, pauseMs) => note(streams, `${error.message}; trying again in ${Math.round(pauseMs)} ms`),
  };
}
