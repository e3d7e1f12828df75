/** Runs one command: arguments in, exit code out. */
import { CommanderError } from "commander";
import { type ExitCode, exitCodeOf, exitCodes, PartlyDoneError, RefusedAnswer } from "./exit-codes.ts";
import { toldAsInterruption } from "./interruption.ts";
import { noteError, OutputClosedError, type OutputFormat, type Streams, writeData } from "./output.ts";
import { buildProgram } from "./program.ts";
import { remedyOf } from "./silent-endpoint.ts";

/** `args` without node and script. `signal` is aborted to stop the command early, but in good order. */
export async function runCommand(
  args: readonly string[],
  streams: Streams,
  signal: AbortSignal,
): Promise<ExitCode> {
  try {
    await parse(args, streams, signal);
    return exitCodes.ok;
  } catch (failure) {
    const isPartlyDone = failure instanceof PartlyDoneError;
    const error = toldAsInterruption(isPartlyDone ? failure.stopped : failure, signal);
    if (error instanceof OutputClosedError) return exitCodes.ok;
    if (error instanceof CommanderError) return exitCodes.usage;
    if (!(error instanceof RefusedAnswer)) {
      noteError(streams, outputFormat(args), error, await remedyOf(error));
    }
    return exitCodeOf(isPartlyDone ? failure : error);
  }
}

/** Does what the arguments say. Help and version are printed here, where the print can fail. */
async function parse(args: readonly string[], streams: Streams, signal: AbortSignal): Promise<void> {
  const help: string[] = [];
  try {
    const program = buildProgram({ streams, signal }, (text) => help.push(text));
    await program.parseAsync(args, { from: "user" });
  } catch (error) {
    if (!(error instanceof CommanderError && error.exitCode === 0)) throw error;
  }
  if (help.length > 0) await writeData(streams, help.join(""));
}

/** Read by hand, since an error may come before the options are parsed. */
function outputFormat(args: readonly string[]): OutputFormat {
  const at = args.indexOf("--output");
  if (args.includes("--json")) return "json";
  return args.includes("--output=json") || (at !== -1 && args[at + 1] === "json") ? "json" : "text";
}
