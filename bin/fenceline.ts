/** The command: this process's arguments, streams and signals; the exit code. */
import { runCommand } from "../lib/cli/main.ts";

const interruption = new AbortController();
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.once(signal, () => interruption.abort());
}

// A reader that goes away, as head does, is met where we write; without a listener it would end the process.
process.stdout.on("error", () => {});
process.stderr.on("error", () => {});

const { stdin, stdout, stderr } = process;
process.exitCode = await runCommand(process.argv.slice(2), { stdin, stdout, stderr }, interruption.signal);
// Input that nobody reads any more must not keep the process.
stdin.destroy();
