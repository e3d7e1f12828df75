/** The command: this process's arguments, streams and signals; the exit code. */
import { InterruptedError, type StopSignal, stopSignals } from "../lib/cli/interruption.ts";
import { runCommand } from "../lib/cli/main.ts";
import { standardOutput } from "../lib/cli/output.ts";

const interruption = new AbortController();
for (const signal of Object.keys(stopSignals) as StopSignal[]) {
  // Once: the second one ends the process, whatever it is doing.
  process.once(signal, () => interruption.abort(new InterruptedError(signal)));
}

const { stdin, stderr } = process;
const stdout = standardOutput();
// Output that fails is met where we write; without a listener it would end the process.
stdout.on("error", () => {});
stderr.on("error", () => {});

process.exitCode = await runCommand(process.argv.slice(2), { stdin, stdout, stderr }, interruption.signal);
// Input that nobody reads any more must not keep the process.
stdin.destroy();
