/** Runs one command: arguments in, exit code out. */
import { CommanderError } from "commander";
import { type ExitCode, exitCodeOf, exitCodes, RefusedAnswer } from "./exit-codes.ts";
import { toldAsInterruption } from "./interruption.ts";
import { noteError, OutputClosedError, type OutputFormat, type Streams } from "./output.ts";
import { buildProgram } from "./program.ts";
import { remedyOf } from "./silent-endpoint.ts";

/** `args` without node and script. `signal` is aborted to stop the command early, but in good order. */
export async function runCommand(
  args: readonly string[],
  streams: Streams,
  signal: AbortSignal,
): Promise<ExitCode> {
  try {
    await buildProgram({ streams, signal }).parseAsync(args, { from: "user" });
    return exitCodes.ok;
  } catch (failure) {
    const error = toldAsInterruption(failure, signal);
    if (error instanceof OutputClosedError) return exitCodes.ok;
    if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.ok : exitCodes.usage;
    if (!(error instanceof RefusedAnswer)) {
      noteError(streams, outputFormat(args), error, await remedyOf(error));
    }
    return exitCodeOf(error);
  }
}

/** Read by hand, since an error may come before the options are parsed. */
function outputFormat(args: readonly string[]): OutputFormat {
  const at = args.indexOf("--output");
  if (args.includes("--json")) return "json";
  return args.includes("--output=json") || (at !== -1 && args[at + 1] === "json") ? "json" : "text";
}
